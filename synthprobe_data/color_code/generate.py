"""The samples: a function of config, seed, split and index, and of nothing else."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.color_code.columns import COLUMNS
from synthprobe_data.color_code.config import ALL_COLORS, ColorCodeConfig
from synthprobe_data.dataset import Block, empty_block
from synthprobe_data.kernel import kernel
from synthprobe_data.random import STREAM_LENGTH, draw_below, open_stream, stream_key

DATASET: Final = "color-code"

# Places in a tally: colours that were too near to another one, and masks of a colour that revealed
# it nowhere. Each was drawn again.
NEAR_COLORS, HIDDEN_COLORS = range(2)


class Settings(NamedTuple):
    """A config as the kernels take it."""

    colors: int
    codes: int
    hidden: int
    """A position is masked when a number below ``whole`` is below ``hidden``."""
    whole: int
    min_distance: int
    well_posed: bool


class Workspace(NamedTuple):
    """All the room that drawing a sample takes, made once for a config."""

    stream: NDArray[np.uint64]
    rgb: NDArray[np.int64]
    """The colours: (colors, 3)."""
    codes: NDArray[np.int64]
    """The code of each colour, its bits as one number."""
    occurs: NDArray[np.bool_]
    shown: NDArray[np.bool_]
    """Whether each colour is revealed somewhere."""


@functools.lru_cache(maxsize=8)
def prepare(config: ColorCodeConfig) -> tuple[Settings, Workspace]:
    """Prepare a config once; threads may share its workspace, since a kernel holds the GIL."""
    share, k = config.masked_share, config.colors
    settings = Settings(
        colors=k,
        codes=2**config.bits,
        hidden=share.numerator,
        whole=share.denominator,
        min_distance=config.min_distance,
        well_posed=config.mode == "well-posed",
    )
    workspace = Workspace(
        stream=np.zeros(STREAM_LENGTH, np.uint64),
        rgb=np.zeros((k, 3), np.int64),
        codes=np.zeros(k, np.int64),
        occurs=np.zeros(k, np.bool_),
        shown=np.zeros(k, np.bool_),
    )
    return settings, workspace


def generate_block(config: ColorCodeConfig, seed: int, split: str, start: int, count: int) -> Block:
    """Samples ``start .. start + count - 1`` of a split: the columns by name."""
    block, _ = generate_with_tally(config, seed, split, start, count)
    return block


def generate_with_tally(
    config: ColorCodeConfig, seed: int, split: str, start: int, count: int
) -> tuple[Block, NDArray[np.int64]]:
    """The same samples, and a tally of what was drawn again.

    Returns
    -------
    block
        The datasets by name.
    tally
        Counts by ``NEAR_COLORS`` and ``HIDDEN_COLORS``.
    """
    settings, workspace = prepare(config)
    block = empty_block(COLUMNS, config, count)
    tally = np.zeros(2, np.int64)
    _fill_block(
        settings,
        stream_key(seed, DATASET, split),
        start,
        workspace,
        tally,
        block["code"],
        block["color"],
        block["group"],
        block["revealed"],
    )
    return block, tally


@kernel
def _fill_block(
    settings: Settings,
    key: NDArray[np.uint64],
    start: int,
    work: Workspace,
    tally: NDArray[np.int64],
    code: NDArray[np.uint8],
    color: NDArray[np.uint8],
    group: NDArray[np.uint8],
    revealed: NDArray[np.uint8],
) -> None:
    """Fill the rows of a block: colours, codes, sigma, mask (twin: `reference.draw_sample`)."""
    count, positions, bits = code.shape
    for s in range(count):
        open_stream(work.stream, key, start + s)
        for c in range(settings.colors):
            _draw_color(settings, work, c, tally)
        for c in range(settings.colors):
            work.codes[c] = draw_below(work.stream, settings.codes)
        for i in range(positions):
            group[s, i] = draw_below(work.stream, settings.colors)
        for i in range(positions):
            revealed[s, i] = draw_below(work.stream, settings.whole) >= settings.hidden
        if settings.well_posed:
            _reveal_each_color(settings, work, group[s], revealed[s], tally)
        for i in range(positions):
            c = group[s, i]
            for channel in range(3):
                color[s, i, channel] = work.rgb[c, channel]
            for bit in range(bits):
                code[s, i, bit] = work.codes[c] >> bit & 1


@kernel
def _draw_color(settings: Settings, work: Workspace, c: int, tally: NDArray[np.int64]) -> None:
    """Draw the colour c; when well-posed, until it is far enough from all colours before it.

    The config sees to it that every second one is, at worst.
    """
    while True:
        number = draw_below(work.stream, ALL_COLORS)
        work.rgb[c, 0] = number >> 16
        work.rgb[c, 1] = number >> 8 & 255
        work.rgb[c, 2] = number & 255
        near = False
        if settings.well_posed:
            for other in range(c):
                distance = 0
                for channel in range(3):
                    difference = abs(work.rgb[c, channel] - work.rgb[other, channel])
                    distance = max(distance, difference)
                if distance < settings.min_distance:
                    near = True
        if not near:
            return
        tally[NEAR_COLORS] += 1


@kernel
def _reveal_each_color(
    settings: Settings,
    work: Workspace,
    group: NDArray[np.uint8],
    revealed: NDArray[np.uint8],
    tally: NDArray[np.int64],
) -> None:
    """Draw the mask of each colour that occurs and is revealed nowhere again, until it is.

    The config sees to it that one in a hundred reveals it, at worst.
    """
    for c in range(settings.colors):
        work.occurs[c] = False
        work.shown[c] = False
    for i in range(len(group)):
        work.occurs[group[i]] = True
        if revealed[i]:
            work.shown[group[i]] = True
    for c in range(settings.colors):
        if not work.occurs[c]:
            continue
        while not work.shown[c]:
            tally[HIDDEN_COLORS] += 1
            for i in range(len(group)):
                if group[i] == c:
                    revealed[i] = draw_below(work.stream, settings.whole) >= settings.hidden
                    if revealed[i]:
                        work.shown[c] = True
