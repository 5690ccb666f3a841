"""How far the cues of each pair of rectangles must reach, for many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.rde.kernels.cue_distance import Search, empty_search, find_pair_distances
from synthprobe_data.rde.kernels.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.kernels.difficulty import check_scenes
from synthprobe_data.rde.kernels.grid import Grid, compress, empty_grid, empty_sides


def pair_distances(
    rectangles: NDArray[np.integer], n_rectangles: NDArray[np.integer], *, height: int, width: int
) -> NDArray[np.uint16]:
    """For each pair that a cue orders: how far the cue must reach, in pixels.

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
    numpy.ndarray
        Row above column, (samples, most, most); 0 where no cue orders the pair, too.
    """
    check_scenes(rectangles, n_rectangles)
    samples, most = rectangles.shape[:2]
    distance = np.zeros((samples, most, most), np.uint16)
    _fill_distances(
        np.ascontiguousarray(rectangles, np.int64),
        n_rectangles.astype(np.int64),
        height,
        width,
        empty_sides(),
        empty_grid(),
        empty_cues(),
        empty_search(),
        distance,
    )
    return distance


@kernel
def _fill_distances(
    rectangles: NDArray[np.int64],
    n_rectangles: NDArray[np.int64],
    height: int,
    width: int,
    sides: NDArray[np.int64],
    grid: Grid,
    cues: Cues,
    search: Search,
    distance: NDArray[np.uint16],
) -> None:
    """Fill the distances of every sample."""
    for s in range(len(distance)):
        n = n_rectangles[s]
        for i in range(n):
            for side in range(4):
                sides[side, i] = rectangles[s, i, side]
        compress(sides, n, width, height, grid)
        find_cues(grid, n, cues)
        find_pair_distances(sides, n, grid, cues, search, distance[s])
