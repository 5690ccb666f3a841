"""A word before kernels are compiled, which takes long and shows nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from synthprobe_data import kernel_cache


@contextmanager
def compiling_announced(program: str) -> Iterator[None]:
    """Say once, on the error output, that kernels are being compiled, if any are."""

    def announce(line: str) -> None:
        from tqdm import tqdm  # which knows where a bar is being shown

        tqdm.write(f"{program}: {line}.", file=sys.stderr)
        sys.stderr.flush()

    kernel_cache.announce = announce
    try:
        yield
    finally:
        kernel_cache.announce = None
