"""From the compressed scene to pixels: label map, rank map and the blurred picture.

All pixel rows between two level lines of the grid are painted alike. So each such *band* is blurred
along its row once, and a pixel row of the picture is a blend of the few bands around it.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel, shared_kernel
from synthprobe_data.rde.kernels.grid import MAX_CELLS, Grid

UNIT: Final = 4096
"""What the weights of the blur sum to on each axis."""

_SHIFT: Final = 24  # UNIT * UNIT is 2**24
_HALF: Final = 1 << (_SHIFT - 1)


def hue_palette(n_colors: int) -> NDArray[np.uint8]:
    """Fully saturated colours at equally spaced hues, red first (`reference.palette`)."""
    colors = np.zeros((n_colors, 3), np.uint8)
    for k in range(n_colors):
        sixth, part = divmod(6 * k, n_colors)
        rising = (2 * 255 * part + n_colors) // (2 * n_colors)
        falling = (2 * 255 * (n_colors - part) + n_colors) // (2 * n_colors)
        colors[k] = (
            (255, rising, 0),
            (falling, 255, 0),
            (0, 255, rising),
            (0, falling, 255),
            (rising, 0, 255),
            (255, 0, falling),
        )[sixth]
    return colors


def blur_weights(blur: float) -> NDArray[np.uint32]:
    """Gaussian weights as whole numbers that sum to `UNIT` (`reference.blur_weights`).

    Rounded so that the sum of the weights beyond any distance is the nearest whole number, half
    up: the blur of an edge is then true to 1 / 8192 of its height. Decimal arithmetic makes them
    the same on every platform.
    """
    radius = int(4 * blur + 0.5)
    with localcontext() as context:
        context.prec = 40
        sigma = Decimal(repr(float(blur)))
        bell = [(-((t / sigma) ** 2) / 2).exp() if t else Decimal(1) for t in range(radius + 1)]
        total = bell[0] + 2 * sum(bell[1:], Decimal(0))
        beyond = [
            int(UNIT * sum(bell[t:], Decimal(0)) / total + Decimal("0.5"))
            for t in range(1, radius + 2)
        ]
    side = [beyond[t] - beyond[t + 1] for t in range(radius)]
    return np.array([*side[::-1], UNIT - 2 * sum(side), *side], np.uint32)


class Canvas(NamedTuple):
    """Room to render in."""

    painted: NDArray[np.uint32]
    """One painted row with its reflected margins."""
    bands: NDArray[np.uint32]
    """Each band, blurred along the row."""
    share: NDArray[np.uint32]
    """The weight of each band in one pixel row."""
    total: NDArray[np.uint32]
    """One pixel row, summed over bands."""
    band_of: NDArray[np.int64]
    """The band of each pixel row."""


def empty_canvas(height: int, width: int, weights: NDArray[np.uint32]) -> Canvas:
    """Room for pictures of this size."""
    return Canvas(
        painted=np.zeros(3 * (width + len(weights) - 1), np.uint32),
        bands=np.zeros((MAX_CELLS, 3 * width), np.uint32),
        share=np.zeros(MAX_CELLS + 1, np.uint32),
        total=np.zeros(3 * width, np.uint32),
        band_of=np.zeros(height, np.int64),
    )


@kernel
def _reflect(i: int, size: int) -> int:
    """The pixel at place i when the picture is reflected at its borders, again and again."""
    i = i % (2 * size)
    return i if i < size else 2 * size - 1 - i


@shared_kernel
def render(
    grid: Grid,
    colors: NDArray[np.uint32],
    ranks: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    canvas: Canvas,
    s: int,
    image: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    label: NDArray[np.uint8],
) -> None:
    """Render the scene as sample s of the block (`reference.render`, `reference.rank_map`).

    ``colors`` and ``ranks`` are by label, the background included. ``image`` has the three channels
    of a row side by side.
    """
    columns, rows = grid.size[0], grid.size[1]
    for r in range(rows):
        top = grid.y[r]
        labels, levels = label[s, top], rank[s, top]
        for c in range(columns):
            value = grid.label[r, c]
            for x in range(grid.x[c], grid.x[c + 1]):
                labels[x] = value
                levels[x] = ranks[value]
        for y in range(top, grid.y[r + 1]):
            canvas.band_of[y] = r
            if y > top:
                _copy(labels, label[s, y])
                _copy(levels, rank[s, y])
        _blur_band(grid, r, colors, weights, canvas)
    _blend_bands(grid.y[rows], weights, canvas, s, image)


@kernel
def _blur_band(
    grid: Grid, r: int, colors: NDArray[np.uint32], weights: NDArray[np.uint32], canvas: Canvas
) -> None:
    """Paint band r and blur it along the row."""
    columns = grid.size[0]
    width = grid.x[columns]
    radius = len(weights) >> 1
    painted, bands = canvas.painted, canvas.bands
    for c in range(columns):
        value = grid.label[r, c]
        red, green, blue = colors[value, 0], colors[value, 1], colors[value, 2]
        for x in range(grid.x[c] + radius, grid.x[c + 1] + radius):
            painted[3 * x], painted[3 * x + 1], painted[3 * x + 2] = red, green, blue
    for i in range(radius):
        for margin, place in ((i, i - radius), (width + radius + i, width + i)):
            source = _reflect(place, width) + radius
            for channel in range(3):
                painted[3 * margin + channel] = painted[3 * source + channel]
    # The kernel is symmetric: one product for the two pixels at the same distance.
    band = bands[r]
    _scale(weights[radius], painted[3 * radius : 3 * (radius + width)], band)
    for t in range(radius):
        left, right = painted[3 * t : 3 * (t + width)], painted[3 * (2 * radius - t) :]
        _add_scaled_sum(weights[t], left, right, band)


@kernel
def _blend_bands(
    height: int,
    weights: NDArray[np.uint32],
    canvas: Canvas,
    s: int,
    image: NDArray[np.uint8],
) -> None:
    """Blur across the rows: sum the bands around each pixel row, by the weight of their rows."""
    radius = len(weights) >> 1
    bands, share, band_of = canvas.bands, canvas.share, canvas.band_of
    for y in range(height):
        row = image[s, y]
        first = last = band_of[y]
        if radius < y < height - radius:
            first, last = band_of[y - radius], band_of[y + radius]
            if band_of[y - radius - 1] == last:
                _copy(image[s, y - 1], row)  # all around is as it was for the row before
                continue
        else:
            for t in range(-radius, radius + 1):
                band = band_of[_reflect(y + t, height)]
                first, last = min(first, band), max(last, band)
        for band in range(first, last + 1):
            share[band] = 0
        for t in range(-radius, radius + 1):
            share[band_of[_reflect(y + t, height)]] += weights[t + radius]
        # Nearly always there are one or two bands.
        total = canvas.total
        _fill(_HALF, total)
        for band in range(first + 2, last + 1):
            _add_scaled(share[band], bands[band], total)
        if first == last:
            share[first + 1] = 0
        second = min(first + 1, last)
        _finish(total, share[first], bands[first], share[first + 1], bands[second], row)


@kernel
def _copy(values: NDArray[np.uint8], goal: NDArray[np.uint8]) -> None:
    for i in range(len(goal)):
        goal[i] = values[i]


@kernel
def _fill(value: int, goal: NDArray[np.uint32]) -> None:
    for i in range(len(goal)):
        goal[i] = value


@kernel
def _scale(weight: int, values: NDArray[np.uint32], goal: NDArray[np.uint32]) -> None:
    for i in range(len(goal)):
        goal[i] = weight * values[i]


@kernel
def _add_scaled(weight: int, values: NDArray[np.uint32], goal: NDArray[np.uint32]) -> None:
    for i in range(len(goal)):
        goal[i] += weight * values[i]


@kernel
def _add_scaled_sum(
    weight: int, a: NDArray[np.uint32], b: NDArray[np.uint32], goal: NDArray[np.uint32]
) -> None:
    for i in range(len(goal)):
        goal[i] += weight * (a[i] + b[i])


@kernel
def _finish(
    total: NDArray[np.uint32],
    weight_a: int,
    a: NDArray[np.uint32],
    weight_b: int,
    b: NDArray[np.uint32],
    goal: NDArray[np.uint8],
) -> None:
    """Add the last two bands and take the upper 8 of 32 bits."""
    for i in range(len(goal)):
        goal[i] = np.uint32(total[i] + weight_a * a[i] + weight_b * b[i]) >> np.uint32(_SHIFT)
