"""A word before kernels are compiled, which takes long and shows nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from synthprobe_data import kernel_cache
from synthprobe_data.voice import note


@contextmanager
def compiling_announced(program: str) -> Iterator[None]:
    """Say once, on the error output, that kernels are being compiled, if any are."""

    def announce(line: str) -> None:
        note(f"{program}: {line}.")

    kernel_cache.announce = announce
    try:
        yield
    finally:
        kernel_cache.announce = None
