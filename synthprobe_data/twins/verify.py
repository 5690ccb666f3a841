"""Checking the rows of a file: as scenes of RDE, and as twins.

A row names the two rectangles that its twin exchanges, so its twin can be made from it: it is
checked whether that twin could be kept, and which pixels count. Where the row beside it is at hand,
that row must be the twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.kernel import kernel
from synthprobe_data.rde.demands import demanded, meet_demands
from synthprobe_data.rde.generate import NO_PALETTES, Workspace
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.kernels.place import Settings
from synthprobe_data.rde.verify import are_painted, check_scenes, scene_checks
from synthprobe_data.twins.config import TwinsConfig
from synthprobe_data.twins.draw import Bands, Twins, measure
from synthprobe_data.twins.exchange import is_ordered, read_scene, twin_is_kept
from synthprobe_data.twins.generate import prepare

_SENTENCES: Final = {
    "bands": "its rectangles do not lie in the bands, one band after the other, two in each.",
    "pair": "pair does not name two rectangles that are neighbours in the painting order.",
    "exchange": "the two rectangles of its pair cannot be exchanged.",
    "distance": "distance is not the information distance of the pixels that count.",
    "min_distance": "none of its counted pixels is as far as min_distance.",
    "twin": "the sample beside it is not its twin.",
}
_BANDS, _PAIR, _EXCHANGE, _DISTANCE, _MIN_DISTANCE, _TWIN = (1 << b for b in range(len(_SENTENCES)))


def _scene_checks(config: TwinsConfig) -> dict[str, str]:
    return scene_checks(
        config.mode,
        config.difficulty,
        random_palette=config.random_palette,
        demands=bool(demanded(config)),
    )


def row_checks(config: TwinsConfig) -> dict[str, str]:
    """The checks of a row by name, each with the sentence for a row that fails it.

    Bit i of a mask of `check_block` is the i-th of them.
    """
    return {**_scene_checks(config), **_SENTENCES}


def check_block(
    config: TwinsConfig, block: Block, places: Sequence[tuple[str, int]]
) -> NDArray[np.uint32]:
    """For each row of a block, the mask of the checks that it fails; 0 when all is well.

    A row that cannot be painted is not checked as a twin; ``places`` has the split and the index of
    each row.
    """
    prepared = prepare(config)
    of_scenes = _scene_checks(config)
    failed = check_scenes(prepared.picture, of_scenes, block)
    if "demands" in of_scenes:
        failed[_too_easy(config, block, failed)] |= 1 << list(of_scenes).index("demands")
    pair = np.require(block["pair"], np.uint8, ["C", "W"])
    # The first of two twins names the one that is beneath first, the second one the other way.
    turned = np.array([index % 2 == 1 for _, index in places], np.bool_)
    lower = np.where(turned, pair[:, 1], pair[:, 0]).astype(np.int64)
    upper = np.where(turned, pair[:, 0], pair[:, 1]).astype(np.int64)
    masks = np.zeros(len(failed), np.uint32)
    there = np.minimum(block["n_rectangles"], block["rectangles"].shape[1])
    masks[(upper != lower + 1) | (upper >= there)] = _PAIR
    _check_rows(
        prepared.bands,
        prepared.band.height,
        prepared.picture.settings,
        prepared.picture.palette,
        np.require(block.get("palette", NO_PALETTES), np.uint8, ["C", "W"]),
        prepared.picture.weights,
        prepared.picture.workspace,
        prepared.twins,
        np.zeros((config.picture_height, config.width), np.uint16),
        lower,
        are_painted(failed),
        np.require(block["color"], np.uint8, ["C", "W"]),
        np.require(block["distance"], np.uint16, ["C", "W"]),
        block["n_rectangles"].astype(np.int64),
        np.require(block["rectangles"], np.int16, ["C", "W"]),
        masks,
    )
    masks[_without_twin(block, lower, places, masks & _PAIR == 0)] |= _TWIN
    return failed | masks << np.uint32(len(of_scenes))


def _too_easy(config: TwinsConfig, block: Block, failed: NDArray[np.uint32]) -> list[int]:
    """The rows with a band that is not as hard as is demanded."""
    pitch = config.height + config.band_gap
    easy = []
    for row in np.flatnonzero(are_painted(failed)):
        rectangles = block["rectangles"][row, : block["n_rectangles"][row]]
        for band in range(config.bands):
            scene = rectangles[rectangles[:, 1] // pitch == band]
            found = difficulty_block(
                scene[None],
                np.array([len(scene)]),
                height=config.picture_height,
                width=config.width,
            )
            if not meet_demands(config, found)[0]:
                easy.append(int(row))
                break
    return easy


def _without_twin(
    block: Block,
    lower: NDArray[np.int64],
    places: Sequence[tuple[str, int]],
    named: NDArray[np.bool_],
) -> list[int]:
    """The rows beside which there is a row that is not their twin.

    All else that a row holds follows from these, and that is checked row by row.
    """
    row_of = {place: row for row, place in enumerate(places)}
    wrong = []
    for row, (split, index) in enumerate(places):
        twin = row_of.get((split, index ^ 1))
        if twin is None or not named[row]:
            continue
        same = int(lower[twin]) == int(lower[row]) and bool(named[twin])
        order = np.arange(block["rectangles"].shape[1])
        order[[lower[row], lower[row] + 1]] = order[[lower[row] + 1, lower[row]]]
        for name in ("rectangles", "color"):
            same = same and bool((block[name][twin] == block[name][row][order]).all())
        for name in {"n_rectangles", "distance", "palette"} & block.keys():
            same = same and bool((block[name][twin] == block[name][row]).all())
        if not same:
            wrong.append(row)
    return wrong


@kernel
def _check_rows(
    bands: Bands,
    height: int,
    picture: Settings,
    palette: NDArray[np.uint8],
    palettes: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    work: Workspace,
    twins: Twins,
    measured: NDArray[np.uint16],
    lower: NDArray[np.int64],
    painted: NDArray[np.bool_],
    color: NDArray[np.uint8],
    distance: NDArray[np.uint16],
    n_rectangles: NDArray[np.int64],
    rectangles: NDArray[np.int16],
    masks: NDArray[np.uint32],
) -> None:
    """Add to the mask of each row (`reference` has a twin for each thing derived here).

    ``measured`` is room for one sample.
    """
    for s in range(len(masks)):
        if not painted[s]:
            continue
        if len(palettes):
            palette = palettes[s]
        n, k = n_rectangles[s], lower[s]
        for i in range(n):
            work.permutation[i] = color[s, i]
            for side in range(4):
                work.sides[side, i] = rectangles[s, i, side]
        if not _lie_in_bands(bands, height, work.sides, n):
            masks[s] |= np.uint32(_BANDS)
        if masks[s] & np.uint32(_PAIR):
            continue
        read_scene(picture, work, n)
        if not is_ordered(work, k) or not twin_is_kept(picture, work, n, k):
            masks[s] |= np.uint32(_EXCHANGE)
        farthest = measure(picture, palette, weights, work, twins, n, k, 0, measured)
        if farthest < bands.min_distance:
            masks[s] |= np.uint32(_MIN_DISTANCE)
        if _differ(measured, distance[s]):
            masks[s] |= np.uint32(_DISTANCE)


@kernel
def _lie_in_bands(bands: Bands, height: int, sides: NDArray[Any], n: int) -> bool:
    """Whether each rectangle lies in a band, two or more in each, the bands in their order."""
    band = inside = 0
    for i in range(n):
        at = sides[1, i] // bands.pitch
        if at != band:
            if at != band + 1 or inside < 2:
                return False
            band, inside = at, 0
        if sides[3, i] > band * bands.pitch + height:
            return False
        inside += 1
    return band == bands.number - 1 and inside >= 2


@kernel
def _differ(a: NDArray[np.uint16], b: NDArray[np.uint16]) -> bool:
    """Whether two maps differ anywhere."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] != b[y, x]:
                return True
    return False
