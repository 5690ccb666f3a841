"""Hypothesis strategies for the datasets: settings, scenes and samples to test against.

Without another name in front they are of RDE.

They need the extra ``testing`` (``pip install synthprobe[testing]``). A test of your own may read::

    from hypothesis import given
    from synthprobe_data import strategies

    @given(strategies.generated_samples(strategies.configs(mode="certified")))
    def test_my_reader(drawn):
        assert (my_ranks(drawn.sample["image"]) == drawn.sample["rank"]).all()
"""

from __future__ import annotations

from synthprobe_data.strategies.centered_square import centered_square_configs
from synthprobe_data.strategies.color_code import (
    ColorCodeSample,
    color_code_configs,
    color_code_samples,
)
from synthprobe_data.strategies.common import seeds, splits
from synthprobe_data.strategies.rde import (
    GeneratedSample,
    Rectangles,
    candidates,
    certified_scenes,
    configs,
    generated_samples,
    nudged,
    rectangle_lists,
)

__all__ = [
    "ColorCodeSample",
    "GeneratedSample",
    "Rectangles",
    "candidates",
    "centered_square_configs",
    "certified_scenes",
    "color_code_configs",
    "color_code_samples",
    "configs",
    "generated_samples",
    "nudged",
    "rectangle_lists",
    "seeds",
    "splits",
]
