"""The two cues, on the compressed scene.

A relation is a row of bit masks: bit j of ``masks[i]`` says that rectangle i is above rectangle j.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel, shared_kernel
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.kernels.grid import MAX_CELLS, Grid

_ONE: Final = np.uint64(1)
_NONE: Final = np.uint64(0)


class Cues(NamedTuple):
    """What a compressed scene tells about each pair of rectangles, and room to work it out."""

    t_junction: NDArray[np.uint64]
    """By a T-junction of the placed rectangles (`reference.above_by_t_junction`)."""
    t_junction_seen: NDArray[np.uint64]
    """By a T-junction of the label map alone (`reference.above_by_t_junction_in_label_map`)."""
    convexity: NDArray[np.uint64]
    """By convexity (`reference.above_by_convexity`)."""
    box_x: NDArray[np.uint64]
    """For each column of cells: whose box of visible pixels reaches over it."""
    box_y: NDArray[np.uint64]
    """For each row of cells: the same."""
    before: NDArray[np.uint64]
    """Room for `_span`."""


def empty_cues() -> Cues:
    """Cues with room for the largest scene."""
    return Cues(
        t_junction=np.zeros(MAX_RECTANGLES, np.uint64),
        t_junction_seen=np.zeros(MAX_RECTANGLES, np.uint64),
        convexity=np.zeros(MAX_RECTANGLES, np.uint64),
        box_x=np.zeros(MAX_CELLS, np.uint64),
        box_y=np.zeros(MAX_CELLS, np.uint64),
        before=np.zeros(MAX_CELLS, np.uint64),
    )


@shared_kernel
def find_cues(grid: Grid, n: int, cues: Cues) -> None:
    """Both cues for every pair of the n rectangles."""
    for k in range(n):
        cues.t_junction[k] = _NONE
        cues.t_junction_seen[k] = _NONE
        cues.convexity[k] = _NONE
    _find_t_junctions(grid, cues)
    _find_boxes(grid, cues)
    _find_convexity(grid, n, cues)


@kernel
def _find_t_junctions(grid: Grid, cues: Cues) -> None:
    """Look at the four cells around every inner point where the sides of two rectangles can meet.

    A T-junction has one label twice on one side of a line, and two others on the other side. Where
    no rectangle that reaches the point has a side on its upright line, or none on its level line,
    the labels do not change across that line, and there is nothing to look at.
    """
    columns, rows = grid.size[0], grid.size[1]
    label, cover_x, cover_y = grid.label, grid.cover_x, grid.cover_y
    t_junction, seen = cues.t_junction, cues.t_junction_seen
    for r in range(1, rows):
        above, below = cover_y[r - 1], cover_y[r]
        level, reach_y = above ^ below, above | below
        for c in range(1, columns):
            before, after = cover_x[c - 1], cover_x[c]
            if not ((before ^ after) & reach_y and (before | after) & level):
                continue
            nw, ne = label[r - 1, c - 1], label[r - 1, c]
            sw, se = label[r, c - 1], label[r, c]
            if (nw == ne) != (sw == se):
                north = nw == ne
                bar = nw if north else se
                under = above if north else below
                left, right = (sw, se) if north else (nw, ne)
                _note_t_junction(t_junction, seen, bar, left, right, before & under, after & under)
            if (nw == sw) != (ne == se):
                west = nw == sw
                bar = nw if west else se
                under = before if west else after
                left, right = (ne, se) if west else (nw, sw)
                _note_t_junction(t_junction, seen, bar, left, right, above & under, below & under)


@kernel
def _note_t_junction(
    t_junction: NDArray[np.uint64],
    seen: NDArray[np.uint64],
    bar: int,
    left: int,
    right: int,
    under_left: int,
    under_right: int,
) -> None:
    """Note a T-junction whose stem runs between the regions ``left`` and ``right``.

    Seen in the label map, the bar is above both. From the rectangles, the stem is a side of the
    later of the two, and counts if that rectangle goes on under the bar, as the cover masks tell.
    """
    if bar != 0 and left != bar and right != bar:
        left_bit = (_ONE << np.uint64(left)) >> _ONE
        right_bit = (_ONE << np.uint64(right)) >> _ONE
        seen[bar - 1] |= left_bit | right_bit
        t_junction[bar - 1] |= left_bit & under_left if left > right else right_bit & under_right


@kernel
def _find_boxes(grid: Grid, cues: Cues) -> None:
    """The boxes of visible pixels, as masks of columns and of rows."""
    columns, rows = grid.size[0], grid.size[1]
    box_x, box_y = cues.box_x, cues.box_y
    for c in range(columns):
        box_x[c] = _NONE
    for r in range(rows):
        seen = _NONE
        for c in range(columns):
            bit = (_ONE << np.uint64(grid.label[r, c])) >> _ONE
            box_x[c] |= bit
            seen |= bit
        box_y[r] = seen
    _span(box_x, columns, cues.before)
    _span(box_y, rows, cues.before)


@kernel
def _span(seen: NDArray[np.uint64], cells: int, before: NDArray[np.uint64]) -> None:
    """Set each rectangle's bit in all cells from the first to the last in which it is seen."""
    mask = _NONE
    for c in range(cells):
        mask |= seen[c]
        before[c] = mask
    mask = _NONE
    for c in range(cells - 1, -1, -1):
        mask |= seen[c]
        seen[c] = mask & before[c]


@kernel
def _find_convexity(grid: Grid, n: int, cues: Cues) -> None:
    """Whoever shows in a cell is above everyone whose box reaches over that cell.

    The cell is in its own box, too, so it lies in the intersection of the two boxes.
    """
    columns, rows = grid.size[0], grid.size[1]
    for r in range(rows):
        for c in range(columns):
            label = grid.label[r, c]
            if label:
                cues.convexity[label - 1] |= cues.box_x[c] & cues.box_y[r]
    for k in range(n):
        cues.convexity[k] &= ~(_ONE << np.uint64(k))
