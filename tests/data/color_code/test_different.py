"""No two samples are equal: the bound, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from synthprobe_data import ColorCodeConfig, SynthprobeError, make_file
from synthprobe_data.color_code.different import RISK, chance_of_equal, check_sizes


def exact_chance(config: ColorCodeConfig) -> Fraction:
    """In the mode of the paper: over all maps sigma, that all else agrees."""
    n, k, p = config.positions, config.colors, config.masked_share
    one = Fraction(1, 2 ** (24 + config.bits))
    maps = sum(one ** len(Counter(sigma)) for sigma in product(range(k), repeat=n))
    return (p**2 + (1 - p) ** 2) ** n * maps / Fraction(k) ** (2 * n)


@pytest.mark.parametrize(
    "settings",
    [
        {"positions": 1, "colors": 1, "bits": 1},
        {"positions": 4, "colors": 3, "bits": 2, "masked": 0.1},
        {"positions": 6, "colors": 2, "bits": 3},
        {"positions": 2, "colors": 7, "bits": 1, "masked": 1.0},
    ],
)
def test_the_bound_is_above_the_exact_chance_and_near_it(settings: dict[str, Any]) -> None:
    config = ColorCodeConfig(**settings, mode="paper")
    exact = exact_chance(config)
    assert exact <= chance_of_equal(config) <= 2 * exact


def test_well_posed_samples_are_equal_a_little_more_easily() -> None:
    settings: dict[str, Any] = {"positions": 5, "colors": 3}
    paper = chance_of_equal(ColorCodeConfig(**settings, mode="paper"))
    assert paper < chance_of_equal(ColorCodeConfig(**settings)) < 1000 * paper


def test_the_canonical_datasets_are_far_from_any_risk() -> None:
    for mode in ("paper", "well-posed"):
        config = ColorCodeConfig(mode=mode)
        assert math.comb(2 * 10**8, 2) * chance_of_equal(config) < Fraction(1, 2**400)


def test_too_many_samples_for_the_settings_are_refused(tmp_path) -> None:
    config = ColorCodeConfig(positions=2, colors=1, bits=1)
    with pytest.raises(SynthprobeError, match="30000 samples are too many to be all different"):
        make_file("color-code", tmp_path / "a.h5", config=config)
    assert list(tmp_path.iterdir()) == []
    few = math.isqrt(int(RISK / chance_of_equal(config)))
    assert 1 <= few < 100
    check_sizes(config, {"train": few})
    with pytest.raises(SynthprobeError):
        check_sizes(config, {"train": 2 * few, "test": 2 * few})
