"""The settings of Color Code: their ranges, and what cannot be drawn."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import ColorCodeConfig, SynthprobeError
from synthprobe_data.color_code import CANONICAL, PAPER
from synthprobe_data.strategies import color_code_configs


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"positions": 0}, "positions is 0: it must be a whole number from 1 to 4096."),
        ({"positions": 4097}, "positions is 4097"),
        ({"colors": 0}, "colors is 0: it must be a whole number from 1 to 256."),
        ({"colors": 257}, "colors is 257"),
        ({"bits": 17}, "bits is 17: it must be a whole number from 1 to 16."),
        ({"masked": -0.1}, "masked is -0.1: it must be a number from 0.0 to 1.0."),
        ({"masked": float("nan")}, "masked is nan"),
        ({"masked": 1 / 3}, "masked is 0.3333333333333333: give it with at most nine decimals"),
        ({"masked": 1.0}, "masked is 1.0: it may be at most 0.99 when every colour is"),
        ({"masked": 0.995}, "masked is 0.995: it may be at most 0.99"),
        ({"min_distance": 0}, "min_distance is 0: it must be a whole number from 1 to 255."),
        ({"min_distance": 50}, "min_distance is 50: 10 colours have room for 49 at most."),
        ({"colors": 256}, "min_distance is 32: 256 colours have room for 16 at most."),
        ({"colors": 2, "min_distance": 255}, "2 colours have room for 102 at most."),
        ({"mode": "certified"}, "mode is 'certified': it must be one of well-posed, paper."),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SynthprobeError, match=message):
        ColorCodeConfig(**settings)


def test_what_only_well_posed_samples_need_is_not_asked_of_the_paper() -> None:
    for settings in ({"masked": 1.0}, {"colors": 256}, {"min_distance": 255}):
        assert ColorCodeConfig(**settings, mode="paper")


@given(st.integers(1, 256))
def test_the_distance_that_a_refusal_names_has_room(colors: int) -> None:
    try:
        ColorCodeConfig(colors=colors, min_distance=255)
    except SynthprobeError as error:
        most = int(str(error).split()[-3])
        assert ColorCodeConfig(colors=colors, min_distance=most)
        with pytest.raises(SynthprobeError, match="have room"):
            ColorCodeConfig(colors=colors, min_distance=most + 1)
    else:
        assert colors == 1


@pytest.mark.parametrize(
    ("masked", "share"), [(0.5, "1/2"), (0.1, "1/10"), (0, "0"), (0.123456789, "123456789/1e9")]
)
def test_the_share_is_exact(masked: float, share: str) -> None:
    top, _, bottom = share.partition("/")
    assert ColorCodeConfig(masked=masked).masked_share == Fraction(top) / Fraction(bottom or 1)


def test_the_papers_settings() -> None:
    assert (PAPER.positions, PAPER.colors, PAPER.masked, PAPER.bits) == (128, 10, 0.5, 3)
    assert (PAPER.mode, CANONICAL.mode) == ("paper", "well-posed")


@given(color_code_configs())
def test_plain_values_lead_back_to_the_same_config(config: ColorCodeConfig) -> None:
    plain = json.loads(json.dumps(config.to_dict()))
    assert ColorCodeConfig.from_dict(plain) == config
