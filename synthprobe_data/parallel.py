"""Worker processes that end with the run that started them, and a run that ends with them.

A run that is killed can tell its workers nothing, and they would go on for minutes: write files
that the next run is writing, and keep open what they have inherited, such as a pipe to a program
that waits for its end. Ctrl-C in a terminal reaches them, too: between two tasks they would die of
it with a traceback, though the run ends them anyway.

A run notices that a worker has died, but for one that dies while it sends what it has made: of
that, joblib waits for the rest, which never comes, as the pipe is also open elsewhere.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import islice
from multiprocessing.connection import wait
from typing import Any, Final, TypeVar

from synthprobe_data.atomic.owner import is_alive
from synthprobe_data.errors import SynthprobeError

_Made = TypeVar("_Made")

SHORT_RUN_BYTES: Final = 64 * 2**20
"""Below this decoded size one process finishes before a pool could start (about 1 s)."""
_SECONDS: Final = 0.5
"""Between two looks at the parent, or at the workers."""
_PATIENCE: Final = 5.0
"""Seconds in which joblib must have noticed that a worker has died."""


def run_in_worker(
    parent: int, folder: str | None, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Call a function in a process that ends as soon as the process ``parent`` is gone.

    A worker is kept for later calls, before which the parent may have gone to another ``folder``:
    relative paths are meant from there.
    """
    if os.getpid() != parent:
        if folder is not None:
            os.chdir(folder)
        if os.name == "posix":
            _prepare(parent)
    return function(*arguments)


def _here() -> str | None:
    """The current folder; ``None`` if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


@cache  # once in a process
def _prepare(parent: int) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    # A child is told at once by its parent's number, which changes even if nobody has waited for
    # the dead parent yet.
    child = os.getppid() == parent
    while os.getppid() == parent if child else is_alive(parent):
        time.sleep(_SECONDS)
    os._exit(1)  # as if killed, too: what was begun is under a temporary name


@contextmanager
def ended_by_dead_workers(pool: Any) -> Iterator[None]:
    """Let a pool of joblib break when a worker has died, also while it was sending.

    Parameters
    ----------
    pool
        A `joblib.Parallel`, begun and ended inside. One that starts no processes is left alone.
    """
    over = threading.Event()
    threading.Thread(target=_break_when_dead, args=(pool, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _break_when_dead(pool: Any, over: threading.Event) -> None:
    # What joblib does not offer: its processes, and the end of the pipe that it holds itself.
    while not over.wait(_SECONDS):
        executor = getattr(getattr(pool, "_backend", None), "_workers", None)
        workers = list((getattr(executor, "_processes", None) or {}).values())
        if not wait([worker.sentinel for worker in workers], timeout=0):
            continue
        if over.wait(_PATIENCE):
            return
        for worker in workers:
            with suppress(OSError):
                os.kill(worker.pid, signal.SIGKILL)
        # With nobody left who could write, whoever reads is told that nothing more comes.
        results = getattr(executor, "_result_queue", None)
        if results is not None:
            results._writer.close()
        return


MIN_MOST_WORKERS: Final = 32


WORKERS_PER_CORE: Final = 4
"""How many workers may be asked for: so many for each core, or the number above."""


def check_workers(workers: int) -> None:
    """Raise `SynthprobeError` if this is not a number of workers that this machine can bear.

    Each takes some 200 MB; more than a few for each core only wait for one another.
    """
    most = max(MIN_MOST_WORKERS, WORKERS_PER_CORE * cores())
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= most:
        raise SynthprobeError(
            f"workers is {workers!r}: it must be a whole number from 1 to {most} on this machine."
        )


def cores() -> int:
    """The number of cores that this process may use."""
    from joblib import cpu_count  # knows the limits of containers, too

    return int(cpu_count())


def default_workers(decoded_bytes: int) -> int:
    """How many worker processes are worth starting to make, or to check, so much data."""
    return 1 if decoded_bytes <= SHORT_RUN_BYTES else cores()


def run_pool(
    make: Callable[..., _Made],
    jobs: Iterable[tuple[Any, ...]],
    *,
    workers: int,
    ordered: bool = True,
    died: str,
    wave: int | None = None,
) -> Generator[_Made, None, None]:
    """What ``make`` makes of each job, in worker processes that end with this one.

    Parameters
    ----------
    make
        Called with the items of a job.
    jobs
        The arguments of each call.
    workers
        How many processes; with 1, this one alone does it all.
    ordered
        Whether results come in the order of the jobs, or as they are finished.
    died
        What `SynthprobeError` says when a worker process has died.
    wave
        Jobs that are given out before their results must have been taken; bounds the memory.
    """
    if workers == 1:
        for job in jobs:
            yield make(*job)
        return
    from joblib import Parallel, delayed  # here, because one worker does without it

    # When the caller fails, joblib would complain about results that nobody takes any more.
    warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning, module="joblib.parallel")
    call = delayed(partial(run_in_worker, os.getpid(), _here(), make))
    kind = "generator" if ordered else "generator_unordered"
    try:
        pool = Parallel(n_jobs=workers, return_as=kind, batch_size=1)
        with ended_by_dead_workers(pool), pool:
            waiting = iter(jobs)
            while some := list(islice(waiting, wave)):
                yield from pool(call(*job) for job in some)
    except BrokenProcessPool as error:
        raise SynthprobeError(f"a worker process died (killed, or out of memory){died}.") from error
