"""Pairs of twins: a function of config, seed, split and index, and of nothing else."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block, empty_block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel
from synthprobe_data.random import draw_below, open_stream, stream_key
from synthprobe_data.rde.demands import demand_words, demanded
from synthprobe_data.rde.generate import (
    Prepared,
    Workspace,
    copy_palette,
    give_colors,
    no_colors,
    prepare_settings,
    write_row,
)
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.kernels.grid import empty_sides
from synthprobe_data.rde.kernels.place import Settings, kernel_settings
from synthprobe_data.rde.kernels.render import UNIT
from synthprobe_data.twins.columns import COLUMNS
from synthprobe_data.twins.config import TWINS_OF_A_PAIR, TwinsConfig
from synthprobe_data.twins.draw import TALLIED, Bands, Twins, draw_band
from synthprobe_data.twins.exchange import read_scene, swap_sides

DATASET: Final = "twins"
MAX_DRAWS: Final = 10_000
MAX_DRAWS_OF_TWO: Final = 100_000
MAX_TRIALS: Final = 100_000_000
"""Scenes drawn for one band before the settings are given up, which takes seconds: so many, more of
two rectangles, which are soon drawn, or where they must be hard, but fewer where each may take many
trials."""


class PreparedTwins(NamedTuple):
    """What all blocks of a config have in common."""

    bands: Bands
    band: Settings
    """Of the scene of one band."""
    picture: Prepared
    """Of the whole picture, which is a scene, too."""
    twins: Twins


@functools.lru_cache(maxsize=8)
def prepare(config: TwinsConfig) -> PreparedTwins:
    """Prepare a config once; threads may share its workspace, since a kernel holds the GIL."""
    height, width = config.picture_height, config.width
    band = kernel_settings(config.band)
    picture = prepare_settings(band._replace(height=height), config, config.blur)
    return PreparedTwins(
        bands=Bands(
            number=config.bands,
            pitch=config.height + config.band_gap,
            min_distance=config.min_distance,
            draws=_most_draws(config),
            shows=int(_surely_shows(picture)),
        ),
        band=band,
        picture=picture,
        twins=Twins(
            sides=empty_sides(),
            image=np.zeros((2, height, 3 * width), np.uint8),
            label=np.zeros((2, height, width), np.uint8),
            rank=np.zeros((2, height, width), np.uint8),
        ),
    )


def _most_draws(config: TwinsConfig) -> int:
    """How many scenes are drawn for one band before the settings are given up."""
    many = config.band.least_rectangles == 2 or demanded(config)
    most = MAX_DRAWS_OF_TWO if many else MAX_DRAWS
    return min(most, max(1, MAX_TRIALS // config.trials))


def _surely_shows(picture: Prepared) -> bool:
    """Whether a pixel that shows another rectangle in the other twin has another colour there.

    All that differs between the twins is where they show the one colour of the pair instead of the
    other. Such a pixel itself has the middle weight of the blur on both axes, so it differs by at
    least that share of the difference of the colours; from one grey level on, the bytes differ.
    """
    palette = picture.palette.astype(np.int64)
    apart = np.abs(palette[:, None] - palette[None]).max(axis=2)
    least = picture.settings.apart or apart[~np.eye(len(palette), dtype=np.bool_)].min()
    middle = int(picture.weights[len(picture.weights) // 2])
    return bool(middle * middle * least >= UNIT * UNIT)


def generate_block(config: TwinsConfig, seed: int, split: str, start: int, count: int) -> Block:
    """Samples ``start .. start + count - 1`` of a split: the columns by name.

    Samples 2 i and 2 i + 1 are twins. A block may begin or end between two of them.
    """
    block, _ = generate_with_tally(config, seed, split, start, count)
    return block


def generate_with_tally(
    config: TwinsConfig, seed: int, split: str, start: int, count: int
) -> tuple[Block, NDArray[np.int64]]:
    """The same samples, and a tally of the scenes drawn.

    Returns
    -------
    block
        The datasets by name.
    tally
        Counts by ``KEPT``, ``SINGLE``, ``FIXED``, ``NEAR`` and ``EASY`` (`draw`), of all pairs.
    """
    prepared = prepare(config)
    first = start // TWINS_OF_A_PAIR
    end = -(-(start + count) // TWINS_OF_A_PAIR)
    block = empty_block(COLUMNS, config, TWINS_OF_A_PAIR * (end - first))
    tally = np.zeros(TALLIED, np.int64)
    done = _fill(prepared, config, seed, split, start, tally, block)
    if done < 0:
        raise SynthprobeError(no_colors(f"{split} pair {first - 1 - done}"))
    if done < end - first:
        demands = demand_words(config)
        raise SynthprobeError(
            f"none of {prepared.bands.draws} scenes drawn for {split} pair {first + done} could be "
            + (f"kept, as {demands} is demanded: give less, " if demands else "kept: give ")
            + "a smaller min_distance or min_size, larger bands, or smaller n_vis, n_gap and n_par."
        )
    skipped = start - TWINS_OF_A_PAIR * first
    block = {name: rows[skipped : skipped + count] for name, rows in block.items()}
    if config.difficulty:
        block |= difficulty_block(
            block["rectangles"],
            block["n_rectangles"],
            height=config.picture_height,
            width=config.width,
        )
    return block, tally


def _fill(
    prepared: PreparedTwins,
    config: TwinsConfig,
    seed: int,
    split: str,
    start: int,
    tally: NDArray[np.int64],
    block: Block,
) -> int:
    """Fill the pairs of a block; what it returns is what `_fill_block` does."""
    done: int = _fill_block(
        prepared.bands,
        prepared.band,
        prepared.picture.settings,
        stream_key(seed, DATASET, split),
        start,
        prepared.picture.palette,
        prepared.picture.weights,
        prepared.picture.workspace,
        prepared.twins,
        tally,
        block.get("palette"),
        block["distance"],
        block["pair"],
        block["above"],
        block["color"],
        block["image"].reshape(-1, config.picture_height, 3 * config.width),
        block["label"],
        block["n_rectangles"],
        block["rank"],
        block["rectangle_rank"],
        block["rectangles"],
    )
    return done


def count_draws(
    config: TwinsConfig, seed: int, split: str, pairs: int, draws: int
) -> NDArray[np.int64]:
    """Tally the scenes of the first pairs of a split, until one needs more than so many."""
    prepared = prepare(config)
    block = empty_block(COLUMNS, config, TWINS_OF_A_PAIR * pairs)
    tally = np.zeros(TALLIED, np.int64)
    _fill(
        prepared._replace(bands=prepared.bands._replace(draws=draws)),
        config,
        seed,
        split,
        0,
        tally,
        block,
    )
    return tally


@kernel
def _fill_block(
    bands: Bands,
    band: Settings,
    picture: Settings,
    key: NDArray[np.uint64],
    start: int,
    palette: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    twins: Twins,
    tally: NDArray[np.int64],
    palettes: NDArray[np.uint8] | None,
    distance: NDArray[np.uint16],
    pair: NDArray[np.uint8],
    above: NDArray[np.uint8],
    color: NDArray[np.uint8],
    image: NDArray[np.uint8],
    label: NDArray[np.uint8],
    n_rectangles: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    rectangle_rank: NDArray[np.uint8],
    rectangles: NDArray[np.int16],
) -> int:
    """Fill the pairs of a block (`reference.draw_pair`); return how many could be.

    If colours could not be drawn for pair p, return -1 - p.
    """
    pairs = len(n_rectangles) // 2
    for p in range(pairs):
        open_stream(work.stream, key, start // 2 + p)
        if not give_colors(picture, work, palette, palettes, 2 * p):
            return -1 - p
        if palettes is not None:
            copy_palette(palette, palettes, 2 * p + 1)
        chosen = draw_below(work.stream, bands.number)
        n = exchanged = 0
        for b in range(bands.number):
            drawn, k = draw_band(
                bands, band, picture, palette, weights, work, twins, b, n, distance[2 * p], tally
            )
            if drawn == 0:
                return p
            if b == chosen:
                exchanged = n + k
                for y in range(distance.shape[1]):
                    for x in range(distance.shape[2]):
                        distance[2 * p + 1, y, x] = distance[2 * p, y, x]
            for i in range(drawn):
                for side in range(4):
                    twins.sides[side, n + i] = work.sides[side, i]
            if draw_below(work.stream, 2) == 1:
                exchange(twins.sides, work.permutation, n + k)
            n += drawn
        for s in range(2 * p, 2 * p + 2):
            for i in range(n):
                for side in range(4):
                    work.sides[side, i] = twins.sides[side, i]
            read_scene(picture, work, n)
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
            # The same rectangle first in both, though its place in the order is another one.
            pair[s, s % 2], pair[s, 1 - s % 2] = exchanged, exchanged + 1
            exchange(twins.sides, work.permutation, exchanged)
        for y in range(distance.shape[1]):
            for x in range(distance.shape[2]):
                distance[2 * p, y, x] = distance[2 * p + 1, y, x]
    return pairs


@kernel
def exchange(sides: NDArray[np.int64], permutation: NDArray[np.uint8], k: int) -> None:
    """Exchange the rectangles k and k + 1 in the painting order; they keep their colours."""
    swap_sides(sides, k)
    permutation[k], permutation[k + 1] = permutation[k + 1], permutation[k]
