"""Whether pictures of some settings can be read from their pixels, which certified ones must be.

The blur along an axis has an inverse, whose taps alternate in sign. So the sum of their sizes is
their sum with every other sign turned, which is what they do to a picture that alternates from
pixel to pixel: one over what the blur leaves of it. That, and how far the colours are apart, is
what decides (`RULES.md`, "Reading a picture"). The solver has its own bound, from the taps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.render import UNIT, blur_weights, hue_palette

_SPARE: Final = 1
"""Levels for what no solver computes exactly: taps that it leaves out, and its own rounding."""
_HUNDREDTHS: Final = 400  # of a pixel, up to the widest blur


@lru_cache(maxsize=1024)
def is_readable(blur: float, n_colors: int) -> bool:
    """Whether no other label map gives the same pixels, at this blur with so many colours."""
    weights = blur_weights(blur).astype(np.int64)
    distance = abs(np.arange(len(weights)) - len(weights) // 2)
    left = int((weights * (-1) ** (distance % 2)).sum())  # of UNIT
    # In whole numbers: (UNIT / left)**2 must be below the distance of the nearest colours.
    return left > 0 and (_nearest_colors(n_colors) - _SPARE) * left**2 > UNIT**2


def check_certifiable(config: RdeConfig) -> None:
    """Raise `SynthprobeError` if the pixels of certified samples would not tell their ranks."""
    if config.mode != "certified" or is_readable(config.blur, config.palette_size):
        return
    limit = most_blur(config.palette_size)
    raise SynthprobeError(
        f"blur is {config.blur:g}: the pixels then do not tell for certain what was painted in "
        f"{config.palette_size} colours, so no sample can be certified; give at most {limit:g}, or "
        "--no-certify (mode 'rules')."
    )


def most_blur(n_colors: int) -> float:
    """The widest blur at which pictures of so many colours can be read, in whole hundredths."""
    return max(k for k in range(_HUNDREDTHS + 1) if is_readable(k / 100, n_colors)) / 100


def _nearest_colors(n_colors: int) -> int:
    """How far the two nearest colours are apart, black among them, where they differ most."""
    colors = np.concatenate([np.zeros((1, 3), np.int64), hue_palette(n_colors).astype(np.int64)])
    return min(int(np.abs(colors[i + 1 :] - colors[i]).max(axis=1).min()) for i in range(n_colors))
