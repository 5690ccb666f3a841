"""Certified samples: a function of config, seed, split and index, and of nothing else."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.bits import kernel
from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.random import STREAM_LENGTH, open_stream, shuffle, stream_key
from synthprobe_data.rde.certificate import Room, certify, empty_room
from synthprobe_data.rde.config import MAX_RECTANGLES, RdeConfig
from synthprobe_data.rde.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.difficulty import difficulty_block, empty_difficulty
from synthprobe_data.rde.grid import Grid, compress, empty_grid, empty_sides
from synthprobe_data.rde.place import Settings, kernel_settings, place
from synthprobe_data.rde.ranks import find_ranks, is_flat
from synthprobe_data.rde.render import Canvas, blur_weights, empty_canvas, hue_palette, render

DATASET: Final = "rde"
MAX_DRAWS: Final = 10_000
"""Scenes drawn for one sample before the settings are given up."""

# Places in a tally: scenes drawn that were kept, failed a condition of the certificate, were empty;
# of the kept ones, how many stopped short of n_rectangles; and those drawn again because they had
# one rank only.
KEPT, UNREADABLE_SCENES, UNDECIDED_SCENES, UNSTABLE_SCENES, EMPTY, SHORT, FLAT = range(7)


class Workspace(NamedTuple):
    """All the room that generating takes, made once for a block."""

    stream: NDArray[np.uint64]
    sides: NDArray[np.int64]
    grid: Grid
    trial: Grid
    cues: Cues
    room: Room
    canvas: Canvas
    rank: NDArray[np.uint8]
    rank_of_label: NDArray[np.uint8]
    permutation: NDArray[np.uint8]
    color_of_label: NDArray[np.uint32]


class Prepared(NamedTuple):
    """What all blocks of a config have in common."""

    settings: Settings
    palette: NDArray[np.uint8]
    weights: NDArray[np.uint32]
    workspace: Workspace


@functools.lru_cache(maxsize=8)
def prepare(config: RdeConfig) -> Prepared:
    """Prepare a config once; threads may share its workspace, since a kernel holds the GIL."""
    weights = np.trim_zeros(blur_weights(config.blur))  # zeros at the ends only cost time
    return Prepared(
        settings=kernel_settings(config),
        palette=hue_palette(config.palette_size),
        weights=weights,
        workspace=Workspace(
            stream=np.zeros(STREAM_LENGTH, np.uint64),
            sides=empty_sides(),
            grid=empty_grid(),
            trial=empty_grid(),
            cues=empty_cues(),
            room=empty_room(),
            canvas=empty_canvas(config.height, config.width, weights),
            rank=np.zeros(MAX_RECTANGLES, np.uint8),
            rank_of_label=np.zeros(MAX_RECTANGLES + 1, np.uint8),
            permutation=np.zeros(config.palette_size, np.uint8),
            color_of_label=np.zeros((MAX_RECTANGLES + 1, 3), np.uint32),
        ),
    )


def empty_block(config: RdeConfig, count: int) -> Block:
    """Arrays for this many samples, as the format names them."""
    height, width, most = config.height, config.width, config.n_rectangles
    block: Block = {
        "above": np.zeros((count, most, most), np.uint8),
        "color": np.zeros((count, most), np.uint8),
        "image": np.empty((count, height, width, 3), np.uint8),
        "label": np.empty((count, height, width), np.uint8),
        "n_rectangles": np.zeros(count, np.uint8),
        "rank": np.empty((count, height, width), np.uint8),
        "rectangle_rank": np.zeros((count, most), np.uint8),
        "rectangles": np.full((count, most, 4), -1, np.int16),
    }
    return block | empty_difficulty(count, most) if config.difficulty else block


def generate_block(
    config: RdeConfig, seed: int, split: str, start: int, count: int
) -> tuple[Block, NDArray[np.int64]]:
    """Samples ``start .. start + count - 1`` of a split, and a tally of the scenes drawn.

    Returns
    -------
    block
        The datasets by name.
    tally
        Counts by ``KEPT``, ``UNREADABLE_SCENES``, ``UNDECIDED_SCENES``, ``UNSTABLE_SCENES``,
        ``EMPTY``, ``SHORT``, ``FLAT``.
    """
    prepared = prepare(config)
    block = empty_block(config, count)
    tally = np.zeros(7, np.int64)
    done = _fill_block(
        prepared.settings,
        stream_key(seed, DATASET, split),
        start,
        prepared.palette,
        prepared.weights,
        prepared.workspace,
        tally,
        block["above"],
        block["color"],
        block["image"].reshape(count, config.height, 3 * config.width),
        block["label"],
        block["n_rectangles"],
        block["rank"],
        block["rectangle_rank"],
        block["rectangles"],
    )
    if done < count:
        order = " (require_order keeps only those with two ranks)" * config.require_order
        raise SynthprobeError(
            f"none of {MAX_DRAWS} scenes drawn for {split} sample {start + done} could be kept"
            f"{order}: give fewer rectangles, a larger picture, or smaller n_vis, n_gap and n_par."
        )
    if config.difficulty:
        block |= difficulty_block(
            block["rectangles"],
            block["n_rectangles"],
            height=config.height,
            width=config.width,
        )
    return block, tally


@kernel
def _fill_block(
    settings: Settings,
    key: NDArray[np.uint64],
    start: int,
    palette: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    tally: NDArray[np.int64],
    above: NDArray[np.uint8],
    color: NDArray[np.uint8],
    image: NDArray[np.uint8],
    label: NDArray[np.uint8],
    n_rectangles: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    rectangle_rank: NDArray[np.uint8],
    rectangles: NDArray[np.int16],
) -> int:
    """Fill the rows of a block; return how many were filled before one could not be."""
    for s in range(len(n_rectangles)):
        open_stream(work.stream, key, start + s)
        n = draw_scene(settings, work, tally)
        if n == 0:
            return s
        for i in range(len(work.permutation)):
            work.permutation[i] = i
        shuffle(work.stream, work.permutation)
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
    return len(n_rectangles)


@kernel
def draw_scene(settings: Settings, work: Workspace, tally: NDArray[np.int64]) -> int:
    """Draw scenes until one can be kept; return its number of rectangles, 0 if none could.

    Its sides, grid, cues and ranks stand in the workspace.
    """
    for _ in range(MAX_DRAWS):
        n = draw_once(settings, work, tally)
        if n > 0:
            return n
    return 0


@kernel
def draw_once(settings: Settings, work: Workspace, tally: NDArray[np.int64]) -> int:
    """Draw one scene; return its number of rectangles, 0 if it cannot be kept."""
    n = place(work.stream, settings, work.sides, work.grid, work.trial)
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
    tally[KEPT + verdict] += 1
    if verdict != 0:
        return 0
    if n < settings.n_rectangles:
        tally[SHORT] += 1
    return n
