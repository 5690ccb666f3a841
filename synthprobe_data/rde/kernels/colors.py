"""Drawing the colours of one picture."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.random import draw_64

COLOR_TRIALS: Final = 1000
"""Colours drawn for one palette before it is begun again."""
MAX_PALETTES: Final = 1000
"""Palettes begun for one picture before the settings are given up."""

_BYTE: Final = np.uint64(255)
_8: Final = np.uint64(8)
_16: Final = np.uint64(16)


@kernel
def draw_palette(stream: NDArray[np.uint64], apart: int, palette: NDArray[np.uint8]) -> bool:
    """Draw colours that are all so far apart, and from black (`reference.draw_palette`).

    Each is uniform over all colours that are far enough from those before it. Where early ones
    leave no room for the last, which is rare, all are drawn again. False if there never was room.
    """
    for _ in range(MAX_PALETTES):
        done = 0
        for _ in range(COLOR_TRIALS):
            word = draw_64(stream)
            palette[done, 0] = word & _BYTE
            palette[done, 1] = word >> _8 & _BYTE
            palette[done, 2] = word >> _16 & _BYTE
            done += _is_apart(palette, done, apart)
            if done == len(palette):
                return True
    return False


@kernel
def _is_apart(palette: NDArray[np.uint8], k: int, apart: int) -> bool:
    """Whether colour k is far enough from black and from those before it, in some channel each."""
    # As signed numbers: differences of unsigned ones would wrap around.
    red, green, blue = np.int64(palette[k, 0]), np.int64(palette[k, 1]), np.int64(palette[k, 2])
    if max(red, max(green, blue)) < apart:
        return False
    for j in range(k):
        across = abs(red - np.int64(palette[j, 0]))
        across = max(across, abs(green - np.int64(palette[j, 1])))
        if max(across, abs(blue - np.int64(palette[j, 2]))) < apart:
            return False
    return True
