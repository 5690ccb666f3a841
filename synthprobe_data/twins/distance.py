"""The information distance: how far a pixel is from where the pictures of two twins differ.

The twins that the kernels must equal are in `reference.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel


@kernel
def mark_differences(
    first: NDArray[np.uint8], second: NDArray[np.uint8], distance: NDArray[np.uint16]
) -> bool:
    """Set ``distance`` to 0 where two pictures differ and to the greatest value elsewhere.

    The pictures have the three channels of a row side by side. Return whether they differ at all.
    """
    found = False
    for y in range(distance.shape[0]):
        row, other, marks = first[y], second[y], distance[y]
        for x in range(len(marks)):
            same = row[3 * x] == other[3 * x]
            same &= row[3 * x + 1] == other[3 * x + 1]
            same &= row[3 * x + 2] == other[3 * x + 2]
            marks[x] = 0xFFFF if same else 0
            found |= not same
    return found


@kernel
def spread_distances(distance: NDArray[np.uint16]) -> None:
    """The Chebyshev distance of each pixel to the nearest 0 (`reference.distance_to`), in place.

    Two passes: a shortest way of king's moves from the 0 to the pixel can begin with all its moves
    downwards or straight to the right, which the first pass carries, and end with the others.
    """
    height, width = distance.shape
    for y in range(height):
        for x in range(width):
            least = int(distance[y, x])
            if x > 0:
                least = min(least, int(distance[y, x - 1]) + 1)
            if y > 0:
                for column in range(max(x - 1, 0), min(x + 2, width)):
                    least = min(least, int(distance[y - 1, column]) + 1)
            distance[y, x] = least
    for y in range(height - 1, -1, -1):
        for x in range(width - 1, -1, -1):
            least = int(distance[y, x])
            if x < width - 1:
                least = min(least, int(distance[y, x + 1]) + 1)
            if y < height - 1:
                for column in range(max(x - 1, 0), min(x + 2, width)):
                    least = min(least, int(distance[y + 1, column]) + 1)
            distance[y, x] = least


@kernel
def keep_counted(
    k: int,
    label: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    distance: NDArray[np.uint16],
) -> int:
    """Set the distance of each pixel that does not count to 0; return the greatest that is left.

    ``label`` and ``rank`` have the maps of both twins; the rectangles k and k + 1 are exchanged
    (`reference.counts`).
    """
    farthest = 0
    lower, upper = k + 1, k + 2
    for y in range(distance.shape[0]):
        for x in range(distance.shape[1]):
            a, b = label[0, y, x], label[1, y, x]
            same = (a == lower and b == upper) or (a == upper and b == lower)
            if not same or rank[0, y, x] == rank[1, y, x]:
                distance[y, x] = 0
            farthest = max(farthest, int(distance[y, x]))
    return farthest
