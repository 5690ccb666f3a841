"""How hard a sample is, in four figures (``RULES.md``, under "Difficulty").

The twin that the kernels must equal is `reference_difficulty.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.bits import kernel
from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import MAX_RECTANGLES, MAX_SIZE
from synthprobe_data.rde.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.grid import MAX_CELLS, Grid, compress, empty_grid, empty_sides
from synthprobe_data.rde.ranks import find_ranks
from synthprobe_data.rde.scene import Scene

COLUMNS: Final = ("convexity_only", "cue_distance", "depth", "pieces")
"""The names under which the four are stored."""

_ONE: Final = np.uint64(1)
_MAX_CUES: Final = 9 * MAX_RECTANGLES
"""Of one rectangle: with each other one up to eight T-junctions, and one intersection of boxes."""
_MAX_HALVES: Final = 2 * MAX_SIZE.bit_length()
"""Boxes that wait while one is halved again and again."""


@dataclass(frozen=True, kw_only=True)
class Difficulty:
    """How hard a sample is."""

    convexity_only: int
    """Pairs of rectangles that are ordered by convexity and by no T-junction."""
    cue_distance: int
    """Pixels between a visible pixel and the nearest cue of its rectangle, at most."""
    depth: int
    """The depth of the order: the highest rank."""
    pieces: NDArray[np.uint16]
    """For each rectangle, the pieces in which it shows."""


def read_difficulty(scene: Scene) -> Difficulty:
    """How hard a scene is."""
    height, width = scene.label.shape
    boxes = scene.rectangles[None].astype(np.int64)
    block = difficulty_block(boxes, np.array([len(scene.rectangles)]), height=height, width=width)
    return difficulty_of_row(block, 0)


def difficulty_of_row(block: Block, row: int) -> Difficulty:
    """One row of a block that has the four datasets."""
    return Difficulty(
        convexity_only=int(block["convexity_only"][row]),
        cue_distance=int(block["cue_distance"][row]),
        depth=int(block["depth"][row]),
        pieces=block["pieces"][row],
    )


def empty_difficulty(count: int, most: int) -> Block:
    """Arrays for this many samples of at most so many rectangles."""
    return {
        "convexity_only": np.zeros(count, np.uint16),
        "cue_distance": np.zeros(count, np.uint16),
        "depth": np.zeros(count, np.uint8),
        "pieces": np.zeros((count, most), np.uint16),
    }


def difficulty_block(
    rectangles: NDArray[np.integer], n_rectangles: NDArray[np.integer], *, height: int, width: int
) -> Block:
    """The difficulty of many samples, from their rectangles alone.

    Parameters
    ----------
    rectangles
        x0, y0, x1, y1 of each, in placement order: (samples, most, 4); those beyond the number of a
        sample are not looked at.
    n_rectangles
        How many there are in each sample.
    height, width
        Size of the picture.

    Returns
    -------
    dict
        The arrays by the names in `COLUMNS`.
    """
    most = rectangles.shape[1]
    used = np.arange(most) < n_rectangles[:, None]
    empty = (rectangles[..., :2] >= rectangles[..., 2:]).any(axis=2)
    wrong = (n_rectangles > min(most, MAX_RECTANGLES)) | (used & empty).any(axis=1)
    if wrong.any():
        raise SynthprobeError(
            f"sample {int(np.argmax(wrong))} of the block is not a scene: a rectangle has x0 < x1 "
            f"and y0 < y1, and there are at most {min(most, MAX_RECTANGLES)} of them."
        )
    block = empty_difficulty(len(rectangles), most)
    _fill_difficulty(
        np.ascontiguousarray(rectangles, np.int64),
        n_rectangles.astype(np.int64),
        height,
        width,
        empty_sides(),
        empty_grid(),
        empty_cues(),
        np.zeros(MAX_RECTANGLES, np.uint8),
        empty_search(),
        block["convexity_only"],
        block["cue_distance"],
        block["depth"],
        block["pieces"],
    )
    return block


class Search(NamedTuple):
    """Room to work out the difficulty of a scene."""

    piece: NDArray[np.int64]
    """For each cell, a cell of the same piece before it, or the cell itself."""
    line: NDArray[np.int64]
    """For each side of each rectangle, the place of its line in the grid; -1 outside of it."""
    box: NDArray[np.int64]
    """The boxes of visible pixels, in cells: x0, y0, x1, y1 of each rectangle."""
    cue: NDArray[np.int64]
    """The boxes of the cues of one rectangle, in pixels."""
    half: NDArray[np.int64]
    """Boxes of pixels that wait to be looked at."""


def empty_search() -> Search:
    """Room for the largest scene."""
    return Search(
        piece=np.zeros(MAX_CELLS * MAX_CELLS, np.int64),
        line=np.zeros((4, MAX_RECTANGLES), np.int64),
        box=np.zeros((MAX_RECTANGLES, 4), np.int64),
        cue=np.zeros((_MAX_CUES, 4), np.int64),
        half=np.zeros((_MAX_HALVES, 4), np.int64),
    )


@kernel
def _fill_difficulty(
    rectangles: NDArray[np.int64],
    n_rectangles: NDArray[np.int64],
    height: int,
    width: int,
    sides: NDArray[np.int64],
    grid: Grid,
    cues: Cues,
    rank: NDArray[np.uint8],
    search: Search,
    convexity_only: NDArray[np.uint16],
    cue_distance: NDArray[np.uint16],
    depth: NDArray[np.uint8],
    pieces: NDArray[np.uint16],
) -> None:
    """Fill the rows of a block."""
    for s in range(len(depth)):
        n = n_rectangles[s]
        for i in range(n):
            for side in range(4):
                sides[side, i] = rectangles[s, i, side]
        compress(sides, n, width, height, grid)
        find_cues(grid, n, cues)
        find_ranks(cues.t_junction, cues.convexity, n, rank)
        depth[s] = highest_rank(rank, n)
        convexity_only[s] = count_convexity_only(cues, n)
        cue_distance[s] = find_cue_distance(sides, n, grid, cues, search)
        count_pieces(grid, search.piece, pieces[s])


@kernel
def highest_rank(rank: NDArray[np.uint8], n: int) -> int:
    """The depth of the order (`reference_difficulty.depth`)."""
    highest = 0
    for k in range(n):
        highest = max(highest, rank[k])
    return highest


@kernel
def count_convexity_only(cues: Cues, n: int) -> int:
    """Pairs that only convexity orders (`reference_difficulty.convexity_only`)."""
    count = 0
    for k in range(n):
        mask = cues.convexity[k] & ~cues.t_junction[k]
        while mask:
            mask &= mask - _ONE
            count += 1
    return count


@kernel
def count_pieces(grid: Grid, piece: NDArray[np.int64], pieces: NDArray[np.uint16]) -> None:
    """The pieces in which each rectangle shows (`reference_difficulty.pieces`).

    A cell starts a piece of its own, and joins those of its left and upper neighbours if they have
    its label.
    """
    columns, rows = grid.size[0], grid.size[1]
    label = grid.label
    for k in range(len(pieces)):
        pieces[k] = 0
    for r in range(rows):
        for c in range(columns):
            value = label[r, c]
            if value == 0:
                continue
            cell = r * columns + c
            piece[cell] = cell
            joined = 0
            if c > 0 and label[r, c - 1] == value:
                joined += _join(piece, cell - 1, cell)
            if r > 0 and label[r - 1, c] == value:
                joined += _join(piece, cell - columns, cell)
            if joined == 0:
                pieces[value - 1] += 1
            elif joined == 2:
                pieces[value - 1] -= 1


@kernel
def _join(piece: NDArray[np.int64], a: int, b: int) -> int:
    """Make one piece of two; 0 if they were one already."""
    while piece[a] != a:
        piece[a] = piece[piece[a]]  # so that the next way is half as long
        a = piece[a]
    while piece[b] != b:
        piece[b] = piece[piece[b]]
        b = piece[b]
    if a == b:
        return 0
    piece[max(a, b)] = min(a, b)
    return 1


@kernel
def find_cue_distance(
    sides: NDArray[np.int64], n: int, grid: Grid, cues: Cues, search: Search
) -> int:
    """The longest way from a visible pixel to the nearest cue of its rectangle, in pixels.

    The twin is `reference_difficulty.cue_distance`.
    """
    _find_lines(sides, n, grid, search.line)
    _find_boxes(n, grid, search.box)
    half, box = search.half, search.box
    farthest = 0
    for k in range(n):
        count = _find_cues_of(k, n, grid, cues, search)
        if count == 0:
            continue
        for r in range(box[k, 1], box[k, 3]):
            for c in range(box[k, 0], box[k, 2]):
                if grid.label[r, c] == k + 1:
                    half[0, 0], half[0, 1] = grid.x[c], grid.y[r]
                    half[0, 2], half[0, 3] = grid.x[c + 1], grid.y[r + 1]
                    farthest = _search_box(half, search.cue, count, farthest)
    return farthest


@kernel
def _find_lines(sides: NDArray[np.int64], n: int, grid: Grid, line: NDArray[np.int64]) -> None:
    """For each side, the place of its line in the grid; -1 if it is not inside the picture."""
    for side in range(4):
        lines = grid.x if side % 2 == 0 else grid.y
        cells = grid.size[side % 2]
        for k in range(n):
            line[side, k] = -1
            for place in range(1, cells):
                if lines[place] == sides[side, k]:
                    line[side, k] = place


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
    box, cue = search.box, search.cue
    for other in range(n):
        upper, lower = max(k, other), min(k, other)  # an earlier one is never above
        if upper == lower:
            continue
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
