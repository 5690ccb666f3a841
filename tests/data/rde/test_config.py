"""The settings: their ranges, what follows from them, and their way through plain values."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import CANONICAL, MODES, PAPER, RdeConfig
from synthprobe_data.strategies import configs

WHOLE = {
    "height": (8, 1024),
    "width": (8, 1024),
    "n_rectangles": (1, 63),
    "n_vis": (0, 1024),
    "n_gap": (0, 1024),
    "n_par": (0, 1024),
    "trials": (1, 1_000_000),
    "n_colors": (1, 63),
}
REAL = {"min_size": (0.0, 0.5), "blur": (0.0, 4.0)}
NAN, INFINITE = float("nan"), float("inf")


def refusal(**settings: Any) -> str:
    with pytest.raises(SynthprobeError) as error:
        RdeConfig(**settings)
    return str(error.value)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("wrong", ["below", "above", 2.0, 2.5, "3", True, NAN, INFINITE, [4]])
def test_a_wrong_whole_number_is_refused_by_name_value_and_range(name: str, wrong: object) -> None:
    low, high = WHOLE[name]
    value = {"below": low - 1, "above": high + 1}.get(str(wrong), wrong)
    message = refusal(**{name: value})
    assert message.startswith(f"{name} is {value!r}:")
    assert f"a whole number from {low} to {high}" in message


@pytest.mark.parametrize("name", [name for name in WHOLE if name != "n_colors"])
def test_only_n_colors_may_be_left_open(name: str) -> None:
    assert refusal(**{name: None}).startswith(f"{name} is None:")
    assert RdeConfig(n_colors=None).palette_size == 10


@pytest.mark.parametrize("wrong", [1, 0, "yes", None])
def test_difficulty_is_true_or_false(wrong: object) -> None:
    assert refusal(difficulty=wrong) == f"difficulty is {wrong!r}: it must be true or false."


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("wrong", ["below", "above", "3", True, None, NAN, INFINITE, -INFINITE])
def test_a_wrong_number_is_refused_by_name_value_and_range(name: str, wrong: object) -> None:
    low, high = REAL[name]
    value = {"below": low - 1e-9, "above": high + 1e-9}.get(str(wrong), wrong)
    message = refusal(**{name: value})
    assert message.startswith(f"{name} is {value!r}:")
    assert "a number from 0" in message
    assert f"to {high}" in message


@pytest.mark.parametrize("name", [*WHOLE, *REAL])
def test_both_ends_of_a_range_are_right(name: str) -> None:
    low, high = (WHOLE | REAL)[name]
    room: dict[str, Any] = {"mode": "ambiguous", "n_rectangles": 1}
    for value in (low, high):
        assert getattr(RdeConfig(**{**room, name: value}), name) == value


@pytest.mark.parametrize("mode", ["", "Certified", None, 1, ["rules"]])
def test_an_unknown_mode_is_refused_and_the_known_ones_are_named(mode: object) -> None:
    message = refusal(mode=mode)
    assert message.startswith(f"mode is {mode!r}:")
    assert all(known in message for known in MODES)


def test_more_rectangles_than_colours_are_refused() -> None:
    message = refusal(n_rectangles=10, n_colors=9)
    assert "n_rectangles is 10" in message
    assert "n_colors is 9" in message
    assert "at least 10" in message
    assert RdeConfig(n_rectangles=10, n_colors=10).palette_size == 10
    assert RdeConfig(n_rectangles=7).palette_size == 7


@pytest.mark.parametrize("mode", ["rules", "certified"])
@pytest.mark.parametrize("name", ["n_vis", "n_gap"])
@pytest.mark.parametrize("axis", ["height", "width"])
def test_lengths_that_leave_no_room_are_refused(axis: str, name: str, mode: str) -> None:
    # A rectangle must show more than n_vis and n_gap pixels.
    fits: dict[str, Any] = {axis: 20, name: 19, "mode": mode}
    assert RdeConfig(**fits)
    message = refusal(**{axis: 20, name: 20, "mode": mode})
    assert f"{name} = 20" in message
    assert "at least 21 pixels" in message
    assert f"a {axis} of 20" in message
    assert RdeConfig(**{**fits, name: 20, "mode": "ambiguous"})


@pytest.mark.parametrize(
    ("share", "size", "least"),
    [
        (0.1, 30, 3),
        (0.1, 128, 13),
        (0.1, 1000, 100),
        (0.2, 35, 7),
        (0.3, 10, 3),
        (0.07, 100, 7),
        (0.29, 100, 29),
        (0.5, 9, 5),
        (0.0, 128, 1),
        (1e-9, 128, 1),
        (0, 128, 1),
    ],
)
def test_the_least_size_is_the_exact_share_rounded_up(share: float, size: int, least: int) -> None:
    assert RdeConfig(width=size, min_size=share).min_width == least
    assert RdeConfig(height=size, min_size=share).min_height == least


@given(st.decimals("0.001", "0.5", places=3), st.integers(8, 1024))
def test_the_least_size_is_exact_for_every_decimal(share: Decimal, size: int) -> None:
    config = RdeConfig(width=size, height=8, min_size=float(share), mode="ambiguous")
    assert config.min_width - 1 < share * size <= config.min_width


def test_the_least_sides_by_rules_1_and_2() -> None:
    config = RdeConfig(height=64, width=128, min_size=0.1, n_vis=8, n_gap=3)
    assert (config.min_width, config.min_height) == (13, 7)
    assert (config.least_width, config.least_height) == (13, 9)
    assert RdeConfig(n_vis=3, n_gap=20).least_width == 21


@given(configs())
def test_plain_values_lead_back_to_the_same_config(config: RdeConfig) -> None:
    plain = json.loads(json.dumps(config.to_dict()))
    assert RdeConfig.from_dict(plain) == config
    assert RdeConfig(**plain) == config


def test_what_is_not_given_has_its_default() -> None:
    assert RdeConfig.from_dict({}) == CANONICAL
    assert RdeConfig.from_dict({"mode": "rules"}) == PAPER


def test_an_unknown_setting_is_refused_by_name() -> None:
    with pytest.raises(SynthprobeError, match="'n_viz'"):
        RdeConfig.from_dict({"n_vis": 3, "n_viz": 4})


def test_plain_values_are_checked_too() -> None:
    with pytest.raises(SynthprobeError, match="n_vis is -1"):
        RdeConfig.from_dict({"n_vis": -1})


def test_the_papers_settings() -> None:
    lengths = (PAPER.n_vis, PAPER.n_gap, PAPER.n_par)
    assert (PAPER.height, PAPER.width, PAPER.n_rectangles, lengths) == (128, 128, 10, (5, 5, 5))
    assert (PAPER.min_size, PAPER.trials, PAPER.blur) == (0.1, 1000, 0.7)
    assert (PAPER.mode, CANONICAL.mode) == ("rules", "certified")
