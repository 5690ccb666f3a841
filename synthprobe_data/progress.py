"""How far a run is: a bar on a terminal, and a line now and then where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Final, Self

from synthprobe_data import voice
from synthprobe_data.text import counted

SECONDS: Final = 5.0
"""Between two lines at least, and before the first."""
SHARE: Final = 0.1
"""Of the work between two lines at least."""


def progress_bar(total: int, wanted: bool, unit: str = "sample") -> Any:
    """What shows how far a run is, if that is wanted: a context with ``update(count)``.

    Parameters
    ----------
    total
        How many there are to do.
    wanted
        Whether to show anything.
    unit
        What they are.
    """
    from tqdm import tqdm

    wanted = wanted and not voice.is_quiet()
    if wanted and not _is_terminal():
        return Lines(total, unit)
    return tqdm(total=total, unit=unit, disable=not wanted)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class Lines:
    """Says now and then, on the error output, how far a run is.

    A log then shows that it goes on; a short run says nothing, unless more is to be said.
    """

    def __init__(
        self, total: int, unit: str = "sample", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total, self._unit, self._clock = total, unit, clock
        self._done = self._said = 0
        self._started = self._last = clock()

    def update(self, count: int = 1) -> None:
        """Go on by so many."""
        self._done += count
        now = self._clock()
        if not voice.is_verbose() and (
            now - self._last < SECONDS or self._done - self._said < SHARE * self._total
        ):
            return
        self._last, self._said = now, self._done
        seconds = now - self._started
        left = seconds * max(0, self._total - self._done) / self._done
        print(
            f"{self._done} of {counted(self._total, self._unit)} "
            f"({100 * self._done // self._total}%), {seconds:.0f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Say no more."""
