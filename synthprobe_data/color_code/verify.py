"""Checking the rows of a file: whether they keep the rules of their config."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.color_code.columns import COLUMNS
from synthprobe_data.color_code.config import MAX_COLORS, ColorCodeConfig
from synthprobe_data.dataset import Block
from synthprobe_data.kernel import kernel

_SENTENCES: Final = {
    "group": "a number in group is not below the number of colours.",
    "color": "two positions of one group differ in their color.",
    "code": "a bit of its code is neither 0 nor 1, or two positions of one group differ in it.",
    "revealed": "a number in revealed is neither 0 nor 1.",
    "distance": "two of its colours are nearer to each other than min_distance.",
    "decided": "a colour that occurs is revealed nowhere.",
}
_ONLY_WELL_POSED: Final = ("distance", "decided")
_GROUP, _COLOR, _CODE, _REVEALED, _DISTANCE, _DECIDED = (1 << b for b in range(len(_SENTENCES)))


def row_checks(config: ColorCodeConfig) -> dict[str, str]:
    """The checks of a row by name, each with the sentence for a row that fails it.

    Bit i of a mask of `check_block` is the i-th of them. What makes a sample well-posed is only
    asked of files that state it.
    """
    if config.mode == "well-posed":
        return dict(_SENTENCES)
    return {name: text for name, text in _SENTENCES.items() if name not in _ONLY_WELL_POSED}


def check_block(
    config: ColorCodeConfig, block: Block, _row_ids: Sequence[tuple[str, int]]
) -> NDArray[np.uint32]:
    """For each row of a block, the mask of the checks that it fails; 0 when all is well."""
    stored: dict[str, NDArray[Any]] = {
        column.name: np.require(block[column.name], column.dtype, ["C", "W"]) for column in COLUMNS
    }
    failed = np.zeros(len(block["group"]), np.uint32)
    _check_block(
        config.colors,
        config.min_distance if config.mode == "well-posed" else 0,
        config.mode == "well-posed",
        np.zeros(MAX_COLORS, np.int64),
        np.zeros(MAX_COLORS, np.bool_),
        stored["code"],
        stored["color"],
        stored["group"],
        stored["revealed"],
        failed,
    )
    return failed


@kernel
def _check_block(
    colors: int,
    min_distance: int,
    well_posed: bool,
    first: NDArray[np.int64],
    shown: NDArray[np.bool_],
    code: NDArray[np.uint8],
    color: NDArray[np.uint8],
    group: NDArray[np.uint8],
    revealed: NDArray[np.uint8],
    failed: NDArray[np.uint32],
) -> None:
    """Set the mask of each row of a block (twin: `reference.broken_rules`).

    ``first`` and ``shown`` are room for one sample: the first position of each group, and whether
    it is revealed somewhere.
    """
    positions, bits = code.shape[1], code.shape[2]
    for s in range(len(failed)):
        mask = 0
        for g in range(len(first)):
            first[g] = -1
            shown[g] = False
        for i in range(positions):
            g = group[s, i]
            if g >= colors:
                mask |= _GROUP
            if revealed[s, i] > 1:
                mask |= _REVEALED
            if revealed[s, i]:
                shown[g] = True
            if first[g] < 0:
                first[g] = i
            for channel in range(3):
                if color[s, i, channel] != color[s, first[g], channel]:
                    mask |= _COLOR
            for bit in range(bits):
                if code[s, i, bit] > 1 or code[s, i, bit] != code[s, first[g], bit]:
                    mask |= _CODE
        if well_posed:
            for g in range(len(first)):
                if first[g] >= 0 and not shown[g]:
                    mask |= _DECIDED
                for other in range(g):
                    if first[g] >= 0 and first[other] >= 0:
                        if _distance(color[s, first[g]], color[s, first[other]]) < min_distance:
                            mask |= _DISTANCE
        failed[s] = mask


@kernel
def _distance(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> int:
    """The greatest difference of two colours in red, green or blue."""
    greatest = 0
    for channel in range(3):
        # As int64 first: numba takes the difference of bytes without a sign.
        greatest = max(greatest, int(abs(np.int64(a[channel]) - np.int64(b[channel]))))
    return greatest
