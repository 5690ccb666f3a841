"""How the rows of each dataset are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square import CENTERED_SQUARE
from synthprobe_data.centered_square import verify as centered_square
from synthprobe_data.color_code import COLOR_CODE
from synthprobe_data.color_code import verify as color_code
from synthprobe_data.dataset import Block
from synthprobe_data.rde import RDE
from synthprobe_data.rde import verify as rde
from synthprobe_data.rde.verify_pixels import check_pixels_readable, read_pixels


@dataclass(frozen=True)
class PixelChecks:
    """How the rows of a dataset are read from their pixels alone."""

    check_config: Callable[[Any], None]
    """``check_config(config)``: `SynthprobeError` if such pictures cannot be read."""
    read_block: Callable[[Any, Block], tuple[list[tuple[int, str]], dict[str, int]]]
    """``read_block(config, block)``: the rows that fail, with a sentence, and counts by name."""


@dataclass(frozen=True)
class RowChecks:
    """The checks of a dataset that look at one row at a time."""

    names: Callable[[Any], dict[str, str]]
    """``names(config)``: the checks by name, each with the sentence for a row that fails it."""
    check_block: Callable[[Any, Block, Sequence[tuple[str, int]]], NDArray[np.uint32]]
    """``check_block(config, block, places)``: for each row, bit i is set when it fails check i.

    ``places`` has the split and the index of each row.
    """
    solver: PixelChecks | None = None
    """How to read the answer off the pixels, where a solver does that."""


ROW_CHECKS: Final[Mapping[str, RowChecks]] = {
    RDE.name: RowChecks(
        rde.row_checks, rde.check_block, PixelChecks(check_pixels_readable, read_pixels)
    ),
    CENTERED_SQUARE.name: RowChecks(centered_square.row_checks, centered_square.check_block),
    COLOR_CODE.name: RowChecks(color_code.row_checks, color_code.check_block),
}
"""By the name of the dataset."""
