"""The samples: a function of config, split and index, and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square.centres import centres_of, sizes
from synthprobe_data.centered_square.columns import COLUMNS
from synthprobe_data.centered_square.config import CenteredSquareConfig
from synthprobe_data.dataset import Block, empty_block
from synthprobe_data.errors import SynthprobeError

DATASET: Final = "centered-square"
WHITE: Final = 255


def generate_block(
    config: CenteredSquareConfig, _seed: int, split: str, start: int, count: int
) -> Block:
    """Samples ``start .. start + count - 1`` of a split: the columns by name."""
    centres = centres_of(config, split)
    if start + count > len(centres):
        raise SynthprobeError(
            f"{split} of {DATASET} has {len(centres)} samples with these settings: there is none "
            f"at {max(start, len(centres))}."
        )
    block = empty_block(COLUMNS, config, count)
    paint(config, centres[start : start + count], block)
    return block


def paint(config: CenteredSquareConfig, centres: NDArray[np.int16], block: Block) -> None:
    """Fill an empty block: the white pixel, and the square around it."""
    reach = config.square // 2
    block["center"][:] = centres
    for s, (row, column) in enumerate(centres.tolist()):
        block["image"][s, row, column] = WHITE
        block["target"][s, row - reach : row + reach + 1, column - reach : column + reach + 1] = (
            WHITE
        )


def check_sizes(config: CenteredSquareConfig, splits: Mapping[str, int]) -> None:
    """Raise `SynthprobeError` if a split does not have so many samples."""
    for split, most in sizes(config).items():
        if splits.get(split, 0) > most:
            raise SynthprobeError(
                f"{split} is {splits[split]}: there are {most} {split} samples with these settings."
            )
