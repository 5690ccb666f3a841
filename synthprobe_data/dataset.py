"""What the shared rooms need to know of a dataset: name, sizes, and how to make its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.settings import Config

Block = dict[str, NDArray[Any]]
"""Some consecutive samples: the arrays by name; one row is one sample."""


@dataclass(frozen=True)
class SettingFlag:
    """A setting that the command spells as a flag, when it is not the default."""

    flag: str
    setting: str
    value: Any
    meaning: str


def _any_sizes(_config: Any, _splits: Mapping[str, int]) -> None:
    """Splits of any size will do."""


def _any_settings(_config: Any) -> None:
    """Samples of any settings may be made."""


def _as_asked(_config: Any, _splits: Mapping[str, int]) -> None:
    """Samples are just what the settings ask for."""


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
    sizes: Callable[[Any], dict[str, int]]
    """``sizes(config)``: the canonical number of samples of each split, in the file's order."""
    drawn: bool = True
    """Whether samples are drawn at random, for any split and without end.

    If not, `sizes` has all that there are, and they are the same for every seed.
    """
    check_sizes: Callable[[Any, Mapping[str, int]], None] = _any_sizes
    """``check_sizes(config, splits)``: `SynthprobeError` if there cannot be so many samples."""
    check_new: Callable[[Any], None] = _any_settings
    """``check_new(config)``: `SynthprobeError` if new samples would not be what they are called.

    Files of such settings are still read, and their samples made again to compare.
    """
    check_expected: Callable[[Any, Mapping[str, int]], str | None] = _as_asked
    """``check_expected(config, splits)``: looks ahead at what a run would make.

    A sentence if that falls short of what the settings ask for; `SynthprobeError` if there is no
    point in it.
    """
    empty_block: Callable[[Any, int], Block]
    """``empty_block(config, count)``: the arrays of a block, not yet filled."""
    generate_block: Callable[[Any, int, str, int, int], tuple[Block, NDArray[np.int64]]]
    """``generate_block(config, seed, split, start, count)``: filled, and a tally of draws."""
    attributes: Callable[[Any], dict[str, Any]]
    """``attributes(config)``: what the file says beside the common attributes."""
    flags: tuple[SettingFlag, ...] = ()
    """The settings that are flags of the command."""
    examples: str
    """Commands with what they do, for the help of the command."""
    license: str
    """SPDX identifier of the data's licence."""
    citation: str
    """BibTeX."""

    def end(self, config: Config, split: str) -> int | None:
        """One past the last index of a split; ``None`` if it has no end."""
        if self.drawn:
            return None
        sizes = self.sizes(config)
        if split not in sizes:
            raise SynthprobeError(
                f"{self.name} has no split {split!r}: it has {' and '.join(sizes)}."
            )
        return sizes[split]
