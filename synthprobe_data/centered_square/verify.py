"""Checking the rows of a file: derive them again from their centres and compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square.centres import centres_of, fitting, sizes
from synthprobe_data.centered_square.columns import COLUMNS
from synthprobe_data.centered_square.config import CenteredSquareConfig
from synthprobe_data.centered_square.generate import paint
from synthprobe_data.dataset import Block, empty_block

_SENTENCES: Final = {
    "center": "its center is not one at which the square fits into the picture.",
    "split": "its center is not the one that this place in its split has: train has the central "
    "half of the centres on both axes, test all others, each row by row.",
    "image": "image is not black but for one white pixel in its center.",
    "target": "target is not black but for the white square around its center.",
}
_CENTER, _SPLIT, _IMAGE, _TARGET = (1 << bit for bit in range(len(_SENTENCES)))


def row_checks(_config: CenteredSquareConfig) -> dict[str, str]:
    """The checks of a row by name, each with the sentence for a row that fails it.

    Bit i of a mask of `check_block` is the i-th of them.
    """
    return dict(_SENTENCES)


def check_block(
    config: CenteredSquareConfig, block: Block, row_ids: Sequence[tuple[str, int]]
) -> NDArray[np.uint32]:
    """For each row of a block, the mask of the checks that it fails; 0 when all is well.

    A row whose square does not fit gets no further check. ``row_ids`` has the split and the index
    of each row.
    """
    center = block["center"].astype(np.int64)
    fits = np.ones(len(center), bool)
    for axis, size in enumerate((config.height, config.width)):
        span = fitting(size, config.square)
        fits &= (center[:, axis] >= span.start) & (center[:, axis] < span.stop)
    failed = np.where(fits, 0, _CENTER).astype(np.uint32)
    good = np.flatnonzero(fits)
    right = empty_block(COLUMNS, config, len(good))
    paint(config, block["center"][good], right)
    for name, bit in (("image", _IMAGE), ("target", _TARGET)):
        differ = (block[name][good] != right[name]).any(axis=(1, 2))
        failed[good[differ]] |= bit
    ends = sizes(config)
    for s in good.tolist():
        split, index = row_ids[s]
        if index >= ends.get(split, 0) or (centres_of(config, split)[index] != center[s]).any():
            failed[s] |= _SPLIT
    return failed
