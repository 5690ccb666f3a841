"""What the shared rooms need to know of a dataset: name, sizes, and how to make its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.settings import Config

Block = dict[str, NDArray[Any]]
"""Some consecutive samples: the arrays by name; one row is one sample."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset as the writers, readers and commands see it."""

    name: str
    """As in the command and in the file."""
    title: str
    """One line for people."""
    version: str
    """Raised whenever a sample changes."""
    config: type[Config]
    """The class of its settings; its defaults are the canonical ones."""
    splits: Mapping[str, int]
    """The canonical number of samples of each split, in the order of the file."""
    empty_block: Callable[[Any, int], Block]
    """``empty_block(config, count)``: the arrays of a block, not yet filled."""
    generate_block: Callable[[Any, int, str, int, int], tuple[Block, NDArray[np.int64]]]
    """``generate_block(config, seed, split, start, count)``: filled, and a tally of draws."""
    attributes: Callable[[Any], dict[str, Any]]
    """``attributes(config)``: what the file says beside the common attributes."""
    license: str
    """SPDX identifier of the data's licence."""
    citation: str
    """BibTeX."""
