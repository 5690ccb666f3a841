"""Certified samples: a function of config, seed, split and index, and of nothing else."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block, empty_block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel
from synthprobe_data.random import STREAM_LENGTH, open_stream, shuffle, stream_key
from synthprobe_data.rde.columns import COLUMNS
from synthprobe_data.rde.config import MAX_RECTANGLES, RdeConfig
from synthprobe_data.rde.demands import demand_words, demanded
from synthprobe_data.rde.kernels.certificate import Room, certify, empty_room
from synthprobe_data.rde.kernels.colors import draw_palette
from synthprobe_data.rde.kernels.cue_distance import Search, empty_search
from synthprobe_data.rde.kernels.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.kernels.demands import has_demands, meets_demands
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.kernels.grid import Grid, compress, empty_grid, empty_sides
from synthprobe_data.rde.kernels.place import (
    Settings,
    draw_number,
    kernel_settings,
    place_number,
)
from synthprobe_data.rde.kernels.ranks import find_ranks, is_flat
from synthprobe_data.rde.kernels.render import (
    Canvas,
    blur_weights,
    empty_canvas,
    render,
)
from synthprobe_data.rde.palette import Colored, fixed_palette

DATASET: Final = "rde"
MAX_DRAWS: Final = 10_000
"""Scenes drawn for one sample before the settings are given up."""
MAX_DEMANDED_DRAWS: Final = 100_000
"""The same where scenes must be hard, as `acceptance` has seen that some are."""

# Places in a tally: scenes drawn that were kept, failed a condition of the certificate, were empty;
# of the kept ones, how many stopped short of their number; those drawn again because they had
# one rank only, or because they were not as hard as was demanded.
KEPT, UNREADABLE_SCENES, UNDECIDED_SCENES, UNSTABLE_SCENES, EMPTY, SHORT, FLAT, EASY = range(8)
TALLIED: Final = 8


NO_PALETTES: Final = np.zeros((0, 0, 3), np.uint8)
"""In the place of the column ``palette``, where all pictures have the same colours."""


def no_colors(sample: str) -> str:
    """What to say where a picture cannot draw its colours."""
    return (
        f"no colours that are far enough apart could be drawn for {sample}: give fewer rectangles "
        "or a smaller blur."
    )


class Workspace(NamedTuple):
    """All the room that generating takes, made once for a block."""

    stream: NDArray[np.uint64]
    sides: NDArray[np.int64]
    grid: Grid
    trial: Grid
    cues: Cues
    room: Room
    search: Search | None
    """``None`` where nothing is demanded of a scene: then no kernel has the code for it."""
    canvas: Canvas
    rank: NDArray[np.uint8]
    rank_of_label: NDArray[np.uint8]
    permutation: NDArray[np.uint8]
    color_of_label: NDArray[np.uint32]


class Prepared(NamedTuple):
    """What all blocks of a config have in common."""

    settings: Settings
    palette: NDArray[np.uint8]
    """Of all pictures, or room for that of one, where each draws its own."""
    weights: NDArray[np.uint32]
    workspace: Workspace


@functools.lru_cache(maxsize=8)
def prepare(config: RdeConfig) -> Prepared:
    """Prepare a config once; threads may share its workspace, since a kernel holds the GIL."""
    return prepare_settings(kernel_settings(config), config, config.blur)


def prepare_settings(settings: Settings, colored: Colored, blur: float) -> Prepared:
    """What blocks with these settings, colours and blur have in common."""
    weights = np.trim_zeros(blur_weights(blur))  # zeros at the ends only cost time
    palette = fixed_palette(colored)
    return Prepared(
        settings=settings,
        palette=np.zeros((colored.palette_size, 3), np.uint8) if palette is None else palette,
        weights=weights,
        workspace=Workspace(
            stream=np.zeros(STREAM_LENGTH, np.uint64),
            sides=empty_sides(),
            grid=empty_grid(),
            trial=empty_grid(),
            cues=empty_cues(),
            room=empty_room(),
            search=empty_search() if demanded(settings) else None,
            canvas=empty_canvas(settings.height, settings.width, weights),
            rank=np.zeros(MAX_RECTANGLES, np.uint8),
            rank_of_label=np.zeros(MAX_RECTANGLES + 1, np.uint8),
            permutation=np.zeros(colored.palette_size, np.uint8),
            color_of_label=np.zeros((MAX_RECTANGLES + 1, 3), np.uint32),
        ),
    )


def generate_block(config: RdeConfig, seed: int, split: str, start: int, count: int) -> Block:
    """Samples ``start .. start + count - 1`` of a split: the columns by name."""
    block, _ = generate_with_tally(config, seed, split, start, count)
    return block


def generate_with_tally(
    config: RdeConfig, seed: int, split: str, start: int, count: int
) -> tuple[Block, NDArray[np.int64]]:
    """The same samples, and a tally of the scenes drawn.

    Returns
    -------
    block
        The datasets by name.
    tally
        Counts by ``KEPT``, ``UNREADABLE_SCENES``, ``UNDECIDED_SCENES``, ``UNSTABLE_SCENES``,
        ``EMPTY``, ``SHORT``, ``FLAT``, ``EASY``.
    """
    prepared = prepare(config)
    block = empty_block(COLUMNS, config, count)
    tally = np.zeros(TALLIED, np.int64)
    done = _fill_block(
        prepared.settings,
        stream_key(seed, DATASET, split),
        start,
        prepared.palette,
        prepared.weights,
        prepared.workspace,
        tally,
        block.get("palette"),
        block["above"],
        block["color"],
        block["image"].reshape(count, config.height, 3 * config.width),
        block["label"],
        block["n_rectangles"],
        block["rank"],
        block["rectangle_rank"],
        block["rectangles"],
    )
    if done < 0:
        raise SynthprobeError(no_colors(f"{split} sample {start - 1 - done}"))
    if done < count:
        raise SynthprobeError(_none_kept(config, f"{split} sample {start + done}"))
    if config.difficulty:
        block |= difficulty_block(
            block["rectangles"],
            block["n_rectangles"],
            height=config.height,
            width=config.width,
        )
    return block, tally


def _none_kept(config: RdeConfig, sample: str) -> str:
    """What to say where no scene of a sample could be kept."""
    draws = most_draws(prepare(config).settings)
    said = f"none of {draws} scenes drawn for {sample} could be kept"
    if demands := demand_words(config):
        return f"{said}, as {demands} is demanded: give less."
    order = " (require_order keeps only those with two ranks)" * config.require_order
    return (
        f"{said}{order}: give fewer rectangles, a larger picture, or smaller n_vis, n_gap and "
        "n_par."
    )


@kernel
def _fill_block(
    settings: Settings,
    key: NDArray[np.uint64],
    start: int,
    palette: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    tally: NDArray[np.int64],
    palettes: NDArray[np.uint8] | None,
    above: NDArray[np.uint8],
    color: NDArray[np.uint8],
    image: NDArray[np.uint8],
    label: NDArray[np.uint8],
    n_rectangles: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    rectangle_rank: NDArray[np.uint8],
    rectangles: NDArray[np.int16],
) -> int:
    """Fill the rows of a block; return how many were filled before one could not be.

    If colours could not be drawn for row s, return -1 - s.
    """
    for s in range(len(n_rectangles)):
        open_stream(work.stream, key, start + s)
        n = draw_scene(settings, work, tally)
        if n == 0:
            return s
        if not give_colors(settings, work, palette, palettes, s):
            return -1 - s
        write_row(
            palette,
            weights,
            work,
            n,
            s,
            above,
            color,
            image,
            label,
            n_rectangles,
            rank,
            rectangle_rank,
            rectangles,
        )
    return len(n_rectangles)


@kernel
def give_colors(
    settings: Settings,
    work: Workspace,
    palette: NDArray[np.uint8],
    palettes: NDArray[np.uint8] | None,
    s: int,
) -> bool:
    """Give out the colours of row s: a permutation of the palette, or a palette of its own.

    The palette of its own is written to ``palettes``, too, which is ``None`` where there is none.
    False if none could be drawn.
    """
    for i in range(len(work.permutation)):
        work.permutation[i] = i
    if palettes is None:
        shuffle(work.stream, work.permutation)
        return True
    if not draw_palette(work.stream, settings.apart, palette):
        return False
    copy_palette(palette, palettes, s)
    return True


@kernel
def copy_palette(palette: NDArray[np.uint8], palettes: NDArray[np.uint8], s: int) -> None:
    """Write the colours of row s."""
    for i in range(len(palette)):
        for channel in range(3):
            palettes[s, i, channel] = palette[i, channel]


@kernel
def write_row(
    palette: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    n: int,
    s: int,
    above: NDArray[np.uint8],
    color: NDArray[np.uint8],
    image: NDArray[np.uint8],
    label: NDArray[np.uint8],
    n_rectangles: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    rectangle_rank: NDArray[np.uint8],
    rectangles: NDArray[np.int16],
) -> None:
    """Write the scene of n rectangles that stands in the workspace as row s of a block.

    Its sides, grid, cues and ranks stand there, and in ``permutation`` the colours.
    """
    n_rectangles[s] = n
    for i in range(n):
        color[s, i] = work.permutation[i]
        rectangle_rank[s, i] = work.rank[i]
        work.rank_of_label[i + 1] = work.rank[i]
        for channel in range(3):
            work.color_of_label[i + 1, channel] = palette[work.permutation[i], channel]
        for side in range(4):
            rectangles[s, i, side] = work.sides[side, i]
        for j in range(n):
            by_t_junction = work.cues.t_junction[i] >> np.uint64(j) & np.uint64(1)
            by_convexity = work.cues.convexity[i] >> np.uint64(j) & np.uint64(1)
            above[s, i, j] = by_t_junction + np.uint64(2) * by_convexity
    render(
        work.grid,
        work.color_of_label,
        work.rank_of_label,
        weights,
        work.canvas,
        s,
        image,
        rank,
        label,
    )


@kernel
def draw_scene(settings: Settings, work: Workspace, tally: NDArray[np.int64]) -> int:
    """Draw scenes until one can be kept; return its number of rectangles, 0 if none could.

    Its sides, grid, cues and ranks stand in the workspace. How many rectangles to place is drawn
    once, so that scenes of some numbers do not become rare because more of them are drawn again.
    """
    asked = draw_number(work.stream, settings)
    for _ in range(most_draws(settings)):
        n = draw_once(settings, asked, work, tally)
        if n > 0:
            return n
    return 0


@kernel
def most_draws(settings: Settings) -> int:
    """How many scenes are drawn for one sample before the settings are given up."""
    return MAX_DEMANDED_DRAWS if has_demands(settings) else MAX_DRAWS


@kernel
def draw_once(settings: Settings, asked: int, work: Workspace, tally: NDArray[np.int64]) -> int:
    """Draw one scene of so many; return its number of rectangles, 0 if it cannot be kept."""
    n = place_number(work.stream, settings, asked, work.sides, work.grid, work.trial)
    if n == 0:
        tally[EMPTY] += 1
        return 0
    compress(work.sides, n, settings.width, settings.height, work.grid)
    find_cues(work.grid, n, work.cues)
    find_ranks(work.cues.t_junction, work.cues.convexity, n, work.rank)
    if settings.require_order and is_flat(work.rank, n):
        tally[FLAT] += 1
        return 0
    verdict = 0
    if settings.certify:
        verdict = certify(settings, work.sides, n, work.grid, work.cues, work.rank, work.room)
    if verdict != 0:
        tally[KEPT + verdict] += 1
        return 0
    if not meets_demands(settings, work.sides, n, work.grid, work.cues, work.rank, work.search):
        tally[EASY] += 1
        return 0
    tally[KEPT] += 1
    if n < asked:
        tally[SHORT] += 1
    return n
