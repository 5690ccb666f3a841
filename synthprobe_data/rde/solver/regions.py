"""From pixels to cells: the few rows and columns of a label map that differ, and what shows there.

Rectangles painted over one another cut a picture into rows of pixels that are all alike between two
lines, and columns likewise, at most ``2 n + 1`` of each. So everything after this step looks at few
*cells*.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.solver.deblur import mirrored

MAX_CELLS: Final = 2 * MAX_RECTANGLES + 1


class Cells(NamedTuple):
    """A label map in as few cells as possible.

    Row of cells ``r`` lies between the lines ``y[r]`` and ``y[r + 1]``, a column likewise.
    """

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    shown: NDArray[np.uint8]
    """What shows in each cell: [row, column]."""


def find_cells(shown: NDArray[np.uint8]) -> Cells:
    """The cells of a map; `SynthprobeError` if there are more than rectangles can make."""
    width = shown.shape[1]
    x, y = np.empty(MAX_CELLS + 1, np.int64), np.empty(MAX_CELLS + 1, np.int64)
    columns, rows = find_lines(shown, x, y, np.empty(width, np.bool_))
    if columns == 0:
        raise SynthprobeError(
            f"this is not an RDE picture: it changes across more lines than the sides of "
            f"{MAX_RECTANGLES} rectangles."
        )
    x, y = x[: columns + 1], y[: rows + 1]
    return Cells(x=x, y=y, shown=np.ascontiguousarray(shown[np.ix_(y[:-1], x[:-1])]))


@kernel
def find_lines(
    shown: NDArray[np.uint8],
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    changes: NDArray[np.bool_],
) -> tuple[int, int]:
    """The lines across which a map changes; return the number of columns and of rows of cells.

    When there are more than ``MAX_CELLS`` of either, the answer is 0, 0. ``changes`` is room for
    one entry per column of pixels (`reference.find_lines`).
    """
    height, width = shown.shape
    changes[:] = False
    rows = columns = 0
    for line in range(height):
        if line == 0 or _differ(shown[line - 1], shown[line]):
            if rows == MAX_CELLS:
                return 0, 0
            y[rows] = line
            rows += 1
            row = shown[line]
            for i in range(1, width):
                changes[i] |= row[i] != row[i - 1]
    y[rows] = height
    for i in range(width):
        if i == 0 or changes[i]:
            if columns == MAX_CELLS:
                return 0, 0
            x[columns] = i
            columns += 1
    x[columns] = width
    return columns, rows


@kernel
def _differ(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> bool:
    found = np.uint8(0)
    for i in range(len(a)):
        found |= a[i] ^ b[i]
    return found != 0


@kernel
def levels_off(
    cells: Cells,
    colors: NDArray[np.uint32],
    weights: NDArray[np.uint32],
    image: NDArray[np.uint8],
    margin: NDArray[np.uint32],
    bands: NDArray[np.uint32],
    band_of: NDArray[np.int64],
    total: NDArray[np.uint32],
) -> int:
    """Render the cells; return how far the bytes are off those of the picture, summed.

    See ``RULES.md``, "Picture", and `reference.render`. The last four are room: a row with
    ``len(weights) - 1`` pixels on either side, a row for each row of cells, a number for each row
    of pixels, and a row.
    """
    height, size = image.shape
    width, reach = size // 3, len(weights) - 1
    row = margin[3 * reach : 3 * reach + size]
    for band in range(len(cells.shown)):
        for column in range(len(cells.x) - 1):
            color = colors[cells.shown[band, column]]
            for i in range(cells.x[column], cells.x[column + 1]):
                for channel in range(3):
                    row[3 * i + channel] = color[channel]
        for i in range(reach):
            left, right = mirrored(i - reach, width), mirrored(width + i, width)
            for channel in range(3):
                margin[3 * i + channel] = row[3 * left + channel]
                margin[3 * (reach + width + i) + channel] = row[3 * right + channel]
        bands[band] = 0
        _add_scaled(weights[0], row, bands[band])
        for t in range(1, reach + 1):
            _add_scaled(weights[t], margin[3 * (reach - t) :], bands[band])
            _add_scaled(weights[t], margin[3 * (reach + t) :], bands[band])
        for i in range(cells.y[band], cells.y[band + 1]):
            band_of[i] = band
    off = 0
    for i in range(height):
        total[:] = 1 << 23
        _add_scaled(weights[0], bands[band_of[i]], total)
        for t in range(1, reach + 1):
            _add_scaled(weights[t], bands[band_of[mirrored(i - t, height)]], total)
            _add_scaled(weights[t], bands[band_of[mirrored(i + t, height)]], total)
        off += _sum_of_differences(total, image[i])
    return off


@kernel
def _add_scaled(weight: int, values: NDArray[np.uint32], goal: NDArray[np.uint32]) -> None:
    for i in range(len(goal)):
        goal[i] += weight * values[i]


@kernel
def _sum_of_differences(total: NDArray[np.uint32], row: NDArray[np.uint8]) -> int:
    off = np.int32(0)
    for i in range(len(row)):
        off += abs(np.int32(total[i] >> np.uint32(24)) - np.int32(row[i]))
    return int(off)


@kernel
def number_regions(
    shown: NDArray[np.uint8], number: NDArray[np.uint8], color: NDArray[np.uint8]
) -> int:
    """Number the regions by their first cell in reading order, in place; return how many there are.

    ``number`` is room for the number of each colour; ``color`` gets the colour of each number.
    """
    number[:] = 0
    n = 0
    rows, columns = shown.shape
    for r in range(rows):
        for c in range(columns):
            old = shown[r, c]
            if old == 0:
                continue
            if number[old] == 0:
                n += 1
                number[old] = n
                color[n - 1] = old
            shown[r, c] = number[old]
    return n


def expand(cells: Cells, value: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The map, pixel by pixel, of a value for each label."""
    return value[cells.shown].repeat(np.diff(cells.y), 0).repeat(np.diff(cells.x), 1)
