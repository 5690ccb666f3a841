"""How far apart colours must be, so that a blurred picture can be read (`readable`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from synthprobe_data.rde.config import CANONICAL
from synthprobe_data.rde.kernels.render import UNIT, blur_weights

_SPARE: Final = 1
"""Levels for what no solver computes exactly: taps that it leaves out, and its own rounding."""
_NEVER: Final = 256


@lru_cache(maxsize=1024)
def least_apart(blur: float, known: bool = True) -> int:
    """How far apart colours must be, black among them, where they differ most.

    Parameters
    ----------
    blur
        Standard deviation of the blur, in pixels.
    known
        Whether the colours are known beforehand.

    Returns
    -------
    int
        More than 255, the greatest distance of two colours, where nothing is enough.
    """
    weights = blur_weights(blur).astype(np.int64)
    distance = abs(np.arange(len(weights)) - len(weights) // 2)
    left = int((weights * (-1) ** (distance % 2)).sum())  # of UNIT
    if left <= 0:
        return _NEVER
    # The least whole number above (UNIT / left)**2, or above twice that, and some to spare.
    times = 1 if known else 2
    return min(_NEVER, times * UNIT**2 // left**2 + 1 + times * _SPARE)


def drawn_apart(mode: str, blur: float) -> int:
    """How far apart the colours are that a picture draws for itself.

    Without a certificate it need not be more than at the canonical blur, so that there is room.
    """
    needed = least_apart(blur, known=False)
    return needed if mode == "certified" else min(needed, least_apart(CANONICAL.blur, known=False))
