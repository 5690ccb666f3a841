"""Undo the blur.

The blur is a convolution with a few whole weights along the rows, then along the columns, of the
picture reflected at its borders. A reflected picture stays a reflected one, so the inverse is a
convolution, too, again along one axis at a time. Its taps fall off by a constant factor from one to
the next, and a few of them do. What the rounding to bytes can do to a deblurred value is bounded by
the sum of the taps' sizes, which makes the answer certain and not just likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel

UNIT: Final = 4096
"""What the weights of the blur sum to on each axis."""

_PERIOD: Final = 1024
_SLACK: Final = 0.25
"""What the taps that are left out may do to a deblurred value, about, in levels."""


@dataclass(frozen=True, kw_only=True)
class Deblurring:
    """A blur and its inverse."""

    blur: float
    weights: NDArray[np.uint32]
    """Of the blur: the centre first, then at distance 1, 2, ...; both sides are alike."""
    taps: NDArray[np.float32]
    """Of the inverse, in the same way."""
    error: float
    """A deblurred value is at most so many levels off, whatever the picture."""


def fixed_point_weights(blur: float) -> NDArray[np.uint32]:
    """The weights of the blur as ``RULES.md`` has them, under "Picture": the centre first."""
    radius = int(4 * blur + 0.5)
    if radius == 0:
        return np.array([UNIT], np.uint32)
    with localcontext(prec=50):
        width = Decimal(repr(float(blur)))
        heights = [(-((Decimal(t) / width) ** 2) / 2).exp() for t in range(radius + 1)]
        scale = UNIT / (2 * sum(heights) - heights[0])
        beyond = [0]  # the sum of the weights at this distance and farther, on one side
        for t in range(radius, 0, -1):
            exact = scale * sum(heights[t:])
            beyond.append(int(exact.to_integral_value(ROUND_HALF_UP)))
    one_side = np.diff(beyond)[::-1]
    return np.array([UNIT - 2 * one_side.sum(), *one_side], np.uint32)


@lru_cache(maxsize=64)
def deblurring(blur: float) -> Deblurring:
    """The inverse of a blur; `SynthprobeError` where it amplifies rounding beyond all colours."""
    weights = fixed_point_weights(blur)
    cycle = np.zeros(_PERIOD)
    for t, weight in enumerate(weights):
        cycle[[t, -t]] = weight / UNIT
    gain = np.fft.rfft(cycle).real  # the weights are symmetric
    # The least gain is a lower bound of 1 / (sum of the taps' sizes), and two values 255 apart
    # must be told from one another on rounding by half a level.
    if gain.min() <= 1 / 255**0.5:
        raise SynthprobeError(
            f"blur is {blur:g}: rounding to bytes then hides what was painted, so that no picture "
            f"can be read with certainty; it must be below about 0.84."
        )
    inverse = np.fft.irfft(1 / gain)[: _PERIOD // 2]
    size = abs(inverse[0]) + 2 * abs(inverse[1:]).sum()
    left_out = 2 * np.cumsum(abs(inverse[::-1]))[::-1]  # from tap t on, both sides
    count = int(np.argmax(2 * 255.5 * (2 * size) * left_out < _SLACK))
    taps = inverse[:count].copy()
    taps[0] = 1 - 2 * taps[1:].sum()  # what is flat stays as it is
    missing, kept = 2 * left_out[count], abs(taps[0]) + 2 * abs(taps[1:]).sum()
    error = 0.5 * size**2 + 255.5 * missing * (size + kept)
    rounding = 1e-6 * 255.5 * kept**2  # of float32
    return Deblurring(
        blur=blur, weights=weights, taps=taps.astype(np.float32), error=float(error + rounding)
    )


@kernel
def mirrored(place: int, size: int) -> int:
    """The pixel at this place of a row that is reflected at both ends, again and again."""
    place %= 2 * size
    return min(place, 2 * size - 1 - place)


@kernel
def deblur(
    image: NDArray[np.float32],
    taps: NDArray[np.float32],
    margin: NDArray[np.float32],
    goal: NDArray[np.float32],
) -> None:
    """Undo the blur of a picture whose rows have the three channels side by side.

    ``margin`` is room for one row with ``len(taps) - 1`` pixels on either side. The twin is
    `reference.deblur`.
    """
    height, size = goal.shape
    width, reach = size // 3, len(taps) - 1
    row = margin[3 * reach : 3 * reach + size]
    for y in range(height):
        _scale(taps[0], image[y], row)
        for t in range(1, reach + 1):
            above, below = image[mirrored(y - t, height)], image[mirrored(y + t, height)]
            _add_scaled_sum(taps[t], above, below, row)
        for i in range(reach):
            left, right = mirrored(i - reach, width), mirrored(width + i, width)
            for channel in range(3):
                margin[3 * i + channel] = row[3 * left + channel]
                margin[3 * (reach + width + i) + channel] = row[3 * right + channel]
        _scale(taps[0], row, goal[y])
        for t in range(1, reach + 1):
            _add_scaled_sum(taps[t], margin[3 * (reach - t) :], margin[3 * (reach + t) :], goal[y])


@kernel
def _scale(factor: float, values: NDArray[np.float32], goal: NDArray[np.float32]) -> None:
    for i in range(len(goal)):
        goal[i] = factor * values[i]


@kernel
def _add_scaled_sum(
    factor: float, a: NDArray[np.float32], b: NDArray[np.float32], goal: NDArray[np.float32]
) -> None:
    for i in range(len(goal)):
        goal[i] += factor * (a[i] + b[i])
