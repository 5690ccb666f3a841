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


@dataclass(frozen=True)
class RowChecks:
    """The checks of a dataset that look at one row at a time."""

    names: Callable[[Any], dict[str, str]]
    """``names(config)``: the checks by name, each with the sentence for a row that fails it."""
    check_block: Callable[[Any, Block], NDArray[np.uint32]]
    """``check_block(config, block)``: for each row, bit i is set when it fails the i-th check."""


ROW_CHECKS: Final[Mapping[str, RowChecks]] = {
    RDE.name: RowChecks(rde.row_checks, rde.check_block),
}
"""By the name of the dataset; rows of others are only decoded and hashed."""
