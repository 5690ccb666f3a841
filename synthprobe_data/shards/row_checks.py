"""How the rows of each dataset are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

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
    check_block: Callable[[Any, Block], NDArray[np.uint32]]
    """``check_block(config, block)``: for each row, bit i is set when it fails the i-th check."""
    solver: PixelChecks | None = None
    """How to read the answer off the pixels, where a solver does that."""


ROW_CHECKS: Final[Mapping[str, RowChecks]] = {
    RDE.name: RowChecks(
        rde.row_checks, rde.check_block, PixelChecks(check_pixels_readable, read_pixels)
    ),
}
"""By the name of the dataset; rows of others are only decoded and hashed."""
