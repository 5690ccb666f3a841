"""Processes that a test starts: as from a terminal, and never alive after the test.

A job in the background (``make test &``, nohup, some CI) ignores Ctrl-C, and so does all that it
starts. A child here gets the signal back, whatever the tests themselves were started by.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Start = Callable[..., "subprocess.Popen[str]"]
"""Starts a command in a process group of its own, with the options of `subprocess.Popen`."""

_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


@contextlib.contextmanager
def started() -> Iterator[Start]:
    """A function that starts children; all of them, and all that they started, end with it."""
    children: list[subprocess.Popen[str]] = []

    def start(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            command,
            start_new_session=True,
            preexec_fn=_as_from_a_terminal if os.name == "posix" else None,
            **{"text": True, **options},
        )
        children.append(child)
        return child

    try:
        yield start
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()


def _as_from_a_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _LIBC is not None:
        # A test that runs out of time ends without any clean-up: then the kernel ends the child.
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
