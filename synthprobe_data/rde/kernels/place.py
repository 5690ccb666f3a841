"""Placement: draw candidates and keep those that the rules accept."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import highest_bit, kernel, shared_kernel
from synthprobe_data.random import draw_below, draw_two_pairs
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.kernels.apart import drawn_apart
from synthprobe_data.rde.kernels.grid import Grid, compress, copy_with

_OUTSIDE: Final = -1


class Settings(NamedTuple):
    """The config in the form in which the kernels take it: whole numbers only."""

    width: int
    height: int
    n_rectangles: int
    n_vis: int
    n_gap: int
    n_par: int
    least_width: int
    least_height: int
    trials: int
    by_rules: int
    certify: int
    walk_t_junctions: int
    require_order: int
    least_rectangles: int
    """Each sample draws its number from this to ``n_rectangles``; one number needs no draw."""
    apart: int
    """How far apart colours must be that a picture draws for itself; 0 if it draws none."""
    min_depth: int
    min_cue_distance: int
    min_convexity_only: int
    """How hard a scene must be (`kernels.demands`)."""


def kernel_settings(config: RdeConfig) -> Settings:
    """The config for the kernels.

    Rule 5 follows from rule 4 when parallel sides of different rectangles keep a distance of n_vis
    (``n_par >= n_vis``), as those of one rectangle do by rule 2; then there is no need to walk.
    """
    by_rules = config.mode != "ambiguous"
    return Settings(
        width=config.width,
        height=config.height,
        n_rectangles=config.n_rectangles,
        n_vis=config.n_vis,
        n_gap=config.n_gap,
        n_par=config.n_par,
        least_width=config.least_width if by_rules else config.min_width,
        least_height=config.least_height if by_rules else config.min_height,
        trials=config.trials,
        by_rules=int(by_rules),
        certify=int(config.mode == "certified"),
        walk_t_junctions=int(config.n_vis > config.n_par),
        require_order=int(config.require_order),
        least_rectangles=config.least_rectangles,
        apart=drawn_apart(config.mode, config.blur) if config.random_palette else 0,
        min_depth=config.min_depth,
        min_cue_distance=config.min_cue_distance,
        min_convexity_only=config.min_convexity_only,
    )


@kernel
def draw_number(stream: NDArray[np.uint64], settings: Settings) -> int:
    """How many rectangles a sample asks for (`reference.draw_number`).

    Where there is one number only, nothing is taken from the stream.
    """
    choices = settings.n_rectangles - settings.least_rectangles + 1
    if choices == 1:
        return settings.n_rectangles
    return settings.least_rectangles + draw_below(stream, choices)


@kernel
def place(
    stream: NDArray[np.uint64],
    settings: Settings,
    sides: NDArray[np.int64],
    grid: Grid,
    trial: Grid,
) -> int:
    """Place as many as the settings ask for at most (`place_number`)."""
    return place_number(stream, settings, settings.n_rectangles, sides, grid, trial)


@kernel
def place_number(
    stream: NDArray[np.uint64],
    settings: Settings,
    asked: int,
    sides: NDArray[np.int64],
    grid: Grid,
    trial: Grid,
) -> int:
    """Draw candidates until so many are placed or the trials are used up; return how many were.

    ``grid`` and ``trial`` are room to work in.
    """
    trials = settings.trials
    compress(sides, 0, settings.width, settings.height, grid)
    for n in range(asked):
        trials = place_next(stream, settings, sides, n, grid, trial, trials)
        if trials == 0:
            return n
        grid, trial = trial, grid
    return asked


@kernel
def place_next(
    stream: NDArray[np.uint64],
    settings: Settings,
    sides: NDArray[np.int64],
    n: int,
    grid: Grid,
    trial: Grid,
    trials: int,
) -> int:
    """Draw candidates for rectangle n until one is accepted; return how many trials are left."""
    while trials > 0:
        a, b, c, d = draw_two_pairs(stream, settings.width + 1, settings.height + 1)
        sides[0, n], sides[2, n] = min(a, b), max(a, b)
        sides[1, n], sides[3, n] = min(c, d), max(c, d)
        if accepts(settings, sides, n, grid, trial):
            return trials
        trials -= 1
    return 0


@shared_kernel
def accepts(settings: Settings, sides: NDArray[np.int64], n: int, grid: Grid, trial: Grid) -> bool:
    """Whether the rules accept rectangle n on top of the n before it (`reference.accepts`).

    ``grid`` holds the n before it. When the answer is yes, ``trial`` holds all of them.
    """
    width, height = sides[2, n] - sides[0, n], sides[3, n] - sides[1, n]
    if (width < settings.least_width) | (height < settings.least_height):
        return False
    if not settings.by_rules:
        copy_with(grid, sides, n, trial)
        return everyone_shows(trial, n + 1)
    n_par = settings.n_par
    shared_x, near_x = compare_sides(sides, n, 0, n_par)
    shared_y, near_y = compare_sides(sides, n, 1, n_par)
    if shared_x | shared_y:
        return False
    if side_too_near(sides, n, near_x, 0, n_par, grid.x, grid.y, grid.size[1], grid.label):
        return False
    if side_too_near(sides, n, near_y, 1, n_par, grid.y, grid.x, grid.size[0], grid.label.T):
        return False
    copy_with(grid, sides, n, trial)
    for k in range(n):
        # Whoever the candidate does not reach over shows as much as before.
        if overlap(sides, n, k) and not (
            shows_enough(settings, sides, k, 0, trial.x, trial.y, trial.label)
            and shows_enough(settings, sides, k, 1, trial.y, trial.x, trial.label.T)
        ):
            return False
    return not (settings.walk_t_junctions and t_junction_too_near(trial, settings.n_vis))


@kernel
def overlap(sides: NDArray[np.int64], i: int, j: int) -> bool:
    """Whether two rectangles have a pixel in common."""
    across = min(sides[2, i], sides[2, j]) - max(sides[0, i], sides[0, j])
    along = min(sides[3, i], sides[3, j]) - max(sides[1, i], sides[1, j])
    return across > 0 and along > 0


@kernel
def compare_sides(
    sides: NDArray[np.int64], n: int, axis: int, n_par: int
) -> tuple[bool, np.uint64]:
    """Rule 3 across one axis, and a first look at rule 4.

    Whether rectangle n shares a side with an earlier one, here or after a move by one pixel
    (`reference.rule_no_shared_side`): a move across a side closes a distance of 1, a move along it
    makes sides overlap that just met end to end. And the earlier rectangles, as a mask, that have
    a side near one of its own, visible or not.
    """
    low, high = sides[axis, n], sides[axis + 2, n]
    start, stop = sides[1 - axis, n], sides[3 - axis, n]
    shared = False
    near = np.uint64(0)
    for k in range(n):
        common = min(stop, sides[3 - axis, k]) - max(start, sides[1 - axis, k])
        a, b = sides[axis, k], sides[axis + 2, k]
        distance = min(min(abs(low - a), abs(low - b)), min(abs(high - a), abs(high - b)))
        # Rule 3: at a distance of 0 it is enough to meet, at 1 they must have a pixel in common.
        shared |= (distance <= 1) & (common >= distance)
        near |= np.uint64((distance < n_par) & (common > -n_par)) << np.uint64(k)
    return shared, near


@kernel
def side_too_near(
    sides: NDArray[np.int64],
    n: int,
    near: np.uint64,
    axis: int,
    n_par: int,
    across: NDArray[np.int64],
    along: NDArray[np.int64],
    cells: int,
    label: NDArray[np.uint8],
) -> bool:
    """Rule 4 across one axis: whether a side of one of the near rectangles shows too near.

    See `reference.rule_parallel_sides`. The grid (its lines across and along the sides, the number
    of cells along them, its labels by [along, across]) does not have the candidate yet, so what
    the candidate hides is left out here.
    """
    low, high = sides[axis, n], sides[axis + 2, n]
    start, stop = sides[1 - axis, n], sides[3 - axis, n]
    while near:
        k = highest_bit(near) - 1
        near ^= np.uint64(1) << np.uint64(k)
        for side in (axis, axis + 2):
            line = sides[side, k]
            if abs(line - low) >= n_par and abs(line - high) >= n_par:
                continue
            inside = line if side == axis else line - 1
            hidden = low <= inside < high
            column = 0
            while across[column + 1] <= inside:
                column += 1
            for row in range(cells):
                if label[row, column] == k + 1:
                    first = max(along[row], start - n_par)
                    last = min(along[row + 1], stop + n_par)
                    if first < last and not (hidden and start <= first and last <= stop):
                        return True
    return False


@kernel
def everyone_shows(grid: Grid, n: int) -> bool:
    """All that `ambiguous` mode asks for: each rectangle shows (`reference.rule_still_shows`)."""
    seen = np.uint64(0)
    for r in range(grid.size[1]):
        for c in range(grid.size[0]):
            seen |= np.uint64(1) << np.uint64(grid.label[r, c])
    return seen | np.uint64(1) == (np.uint64(2) << np.uint64(n)) - np.uint64(1)


@kernel
def shows_enough(
    settings: Settings,
    sides: NDArray[np.int64],
    k: int,
    axis: int,
    across: NDArray[np.int64],
    along: NDArray[np.int64],
    label: NDArray[np.uint8],
) -> bool:
    """Rule 2 for the rows of rectangle k (`reference.rule_visibility`).

    The lines across and along the rows, the labels by [row, column]; with the axes exchanged, the
    same for its columns.
    """
    start, stop = sides[1 - axis, k], sides[3 - axis, k]
    left, right = sides[axis, k], sides[axis + 2, k]
    first = 0
    while across[first] < left:
        first += 1
    row = 0
    while along[row] < start:
        row += 1
    longest = 0
    while along[row] < stop:
        shown = 0
        column = first
        while across[column] < right:
            if label[row, column] == k + 1:
                shown += across[column + 1] - across[column]
            column += 1
        if 0 < shown <= settings.n_gap:
            return False
        longest = max(longest, shown)
        row += 1
    return longest > settings.n_vis


@kernel
def t_junction_too_near(grid: Grid, n_vis: int) -> bool:
    """Rule 5: a corner or junction too near a T-junction (`reference.rule_t_junctions`)."""
    for r in range(1, grid.size[1]):
        for c in range(1, grid.size[0]):
            for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if _is_t_junction(grid, r, c, down, right):
                    stem = _walk(grid, r, c, down, right)
                    arms = min(_walk(grid, r, c, right, down), _walk(grid, r, c, -right, -down))
                    if min(stem, arms) < n_vis:
                        return True
    return False


@kernel
def _beside(grid: Grid, r: int, c: int, down: int, right: int) -> tuple[int, int]:
    """The labels on both sides of the line that leaves point (r, c) in this direction."""
    if down:
        row = r if down > 0 else r - 1
        if row < 0 or row >= grid.size[1]:
            return _OUTSIDE, _OUTSIDE
        return int(grid.label[row, c - 1]), int(grid.label[row, c])
    column = c if right > 0 else c - 1
    if column < 0 or column >= grid.size[0]:
        return _OUTSIDE, _OUTSIDE
    return int(grid.label[r - 1, column]), int(grid.label[r, column])


@kernel
def _is_t_junction(grid: Grid, r: int, c: int, down: int, right: int) -> bool:
    """Whether the inner point (r, c) is a T-junction whose stem leaves it in this direction."""
    a, b = _beside(grid, r, c, down, right)
    bar, same = _beside(grid, r, c, -down, -right)
    return bar == same and bar > 0 and a != b and a != bar and b != bar


@kernel
def _walk(grid: Grid, r: int, c: int, down: int, right: int) -> int:
    """How far the line that leaves point (r, c) in this direction runs straight, in pixels."""
    ahead = _beside(grid, r, c, down, right)
    start = grid.y[r] if down else grid.x[c]
    while True:
        r, c = r + down, c + right
        if _beside(grid, r, c, down, right) != ahead:
            return abs((grid.y[r] if down else grid.x[c]) - start)
