"""How hard a sample is, in four figures (``RULES.md``, under "Difficulty").

The twin that the kernels must equal is `reference_difficulty.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel
from synthprobe_data.rde.columns import DIFFICULTY
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.kernels.cue_distance import Search, empty_search, find_cue_distance
from synthprobe_data.rde.kernels.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.kernels.grid import MAX_CELLS, Grid, compress, empty_grid, empty_sides
from synthprobe_data.rde.kernels.ranks import find_ranks

COLUMNS: Final = tuple(column.name for column in DIFFICULTY)
"""The names under which the four are stored."""

_ONE: Final = np.uint64(1)


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
    return {c.name: np.zeros((count, *(most for _ in c.dims)), c.dtype) for c in DIFFICULTY}


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
    check_scenes(rectangles, n_rectangles)
    block = empty_difficulty(len(rectangles), rectangles.shape[1])
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
        np.zeros(MAX_CELLS * MAX_CELLS, np.int64),
        block["convexity_only"],
        block["cue_distance"],
        block["depth"],
        block["pieces"],
    )
    return block


def check_scenes(rectangles: NDArray[np.integer], n_rectangles: NDArray[np.integer]) -> None:
    """Raise `SynthprobeError` if some of these are no scenes."""
    if not are_scenes(rectangles, n_rectangles).all():
        raise SynthprobeError(
            "a rectangle has x0 < x1 and y0 < y1, and a scene has at most "
            f"{rectangles.shape[1]} of them."
        )


def are_scenes(
    rectangles: NDArray[np.integer], n_rectangles: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Which samples have as many rectangles as they say, none of them empty."""
    most = rectangles.shape[1]
    used = np.arange(most) < n_rectangles[:, None]
    empty = (rectangles[..., :2] >= rectangles[..., 2:]).any(axis=2)
    scenes: NDArray[np.bool_] = (n_rectangles <= most) & ~(used & empty).any(axis=1)
    return scenes


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
    piece: NDArray[np.int64],
    convexity_only: NDArray[np.uint16],
    cue_distance: NDArray[np.uint16],
    depth: NDArray[np.uint8],
    pieces: NDArray[np.uint16],
) -> None:
    """Fill the rows of a block; ``piece`` is room for `count_pieces`."""
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
        count_pieces(grid, piece, pieces[s])


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
    its label. ``piece`` has for each cell an earlier one of the same piece, or the cell itself.
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
