"""The settings of Centered Square: their ranges, and what does not fit together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from synthprobe_data import CenteredSquareConfig, SynthprobeError
from synthprobe_data.centered_square import CANONICAL
from synthprobe_data.strategies import centered_square_configs


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"height": 0}, "height is 0: it must be a whole number from 1 to 1024."),
        ({"width": 1025}, "width is 1025: it must be a whole number from 1 to 1024."),
        ({"square": 21.0}, r"square is 21.0: it must be a whole number"),
        ({"square": True}, "square is True"),
        ({"square": 20}, "square is 20: it must be odd"),
        ({"square": 0}, "square is 0"),
        ({"height": 20}, "square is 21: it does not fit into a height of 20."),
        ({"width": 19}, "square is 21: it does not fit into a width of 19."),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SynthprobeError, match=message):
        CenteredSquareConfig(**settings)


def test_a_square_may_fill_the_picture() -> None:
    assert CenteredSquareConfig(height=21, width=21).square == 21


def test_the_papers_settings() -> None:
    assert CenteredSquareConfig(height=64, width=64, square=21) == CANONICAL


@given(centered_square_configs())
def test_plain_values_lead_back_to_the_same_config(config: CenteredSquareConfig) -> None:
    plain = json.loads(json.dumps(config.to_dict()))
    assert CenteredSquareConfig.from_dict(plain) == config
