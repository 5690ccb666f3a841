"""The coordinate-compressed scene.

All that the rules, cues and ranks depend on happens between at most ``2 n + 2`` distinct lines per
axis. They cut the picture into cells of one label each. For every column of cells a *cover mask*
says which rectangles reach over it, for every row of cells another; the label of a cell is the
highest bit that both have, because a later rectangle hides an earlier one.

The kernels keep the sides of the rectangles as an array ``sides[4, n]``: x0, y0, x1, y1 of each.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import highest_bit, kernel, shared_kernel
from synthprobe_data.rde.config import MAX_RECTANGLES

MAX_CELLS: Final = 2 * MAX_RECTANGLES + 1

_ONE: Final = np.uint64(1)


class Grid(NamedTuple):
    """A compressed scene.

    Only the first ``size[0]`` columns and ``size[1]`` rows of cells are in use. Column ``i`` lies
    between the lines ``x[i]`` and ``x[i + 1]``.
    """

    size: NDArray[np.int64]
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    cover_x: NDArray[np.uint64]
    cover_y: NDArray[np.uint64]
    label: NDArray[np.uint8]


def empty_grid() -> Grid:
    """A grid with room for the largest scene."""
    return Grid(
        size=np.zeros(2, np.int64),
        x=np.zeros(MAX_CELLS + 1, np.int64),
        y=np.zeros(MAX_CELLS + 1, np.int64),
        cover_x=np.zeros(MAX_CELLS, np.uint64),
        cover_y=np.zeros(MAX_CELLS, np.uint64),
        label=np.zeros((MAX_CELLS, MAX_CELLS), np.uint8),
    )


def empty_sides() -> NDArray[np.int64]:
    """Room for the sides of the largest scene."""
    return np.zeros((4, MAX_RECTANGLES + 1), np.int64)


@shared_kernel
def compress(sides: NDArray[np.int64], n: int, width: int, height: int, grid: Grid) -> None:
    """Compress the first n rectangles (`reference.paint` does the same with pixels)."""
    grid.size[0] = compress_axis(sides, 0, n, width, grid.x, grid.cover_x)
    grid.size[1] = compress_axis(sides, 1, n, height, grid.y, grid.cover_y)
    fill_labels(grid)


@kernel
def compress_axis(
    sides: NDArray[np.int64],
    axis: int,
    n: int,
    size: int,
    lines: NDArray[np.int64],
    cover: NDArray[np.uint64],
) -> int:
    """The lines and cover masks of one axis; return the number of cells."""
    lines[0], lines[1] = 0, size
    cover[0] = 0
    cells = 1
    for k in range(n):
        cells = add_interval(lines, cover, cells, sides[axis, k], sides[axis + 2, k], k)
    return cells


@kernel
def add_interval(
    lines: NDArray[np.int64], cover: NDArray[np.uint64], cells: int, low: int, high: int, k: int
) -> int:
    """Let rectangle k cover the cells from ``low`` to ``high``; return the new number of cells.

    What lies outside the picture is cut off.
    """
    size = lines[cells]
    low, high = min(max(low, 0), size), min(max(high, 0), size)
    cells = _add_line(lines, cover, cells, low)
    cells = _add_line(lines, cover, cells, high)
    bit = _ONE << np.uint64(k)
    for c in range(cells):
        if low <= lines[c] < high:
            cover[c] |= bit
    return cells


@kernel
def _add_line(lines: NDArray[np.int64], cover: NDArray[np.uint64], cells: int, line: int) -> int:
    """Cut a cell in two at this line, unless there is one already; return the number of cells."""
    place = cells
    while lines[place] > line:
        place -= 1
    if lines[place] == line:
        return cells
    for i in range(cells, place, -1):
        lines[i + 1] = lines[i]
        cover[i] = cover[i - 1]
    lines[place + 1] = line
    return cells + 1


@kernel
def fill_labels(grid: Grid) -> None:
    """The label of every cell: the highest rectangle that covers its row and its column."""
    columns, rows = grid.size[0], grid.size[1]
    label, cover_x = grid.label, grid.cover_x
    for r in range(rows):
        row_mask = grid.cover_y[r]
        for c in range(columns):
            label[r, c] = highest_bit(cover_x[c] & row_mask)


@kernel
def copy_axis(
    lines: NDArray[np.int64],
    cover: NDArray[np.uint64],
    cells: int,
    to_lines: NDArray[np.int64],
    to_cover: NDArray[np.uint64],
) -> None:
    """Copy one axis of a grid."""
    for c in range(cells):
        to_lines[c] = lines[c]
        to_cover[c] = cover[c]
    to_lines[cells] = lines[cells]


@kernel
def copy_with(grid: Grid, sides: NDArray[np.int64], n: int, goal: Grid) -> None:
    """Set ``goal`` to the grid with rectangle n on top."""
    columns, rows = grid.size[0], grid.size[1]
    copy_axis(grid.x, grid.cover_x, columns, goal.x, goal.cover_x)
    copy_axis(grid.y, grid.cover_y, rows, goal.y, goal.cover_y)
    goal.size[0] = add_interval(goal.x, goal.cover_x, columns, sides[0, n], sides[2, n], n)
    goal.size[1] = add_interval(goal.y, goal.cover_y, rows, sides[1, n], sides[3, n], n)
    fill_labels(goal)
