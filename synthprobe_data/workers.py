"""Worker processes that end with the run that started them, and leave interrupts to it.

A run that is killed can tell its workers nothing, and they would go on for minutes: write files
that the next run is writing, and keep open what they have inherited, such as a pipe to a program
that waits for its end. Ctrl-C in a terminal reaches them, too: between two tasks they would die of
it with a traceback, though the run ends them anyway.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from synthprobe_data.shards.owner import is_alive

_SECONDS: Final = 0.5
"""Between two looks at the parent."""


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
