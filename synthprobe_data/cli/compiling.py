"""A word before kernels are compiled, which takes long and shows nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from synthprobe_data import kernel_cache
from synthprobe_data.voice import note


@contextmanager
def compiling_announced(
    program: str, beside: Callable[[], subprocess.Popen[bytes] | None] | None = None
) -> Iterator[None]:
    """Say once, on the error output, that kernels are being compiled, if any are.

    Parameters
    ----------
    program
        Who says it.
    beside
        Called then: it may start a process that compiles others, which is ended at the end.
    """
    started: list[subprocess.Popen[bytes]] = []

    def announce(line: str) -> None:
        note(f"{program}: {line}.")
        if beside is not None and (process := beside()) is not None:
            started.append(process)

    kernel_cache.announce = announce
    try:
        yield
    finally:
        kernel_cache.announce = None
        for process in started:
            process.terminate()
            process.wait()
