"""Who is above whom, on the cells: convexity, T-junctions, what follows from them, and the ranks.

In all matrices the row is above the column; regions count from 0 there, and from 1 in cells.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.rde.solver.regions import Cells

T_JUNCTION: Final = 1
CONVEXITY: Final = 2
JUNCTION_FIELDS: Final = 10


@kernel
def find_boxes(cells: Cells, boxes: NDArray[np.int64]) -> None:
    """The visible extent of each region, x0, y0, x1, y1, in cells (`reference.find_boxes`)."""
    rows, columns = cells.shown.shape
    for k in range(len(boxes)):
        boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3] = columns, rows, 0, 0
    for r in range(rows):
        for c in range(columns):
            if cells.shown[r, c]:
                box = boxes[cells.shown[r, c] - 1]
                box[0], box[1] = min(box[0], c), min(box[1], r)
                box[2], box[3] = max(box[2], c + 1), max(box[3], r + 1)


@kernel
def find_convexity(
    cells: Cells, boxes: NDArray[np.int64], above: NDArray[np.uint8]
) -> tuple[int, int]:
    """Whoever shows in a region's box is above that region (`reference.find_convexity`).

    Where the background shows in a box, the region is no rectangle with others in front of it:
    return its number and the row of cells; else 0, 0.
    """
    for k in range(len(boxes)):
        for r in range(boxes[k, 1], boxes[k, 3]):
            for c in range(boxes[k, 0], boxes[k, 2]):
                shown = cells.shown[r, c]
                if shown == 0:
                    return k + 1, r
                if shown != k + 1:
                    above[shown - 1, k] |= CONVEXITY
    return 0, 0


@kernel
def find_junctions(cells: Cells, above: NDArray[np.uint8], found: NDArray[np.int64]) -> int:
    """All T-junctions; return their number (`reference.find_junctions`).

    A row of ``found`` has what a `Junction` has, in its order.
    """
    rows, columns = cells.shown.shape
    count = 0
    for r in range(1, rows):
        for c in range(1, columns):
            for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                first, second = _beside(cells, r, c, down, right)
                bar, same = _beside(cells, r, c, -down, -right)
                if bar != same or bar == 0 or first == second or bar in (first, second):
                    continue
                for region in (first, second):
                    if region:
                        above[bar - 1, region - 1] |= T_JUNCTION
                entry = found[count]
                entry[0], entry[1], entry[2] = cells.y[r], cells.x[c], bar
                entry[3], entry[4], entry[5], entry[6] = first, second, down, right
                entry[7] = _walk(cells, r, c, down, right)
                entry[8] = _walk(cells, r, c, -abs(right), -abs(down))
                entry[9] = _walk(cells, r, c, abs(right), abs(down))
                count += 1
    return count


@kernel
def _beside(cells: Cells, r: int, c: int, down: int, right: int) -> tuple[int, int]:
    """What shows on both sides of the line that leaves point (r, c): left or upper one first."""
    if down:
        row = r if down > 0 else r - 1
        return int(cells.shown[row, c - 1]), int(cells.shown[row, c])
    column = c if right > 0 else c - 1
    return int(cells.shown[r - 1, column]), int(cells.shown[r, column])


@kernel
def _walk(cells: Cells, r: int, c: int, down: int, right: int) -> int:
    """How far the same two regions lie beside the line that leaves point (r, c), in pixels."""
    rows, columns = cells.shown.shape
    ahead = _beside(cells, r, c, down, right)
    start = cells.y[r] + cells.x[c]
    while True:
        r, c = r + down, c + right
        inside = 0 < r < rows if down else 0 < c < columns
        if not inside or _beside(cells, r, c, down, right) != ahead:
            return int(abs(cells.y[r] + cells.x[c] - start))


@kernel
def find_touching(cells: Cells, touching: NDArray[np.bool_]) -> None:
    """Which regions share a pixel side, the background aside (`reference.find_touching`)."""
    rows, columns = cells.shown.shape
    for r in range(rows):
        for c in range(columns):
            here = cells.shown[r, c]
            for down, right in ((1, 0), (0, 1)):
                if here and r + down < rows and c + right < columns:
                    there = cells.shown[r + down, c + right]
                    if there and there != here:
                        touching[here - 1, there - 1] = True
                        touching[there - 1, here - 1] = True


@kernel
def close(relation: NDArray[np.bool_]) -> bool:
    """Add what follows through others; return whether there is a cycle (`reference.close`)."""
    n = len(relation)
    for through in range(n):
        for upper in range(n):
            if relation[upper, through]:
                for lower in range(n):
                    relation[upper, lower] |= relation[through, lower]
    for k in range(n):
        if relation[k, k]:
            return True
    return False


@kernel
def find_ranks(relation: NDArray[np.bool_], rank: NDArray[np.uint8]) -> None:
    """1, or one more than the highest rank beneath; the relation has no cycle.

    The twin is `reference.find_ranks`.
    """
    n = len(relation)
    rank[:] = 1
    settled = False
    while not settled:
        settled = True
        for upper in range(n):
            for lower in range(n):
                if relation[upper, lower] and rank[upper] <= rank[lower]:
                    rank[upper] = rank[lower] + 1
                    settled = False
