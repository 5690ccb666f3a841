"""Jobs on a Dask cluster, with one sentence for each way in which it can let a run down.

A cluster may have no workers, lose them all, or lose its scheduler, and waits for ever then: it
cannot know whether they come back. A run does not, as what it has made is kept.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import queue
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from synthprobe_data.errors import SynthprobeError

_Made = TypeVar("_Made")

WAIT: Final = 60.0
"""Seconds that a run waits for a worker of the cluster, unless it is told otherwise."""
_CONNECT_SECONDS: Final = 10
_LOOK_SECONDS: Final = 1.0
"""Between two looks at a cluster that is silent."""
_CONTINUES: Final = "--resume continues from here."


def run_on_cluster(
    make: Callable[..., _Made], jobs: Iterator[tuple[Any, ...]], scheduler: str, wait: float
) -> Iterator[_Made]:
    """What ``make`` makes of each job on the workers of a Dask cluster, in any order.

    Parameters
    ----------
    make
        Called with the items of a job, by a worker of the cluster. It may be called again for a job
        whose worker was lost.
    jobs
        The arguments of each call.
    scheduler
        The address of the scheduler.
    wait
        Seconds to wait for a worker, at the start and when all are lost.
    """
    with _connected(scheduler) as client:
        try:
            client.wait_for_workers(1, timeout=wait)
        except TimeoutError as error:
            raise SynthprobeError(
                f"the Dask scheduler at {scheduler} has no worker after {wait:g} s: start some "
                "with `dask worker ADDRESS`, then run again."
            ) from error
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        futures = [client.submit(make, *job, pure=False) for job in jobs]
        for future in futures:
            future.add_done_callback(done.put)
        for _ in futures:
            yield _result(_next(done, client, scheduler, wait), client, scheduler, wait)


class _Watch:
    """Looks at a cluster that is silent; `SynthprobeError` if there is nothing to wait for."""

    def __init__(self, client: Any, scheduler: str, wait: float) -> None:
        self._client, self._scheduler, self._wait = client, scheduler, wait
        self._seen = time.monotonic()
        """When it had a worker, or nobody could tell."""

    def look(self) -> None:
        if self._client.status in ("closing", "closed"):
            raise SynthprobeError(f"the Dask scheduler at {self._scheduler} is gone: {_CONTINUES}")
        now = time.monotonic()
        if self._client.status != "running" or self._client.scheduler_info()["workers"]:
            self._seen = now
        elif now - self._seen > self._wait:
            raise SynthprobeError(
                f"the Dask scheduler at {self._scheduler} has lost all workers, and no other has "
                f"come in {self._wait:g} s: {_CONTINUES}"
            )


def _next(done: queue.SimpleQueue[Any], client: Any, scheduler: str, wait: float) -> Any:
    """The next future that has ended; `SynthprobeError` if none can."""
    watch = _Watch(client, scheduler, wait)
    while True:
        with contextlib.suppress(queue.Empty):
            return done.get(timeout=_LOOK_SECONDS)
        watch.look()


def _result(future: Any, client: Any, scheduler: str, wait: float) -> Any:
    """What a job has made, or one sentence about why it has not."""
    from concurrent.futures import CancelledError

    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

    watch = _Watch(client, scheduler, wait)
    while True:
        try:
            return future.result(timeout=_LOOK_SECONDS)
        except SynthprobeError:
            raise
        except TimeoutError:  # it was lost with its worker, and is made again
            watch.look()
        except CommClosedError:  # the scheduler is gone, or comes back
            time.sleep(_LOOK_SECONDS)
            watch.look()
        except KilledWorker as error:
            raise SynthprobeError(
                "Dask has given up on a shard, as every worker that made it died (killed, or out "
                f"of memory): {_CONTINUES}"
            ) from error
        except CancelledError as error:
            raise SynthprobeError(
                f"the Dask scheduler at {scheduler} is gone, or has forgotten the run: {_CONTINUES}"
            ) from error
        except Exception as error:  # whatever goes wrong on another machine
            raise SynthprobeError(
                f"a worker of the Dask cluster failed ({_in_short(error)}): {_CONTINUES}"
            ) from error


@contextlib.contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise SynthprobeError(
            "--backend dask needs the extra dask: pip install 'synthprobe[dask]'."
        ) from None
    if not scheduler:  # Dask would start a cluster of its own
        raise SynthprobeError(f"no Dask scheduler answers at {scheduler}: the address is empty.")
    with _quiet():
        client: Any = Client.__new__(Client)
        try:
            client.__init__(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # there is no end to what an address can be
            # Half made as it is, it would wait for its own end when Python ends, then complain.
            client.status = "closed"
            raise SynthprobeError(
                f"no Dask scheduler answers at {scheduler}: {_in_short(error)}."
            ) from error
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):  # it may be gone; its word would hide ours
                client.close(timeout=_CONNECT_SECONDS)
            del client
            gc.collect()  # what it still has to complain about


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the log of the client, which has a traceback for every lost connection."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in (*names, "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _in_short(error: BaseException) -> str:
    """What an error says, on one line."""
    said = " ".join(str(error).split()).rstrip(".")
    return said[:300] or type(error).__name__
