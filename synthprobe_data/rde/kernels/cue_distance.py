"""How far a cue must reach: the longest way from a visible pixel to a cue of its rectangle.

A cue is a box of pixels: the four around a T-junction, or where the visible boxes of two rectangles
intersect.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.rde.config import MAX_RECTANGLES, MAX_SIZE
from synthprobe_data.rde.kernels.cues import Cues
from synthprobe_data.rde.kernels.grid import Grid

_ONE: Final = np.uint64(1)
_MAX_CUES: Final = 9 * MAX_RECTANGLES
"""Of one rectangle: with each other one up to eight T-junctions, and one intersection of boxes."""
_MAX_HALVES: Final = 2 * MAX_SIZE.bit_length()
"""Boxes that wait while one is halved again and again."""


class Search(NamedTuple):
    """Room to work it out for one scene."""

    line: NDArray[np.int64]
    """For each side of each rectangle, the index of its line in the grid; -1 outside of it."""
    box: NDArray[np.int64]
    """The boxes of visible pixels, in cells: x0, y0, x1, y1 of each rectangle."""
    cue: NDArray[np.int64]
    """The boxes of the cues of one rectangle, in pixels."""
    half: NDArray[np.int64]
    """Boxes of pixels that wait to be looked at."""


def empty_search() -> Search:
    """Room for the largest scene."""
    return Search(
        line=np.zeros((4, MAX_RECTANGLES), np.int64),
        box=np.zeros((MAX_RECTANGLES, 4), np.int64),
        cue=np.zeros((_MAX_CUES, 4), np.int64),
        half=np.zeros((_MAX_HALVES, 4), np.int64),
    )


@kernel
def find_cue_distance(
    sides: NDArray[np.int64], n: int, grid: Grid, cues: Cues, search: Search
) -> int:
    """The longest way from a visible pixel to the nearest cue of its rectangle, in pixels.

    The twin is `reference_difficulty.cue_distance`.
    """
    _find_lines(sides, n, grid, search.line)
    _find_boxes(n, grid, search.box)
    farthest = 0
    for k in range(n):
        count = _find_cues_of(k, n, grid, cues, search)
        if count:
            farthest = _search_rectangle(k, grid, search, count, farthest)
    return farthest


@kernel
def find_pair_distances(
    sides: NDArray[np.int64],
    n: int,
    grid: Grid,
    cues: Cues,
    search: Search,
    distance: NDArray[np.uint16],
) -> None:
    """For each pair, the longest way from a visible pixel of the two to a cue between them.

    Row above column; 0 where no cue orders the pair. The twin is
    `reference_difficulty.pair_distance`.
    """
    _find_lines(sides, n, grid, search.line)
    _find_boxes(n, grid, search.box)
    for upper in range(n):
        for lower in range(upper):
            count = _add_cues_of_pair(upper, lower, grid, cues, search, 0)
            if count:
                farthest = _search_rectangle(lower, grid, search, count, 0)
                distance[upper, lower] = _search_rectangle(upper, grid, search, count, farthest)


@kernel
def _find_lines(sides: NDArray[np.int64], n: int, grid: Grid, line: NDArray[np.int64]) -> None:
    """For each side, the index of its line in the grid; -1 if it is not inside the picture."""
    for side in range(4):
        lines = grid.x if side % 2 == 0 else grid.y
        cells = grid.size[side % 2]
        for k in range(n):
            line[side, k] = -1
            for i in range(1, cells):
                if lines[i] == sides[side, k]:
                    line[side, k] = i


@kernel
def _find_boxes(n: int, grid: Grid, box: NDArray[np.int64]) -> None:
    """The smallest boxes around the visible pixels, in cells."""
    columns, rows = grid.size[0], grid.size[1]
    for k in range(n):
        box[k, 0], box[k, 1] = columns, rows
        box[k, 2], box[k, 3] = 0, 0
    for r in range(rows):
        for c in range(columns):
            value = grid.label[r, c]
            if value:
                own = box[value - 1]
                own[0] = min(own[0], c)
                own[1] = min(own[1], r)
                own[2] = max(own[2], c + 1)
                own[3] = max(own[3], r + 1)


@kernel
def _find_cues_of(k: int, n: int, grid: Grid, cues: Cues, search: Search) -> int:
    """Collect the cues that rectangle k takes part in, as boxes; return how many there are."""
    count = 0
    for other in range(n):
        if other != k:  # an earlier one is never above
            count = _add_cues_of_pair(max(k, other), min(k, other), grid, cues, search, count)
    return count


@kernel
def _add_cues_of_pair(
    upper: int, lower: int, grid: Grid, cues: Cues, search: Search, count: int
) -> int:
    """Add the cues by which one rectangle is above another."""
    box, cue = search.box, search.cue
    if cues.t_junction[upper] >> np.uint64(lower) & _ONE:
        count = _add_t_junctions(upper, lower, grid, search.line, cue, count)
    if cues.convexity[upper] >> np.uint64(lower) & _ONE:
        cue[count, 0] = grid.x[max(box[upper, 0], box[lower, 0])]
        cue[count, 1] = grid.y[max(box[upper, 1], box[lower, 1])]
        cue[count, 2] = grid.x[min(box[upper, 2], box[lower, 2])]
        cue[count, 3] = grid.y[min(box[upper, 3], box[lower, 3])]
        count += 1
    return count


@kernel
def _add_t_junctions(
    a: int,
    b: int,
    grid: Grid,
    line: NDArray[np.int64],
    cue: NDArray[np.int64],
    count: int,
) -> int:
    """Add the four pixels around each T-junction with its bar on A and its stem on B."""
    for axis in range(2):  # of the stem's line: 0 for an upright stem
        for stem_side in range(axis, 4, 2):
            for bar_side in range(1 - axis, 4, 2):
                stem, bar = line[stem_side, b], line[bar_side, a]
                if stem < 0 or bar < 0:
                    continue
                c, r = (stem, bar) if axis == 0 else (bar, stem)
                if _is_t_junction(grid, a, b, axis, stem_side >= 2, bar_side >= 2, c, r):
                    cue[count, 0], cue[count, 1] = grid.x[c] - 1, grid.y[r] - 1
                    cue[count, 2], cue[count, 3] = grid.x[c] + 1, grid.y[r] + 1
                    count += 1
    return count


@kernel
def _is_t_junction(
    grid: Grid, a: int, b: int, axis: int, stem_is_far: bool, bar_is_far: bool, c: int, r: int
) -> bool:
    """Whether a side of B ends visibly on a side of A, and goes on beneath it.

    The far side of a rectangle has the rectangle before its line, the near one behind it.
    """
    in_b, in_a = 0 if stem_is_far else 1, 0 if bar_is_far else 1
    if axis == 0:
        cover = grid.cover_x[c - 1 + in_b] & grid.cover_y[r - 1 + in_a]
        inside, beside = grid.label[r - 1 + in_a, c - 1], grid.label[r - 1 + in_a, c]
        own = grid.label[r - in_a, c - 1 + in_b]
        other = grid.label[r - in_a, c - in_b]
    else:
        cover = grid.cover_x[c - 1 + in_a] & grid.cover_y[r - 1 + in_b]
        inside, beside = grid.label[r - 1, c - 1 + in_a], grid.label[r, c - 1 + in_a]
        own = grid.label[r - 1 + in_b, c - in_a]
        other = grid.label[r - in_b, c - in_a]
    goes_on = cover >> np.uint64(b) & _ONE
    return bool(inside == beside == a + 1 and own == b + 1 and other < b + 1 and goes_on)


@kernel
def _search_rectangle(k: int, grid: Grid, search: Search, count: int, farthest: int) -> int:
    """The greater of ``farthest`` and of the longest way from a visible pixel of rectangle k."""
    half, box = search.half, search.box
    for r in range(box[k, 1], box[k, 3]):
        for c in range(box[k, 0], box[k, 2]):
            if grid.label[r, c] == k + 1:
                half[0, 0], half[0, 1] = grid.x[c], grid.y[r]
                half[0, 2], half[0, 3] = grid.x[c + 1], grid.y[r + 1]
                farthest = _search_box(half, search.cue, count, farthest)
    return farthest


@kernel
def _search_box(half: NDArray[np.int64], cue: NDArray[np.int64], count: int, farthest: int) -> int:
    """The greater of ``farthest`` and of the longest way from a pixel of the box ``half[0]``.

    No pixel of a box is farther from its nearest cue than the farthest one is from any single cue.
    Where that leaves hope for a longer way, the box is halved, and each half is looked at.
    """
    waiting = 1
    while waiting:
        waiting -= 1
        x0, y0, x1, y1 = half[waiting, 0], half[waiting, 1], half[waiting, 2], half[waiting, 3]
        hope = MAX_SIZE
        for i in range(count):
            # How far the first and the last column, and row, of the box are from the cue.
            left, right = cue[i, 0] - x0, x1 - cue[i, 2]
            upper, lower = cue[i, 1] - y0, y1 - cue[i, 3]
            hope = min(hope, max(max(left, right), max(upper, lower), 0))
            if hope <= farthest:
                break
        if hope <= farthest:
            continue
        if x1 - x0 == 1 and y1 - y0 == 1:
            farthest = hope
            continue
        for side in range(4):
            half[waiting + 1, side] = half[waiting, side]
        if x1 - x0 >= y1 - y0:
            half[waiting, 2] = half[waiting + 1, 0] = (x0 + x1) // 2
        else:
            half[waiting, 3] = half[waiting + 1, 1] = (y0 + y1) // 2
        waiting += 2
    return farthest
