"""Drawing the scene of one band, with the pair that is exchanged and its distances."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel
from synthprobe_data.random import draw_below, draw_two_pairs
from synthprobe_data.rde.generate import Workspace
from synthprobe_data.rde.kernels.grid import compress
from synthprobe_data.rde.kernels.place import (
    Settings,
    accepts,
    draw_number,
    overlap,
    place_next,
    place_number,
)
from synthprobe_data.rde.kernels.render import render
from synthprobe_data.twins.distance import keep_counted, mark_differences, spread_distances
from synthprobe_data.twins.exchange import (
    both_meet_demands,
    find_exchangeable,
    read_scene,
    swap_sides,
)

# Places in a tally of the scenes drawn: kept, without a second rectangle, without a pair that
# can be exchanged, with one whose counted pixels are all too near, and not as hard as demanded.
KEPT, SINGLE, FIXED, NEAR, EASY = range(5)
TALLIED: Final = 5


class Bands(NamedTuple):
    """The bands in the form in which the kernels take them: whole numbers only."""

    number: int
    pitch: int
    """Rows from the top of a band to the top of the next one."""
    min_distance: int
    draws: int
    """Scenes that are drawn for one band, at most."""
    shows: int
    """Whether the pictures of twins surely differ wherever they show different rectangles."""


class Twins(NamedTuple):
    """Room for both twins of one scene: the arrays have one row for each, as in a block."""

    sides: NDArray[np.int64]
    """Of the rectangles of all bands that have been drawn."""
    image: NDArray[np.uint8]
    label: NDArray[np.uint8]
    rank: NDArray[np.uint8]


@kernel
def draw_band(
    bands: Bands,
    band: Settings,
    picture: Settings,
    palette: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    twins: Twins,
    b: int,
    offset: int,
    distance: NDArray[np.uint16],
    tally: NDArray[np.int64],
) -> tuple[int, int]:
    """Draw scenes for band b until one can be kept; return its number of rectangles, and k.

    Then its rectangles k and k + 1 can be exchanged, its sides stand in the workspace, and the
    distances of its counted pixels in ``distance``. Its colours are those in the permutation from
    ``offset`` on. 0 rectangles if no scene could be kept.
    """
    asked = draw_number(work.stream, band)
    for _ in range(bands.draws):
        if asked == 2:
            n = place_two(bands, band, work)
        else:
            n = place_number(work.stream, band, asked, work.sides, work.grid, work.trial)
        if n < 2:
            tally[SINGLE] += 1
            continue
        found = find_exchangeable(band, work, n)
        if not found:
            tally[FIXED] += 1
            continue
        k = draw_bit(work.stream, found, n)
        if not both_meet_demands(band, work, n, k):
            tally[EASY] += 1
            continue
        for i in range(n):
            work.sides[1, i] += b * bands.pitch
            work.sides[3, i] += b * bands.pitch
        farthest = measure(picture, palette, weights, work, twins, n, k, offset, distance)
        if farthest >= bands.min_distance:
            tally[KEPT] += 1
            return n, k
        tally[NEAR] += 1
    return 0, 0


@kernel
def draw_bit(stream: NDArray[np.uint64], mask: np.uint64, n: int) -> int:
    """One of the bits that are set below n, each as likely as the others."""
    count = 0
    for k in range(n):
        count += int(mask >> np.uint64(k) & np.uint64(1))
    wanted = draw_below(stream, count)
    for k in range(n):
        if mask >> np.uint64(k) & np.uint64(1):
            if wanted == 0:
                return k
            wanted -= 1
    return n


@kernel
def place_two(bands: Bands, band: Settings, work: Workspace) -> int:
    """Place two rectangles, as `place` does; return how many were.

    A second one that cannot make a pair with the first is refused at once, like one that breaks a
    rule: thirty scenes or so would be drawn in vain otherwise, for each that can be kept.
    """
    grid, trial, sides = work.grid, work.trial, work.sides
    compress(sides, 0, band.width, band.height, grid)
    trials = place_next(work.stream, band, sides, 0, grid, trial, band.trials)
    least = bands.min_distance if bands.shows else 0
    while trials > 0:
        a, b, c, d = draw_two_pairs(work.stream, band.width + 1, band.height + 1)
        sides[0, 1], sides[2, 1] = min(a, b), max(a, b)
        sides[1, 1], sides[3, 1] = min(c, d), max(c, d)
        if reach_of_two(sides) >= least and overlap(sides, 0, 1):
            if accepts(band, sides, 1, trial, grid):
                return 2
        trials -= 1
    return 0


@kernel
def reach_of_two(sides: NDArray[np.int64]) -> int:
    """The longest way from a pixel of two overlapping rectangles to the nearest that they share.

    With no third one, the twins show different rectangles in just the pixels that they share. If
    they then surely differ there, no information distance is longer. The twin is
    `reference.may_make_a_pair`.
    """
    farthest = 0
    for side in range(4):
        farthest = max(farthest, abs(sides[side, 0] - sides[side, 1]))
    return farthest


@kernel
def measure(
    picture: Settings,
    palette: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    twins: Twins,
    n: int,
    k: int,
    offset: int,
    distance: NDArray[np.uint16],
) -> int:
    """The distance of each counted pixel, if k and k + 1 are exchanged; return the greatest.

    The n rectangles stand in the workspace, their colours in the permutation from ``offset`` on.
    Rectangles elsewhere in the picture are left out: the gap between bands is so wide that none
    changes a pixel that these change. The twins' pictures and maps stand in ``twins``.
    """
    for twin in range(2):
        read_scene(picture, work, n)
        for i in range(n):
            # The exchanged ones keep their colours.
            at = i if twin == 0 or i < k or i > k + 1 else 2 * k + 1 - i
            work.rank_of_label[i + 1] = work.rank[i]
            for channel in range(3):
                value = palette[work.permutation[offset + at], channel]
                work.color_of_label[i + 1, channel] = value
        render(
            work.grid,
            work.color_of_label,
            work.rank_of_label,
            weights,
            work.canvas,
            twin,
            twins.image,
            twins.rank,
            twins.label,
        )
        swap_sides(work.sides, k)
    if not mark_differences(twins.image[0], twins.image[1], distance):
        for y in range(distance.shape[0]):
            for x in range(distance.shape[1]):
                distance[y, x] = 0
        return 0
    spread_distances(distance)
    return keep_counted(k, twins.label, twins.rank, distance)
