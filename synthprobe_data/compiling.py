"""A word before kernels are compiled, which takes long and shows nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from numba.core import event

_COMPILE: Final = "numba:compile"
"""What Numba announces when it compiles, and not when it finds a kernel in its cache."""


@contextmanager
def compiling_announced(program: str) -> Iterator[None]:
    """Say once, on the error output, that kernels are being compiled, if any are."""
    listener = _Announcer(program)
    event.register(_COMPILE, listener)  # type: ignore[no-untyped-call, unused-ignore]
    try:
        yield
    finally:
        event.unregister(_COMPILE, listener)  # type: ignore[no-untyped-call, unused-ignore]


class _Announcer(event.Listener):  # type: ignore[misc, unused-ignore]
    def __init__(self, program: str) -> None:
        self._program = program
        self._said = False

    def on_start(self, _event: Any) -> None:
        if self._said:
            return
        self._said = True
        from tqdm import tqdm  # which knows where a bar is being shown

        sentence = f"{self._program}: compiling kernels, once; it takes up to half a minute."
        tqdm.write(sentence, file=sys.stderr)
        sys.stderr.flush()

    def on_end(self, _event: Any) -> None:
        pass
