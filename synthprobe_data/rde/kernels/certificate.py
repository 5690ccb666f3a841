"""The certificate: readable, decided and stable."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel, shared_kernel
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.kernels.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.kernels.grid import Grid, compress_axis, copy_axis, empty_grid, fill_labels
from synthprobe_data.rde.kernels.place import Settings
from synthprobe_data.rde.kernels.ranks import find_ranks, find_reach

CERTIFIED: Final = 0
UNREADABLE: Final = 1
UNDECIDED: Final = 2
UNSTABLE: Final = 3

_ONE: Final = np.uint64(1)
_NONE: Final = np.uint64(0)


class Room(NamedTuple):
    """Room to work in for the certificate."""

    moved: Grid
    cues: Cues
    rank: NDArray[np.uint8]
    reach: NDArray[np.uint64]
    touching: NDArray[np.uint64]
    boxes: NDArray[np.int64]


def empty_room() -> Room:
    """Room for the largest scene."""
    return Room(
        moved=empty_grid(),
        cues=empty_cues(),
        rank=np.zeros(MAX_RECTANGLES, np.uint8),
        reach=np.zeros(MAX_RECTANGLES, np.uint64),
        touching=np.zeros(MAX_RECTANGLES + 1, np.uint64),
        boxes=np.zeros((4, MAX_RECTANGLES), np.int64),
    )


@shared_kernel
def certify(
    settings: Settings,
    sides: NDArray[np.int64],
    n: int,
    grid: Grid,
    cues: Cues,
    rank: NDArray[np.uint8],
    room: Room,
) -> int:
    """Check the three conditions; return the first that fails (`reference.certificate_failure`).

    ``grid``, ``cues`` and ``rank`` are those of the scene.
    """
    if not same_ranks(cues.t_junction_seen, cues.convexity, n, rank, room.rank):
        return UNREADABLE
    if not is_decided(grid, cues, n, room):
        return UNDECIDED
    if not is_stable(settings, sides, n, grid, cues, rank, room):
        return UNSTABLE
    return CERTIFIED


@kernel
def same_ranks(
    below: NDArray[np.uint64],
    also_below: NDArray[np.uint64],
    n: int,
    rank: NDArray[np.uint8],
    found: NDArray[np.uint8],
) -> bool:
    """Whether the relation gives these ranks."""
    if not find_ranks(below, also_below, n, found):
        return False
    for k in range(n):
        if found[k] != rank[k]:
            return False
    return True


@kernel
def is_decided(grid: Grid, cues: Cues, n: int, room: Room) -> bool:
    """Whether all rectangles that touch are ordered (`reference.is_decided`)."""
    columns, rows = grid.size[0], grid.size[1]
    label, touching = grid.label, room.touching
    for k in range(n + 1):
        touching[k] = _NONE
    for r in range(rows):
        for c in range(columns):
            here, right = label[r, c], label[r, min(c + 1, columns - 1)]
            below = label[min(r + 1, rows - 1), c]
            if here != right:
                touching[max(here, right)] |= _ONE << np.uint64(min(here, right))
            if here != below:
                touching[max(here, below)] |= _ONE << np.uint64(min(here, below))
    find_reach(cues.t_junction, cues.convexity, n, room.reach)
    for k in range(n):
        # Bit 0 is the background here.
        if (touching[k + 1] >> _ONE) & ~room.reach[k]:
            return False
    return True


@kernel
def is_stable(
    settings: Settings,
    sides: NDArray[np.int64],
    n: int,
    grid: Grid,
    cues: Cues,
    rank: NDArray[np.uint8],
    room: Room,
) -> bool:
    """Whether the ranks survive each move of one rectangle by a pixel (`reference.is_stable`)."""
    moved = room.moved
    moved.size[0], moved.size[1] = grid.size[0], grid.size[1]
    copy_axis(grid.x, grid.cover_x, grid.size[0], moved.x, moved.cover_x)
    copy_axis(grid.y, grid.cover_y, grid.size[1], moved.y, moved.cover_y)
    find_box_sides(grid.x, cues.box_x, grid.size[0], n, room.boxes, 0)
    find_box_sides(grid.y, cues.box_y, grid.size[1], n, room.boxes, 1)
    for axis in range(2):
        size = settings.width if axis == 0 else settings.height
        lines = moved.x if axis == 0 else moved.y
        cover = moved.cover_x if axis == 0 else moved.cover_y
        for k in range(n):
            for step in (-1, 1):
                if not move_matters(sides, room.boxes, axis, n, k, step, size):
                    continue
                sides[axis, k] += step
                sides[axis + 2, k] += step
                moved.size[axis] = compress_axis(sides, axis, n, size, lines, cover)
                sides[axis, k] -= step
                sides[axis + 2, k] -= step
                fill_labels(moved)
                find_cues(moved, n, room.cues)
                new = room.cues
                if not same_ranks(new.t_junction, new.convexity, n, rank, room.rank):
                    return False
                if not same_ranks(new.t_junction_seen, new.convexity, n, rank, room.rank):
                    return False
        moved.size[axis] = compress_axis(sides, axis, n, size, lines, cover)
    return True


@kernel
def find_box_sides(
    lines: NDArray[np.int64],
    box: NDArray[np.uint64],
    cells: int,
    n: int,
    boxes: NDArray[np.int64],
    axis: int,
) -> None:
    """The sides of the boxes of visible pixels, from their masks, as an array like ``sides``."""
    for k in range(n):
        bit = _ONE << np.uint64(k)
        first = 0
        while first < cells and not box[first] & bit:
            first += 1
        last = cells
        while last > first and not box[last - 1] & bit:
            last -= 1
        boxes[axis, k], boxes[axis + 2, k] = lines[first], lines[last]


@kernel
def move_matters(
    sides: NDArray[np.int64],
    boxes: NDArray[np.int64],
    axis: int,
    n: int,
    k: int,
    step: int,
    size: int,
) -> bool:
    """Whether a move of rectangle k along one axis can change a cue at all.

    If the order of the lines stays, ties included, the grid keeps its cells and their labels, only
    of other widths, and all cues stay. A side of k that meets a side of rectangle j changes the
    order; but if the two rectangles lie apart on the other axis, no point of the label map belongs
    to both sides, so all T-junctions stay, and convexity can only change through the box of a
    third rectangle that ends on one of these lines. The border is a line, too, but only rectangles
    that have a side on it can show there.
    """
    start, stop = sides[1 - axis, k], sides[3 - axis, k]
    for side in (axis, axis + 2):
        line = min(max(sides[side, k], 0), size)
        goal = min(max(sides[side, k] + step, 0), size)
        if goal == line:
            continue
        for j in range(n):
            low, high = max(sides[axis, j], 0), min(sides[axis + 2, j], size)
            meets = (low == line) | (low == goal) | (high == line) | (high == goal)
            if meets and j != k:
                if sides[1 - axis, j] <= stop and start <= sides[3 - axis, j]:
                    return True
                for i in range(n):
                    ends = (boxes[axis, i] == line) | (boxes[axis, i] == goal)
                    ends |= (boxes[axis + 2, i] == line) | (boxes[axis + 2, i] == goal)
                    if ends and i != j and i != k:
                        return True
    return False
