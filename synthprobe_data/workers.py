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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import wait
from typing import Any, Final

from synthprobe_data.shards.owner import is_alive

_SECONDS: Final = 0.5
"""Between two looks at the parent, or at the workers."""
_PATIENCE: Final = 5.0
"""Seconds in which joblib must have noticed that a worker has died."""


def run_in_worker(parent: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process that ends as soon as the process ``parent`` is gone."""
    if os.getpid() != parent and os.name == "posix":
        _prepare(parent)
    return function(*arguments)


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
