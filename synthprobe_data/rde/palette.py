"""The colours of pictures: equally spaced hues, a list of one's own, or drawn for each picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.rde.kernels.render import hue_palette


class Colored(Protocol):
    """The settings that say which colours pictures have."""

    @property
    def palette(self) -> Any:
        """A word, or a list of colours."""

    @property
    def palette_size(self) -> int:
        """Number of colours."""

    @property
    def random_palette(self) -> bool:
        """Whether each picture draws its own."""


def fixed_palette(config: Colored) -> NDArray[np.uint8] | None:
    """The colours of all pictures, (n_colors, 3); ``None`` if each picture has its own."""
    if config.random_palette:
        return None
    if isinstance(config.palette, tuple):
        return np.array(config.palette, np.uint8)
    return hue_palette(config.palette_size)


def palette_of(config: Colored, sample: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The colours that ``color`` of a sample counts: (n_colors, 3)."""
    fixed = fixed_palette(config)
    return np.asarray(sample["palette"], np.uint8) if fixed is None else fixed
