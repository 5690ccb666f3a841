"""Settings and pairs of twins, for tests with Hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import MODES
from synthprobe_data.strategies.common import drawn, seeds, splits
from synthprobe_data.twins.config import TwinsConfig
from synthprobe_data.twins.generate import generate_block

__all__ = ["TwinPair", "twin_pairs", "twins_configs"]

_DEFAULTS: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "height": st.integers(8, 24),
    "width": st.integers(16, 40),
    "n_rectangles": st.integers(2, 4),
    "n_vis": st.integers(0, 2),
    "n_gap": st.integers(0, 2),
    "n_par": st.integers(0, 2),
    "min_size": st.sampled_from([0.0, 0.1, 0.3]),
    "trials": st.sampled_from([100, 400]),
    "blur": st.sampled_from([0.0, 0.5, 0.7, 1.0]),
    "bands": st.integers(1, 3),
    "band_gap": st.integers(8, 10),
    "min_distance": st.integers(1, 6),
    "mode": st.sampled_from(MODES),
    "difficulty": st.booleans(),
}


@dataclass(frozen=True, kw_only=True)
class TwinPair:
    """Two twins and all that they are a function of."""

    config: TwinsConfig
    seed: int
    split: str
    index: int
    """Of the pair: its samples are 2 index and 2 index + 1."""
    block: Block
    """The arrays by name; the two rows are the twins."""

    @property
    def n(self) -> int:
        """The number of rectangles in the picture."""
        return int(self.block["n_rectangles"][0])

    @property
    def k(self) -> int:
        """The rectangles k and k + 1 are exchanged."""
        return int(self.block["pair"][0, 0])

    @property
    def rectangles(self) -> NDArray[np.int64]:
        """The rectangles of both twins, without the unused rows: (2, n, 4)."""
        return np.array(self.block["rectangles"][:, : self.n], np.int64)


@st.composite
def twins_configs(draw: st.DrawFn, /, **settings: Any) -> TwinsConfig:
    """Settings of small pictures, each one drawn by itself: strips or squares, one band or more.

    Parameters
    ----------
    **settings
        Settings of `TwinsConfig` to hold fixed, or to draw from the strategy given.
    """
    values = {name: drawn(draw, wanted) for name, wanted in {**_DEFAULTS, **settings}.items()}
    return TwinsConfig(**values)


@st.composite
def twin_pairs(
    draw: st.DrawFn, config: TwinsConfig | st.SearchStrategy[TwinsConfig] | None = None
) -> TwinPair:
    """A pair as the generator makes it, with its config, seed, split and index.

    Parameters
    ----------
    config
        The settings, or a strategy for them; `twins_configs` unless stated.
    """
    taken: TwinsConfig = drawn(draw, twins_configs() if config is None else config)
    seed, split, index = draw(seeds()), draw(splits()), draw(st.integers(0, 2**31))
    try:
        block = generate_block(taken, seed, split, 2 * index, 2)
    except SynthprobeError:  # settings by which next to no pair can be kept
        reject()
    return TwinPair(config=taken, seed=seed, split=split, index=index, block=block)
