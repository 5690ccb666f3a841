"""Settings and samples of Color Code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st
from numpy.typing import NDArray

from synthprobe_data.color_code.config import MODES, MOST_MASKED, ColorCodeConfig
from synthprobe_data.color_code.generate import generate_block
from synthprobe_data.strategies.common import drawn, seeds, splits

__all__ = ["ColorCodeSample", "color_code_configs", "color_code_samples"]

_DEFAULTS: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "positions": st.integers(1, 40),
    "colors": st.integers(1, 12),
    "masked": st.sampled_from([0.0, 0.1, 0.5, 0.9, MOST_MASKED])
    | st.decimals(0, "0.99", places=3).map(float),
    "bits": st.integers(1, 5),
    "min_distance": st.integers(1, 45),  # there is room for twelve colours
    "mode": st.sampled_from(MODES),
}


@dataclass(frozen=True, kw_only=True)
class ColorCodeSample:
    """A sample and all that it is a function of."""

    config: ColorCodeConfig
    seed: int
    split: str
    index: int
    sample: dict[str, NDArray[Any]]
    """The arrays by name, as in a row of the file."""


@st.composite
def color_code_configs(draw: st.DrawFn, /, **settings: Any) -> ColorCodeConfig:
    """Settings of short samples, each one drawn by itself: few colours or many, of either mode.

    Parameters
    ----------
    **settings
        Settings of `ColorCodeConfig` to hold fixed, or to draw from the strategy given.
    """
    values = {name: drawn(draw, wanted) for name, wanted in {**_DEFAULTS, **settings}.items()}
    return ColorCodeConfig(**values)


@st.composite
def color_code_samples(
    draw: st.DrawFn, config: ColorCodeConfig | st.SearchStrategy[ColorCodeConfig] | None = None
) -> ColorCodeSample:
    """A sample as the generator makes it, with its config, seed, split and index.

    Parameters
    ----------
    config
        The settings, or a strategy for them; `color_code_configs` unless stated.
    """
    taken: ColorCodeConfig = drawn(draw, color_code_configs() if config is None else config)
    seed, split, index = draw(seeds()), draw(splits()), draw(st.integers(0, 2**31))
    block = generate_block(taken, seed, split, index, 1)
    sample = {name: rows[0] for name, rows in block.items()}
    return ColorCodeSample(config=taken, seed=seed, split=split, index=index, sample=sample)
