"""The ceiling: exact against counting all cases, and against a simulation with the solver."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from synthprobe_data import ColorCodeConfig, SynthprobeError
from synthprobe_data.color_code import CANONICAL, PAPER, ceiling, reference
from synthprobe_data.color_code.generate import generate_block


def all_cases(config: ColorCodeConfig) -> dict[str, Fraction]:
    """Both accuracies of the best solver, from every sigma and every mask, by its definition."""
    n, k, p = config.positions, config.colors, config.masked_share
    guess = Fraction(1, 2**config.bits)
    right = masked = ratio = asked = Fraction(0)
    for sigma in product(range(k), repeat=n):
        for mask in product((0, 1), repeat=n):
            hidden = [i for i in range(n) if not mask[i]]
            weight = p ** len(hidden) * (1 - p) ** sum(mask) / k**n
            shown = {sigma[i] for i in range(n) if mask[i]}
            score = sum((Fraction(1) if sigma[i] in shown else guess) for i in hidden)
            right += weight * score
            masked += weight * len(hidden)
            if hidden:
                ratio += weight * score / len(hidden)
                asked += weight
    return {"positions": right / masked, "samples": ratio / asked}


@pytest.mark.parametrize("over", ["positions", "samples"])
@pytest.mark.parametrize(
    "settings",
    [
        {"positions": 1, "colors": 3, "masked": 0.5, "bits": 2},
        {"positions": 4, "colors": 3, "masked": 0.3, "bits": 1},
        {"positions": 5, "colors": 2, "masked": 0.875, "bits": 3},
        {"positions": 3, "colors": 4, "masked": 1.0, "bits": 4},
        {"positions": 6, "colors": 1, "masked": 0.01, "bits": 3},
    ],
)
def test_it_is_what_counting_all_cases_gives(settings: dict[str, Any], over: str) -> None:
    config = ColorCodeConfig(**settings, mode="paper")
    assert ceiling(config, over=over) == all_cases(config)[over]


def test_the_published_task_has_a_ceiling_of_99_870_percent() -> None:
    assert ceiling(PAPER) == 1 - Fraction(95, 100) ** 127 * Fraction(7, 8)
    assert f"{float(ceiling(PAPER)):.3%}" == "99.870%"
    assert f"{float(ceiling(PAPER, over='samples')):.3%}" == "99.877%"


def test_nothing_is_left_open_when_it_is_well_posed_or_nothing_is_masked() -> None:
    for over in ("positions", "samples"):
        assert ceiling(CANONICAL, over=over) == 1
        assert ceiling(ColorCodeConfig(masked=0, mode="paper"), over=over) == 1


def test_another_mean_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="over is 'bits'"):
        ceiling(PAPER, over="bits")


def solved(config: ColorCodeConfig, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """For each sample: masked positions that the solver gets right, and all masked ones."""
    block = generate_block(config, 0, "train", 0, samples)
    group, masked = block["group"], block["revealed"] == 0
    place = group + config.colors * np.arange(samples)[:, None]  # one for each of its colours
    shown = np.bincount(place[~masked], minlength=config.colors * samples) > 0
    # Where a colour is revealed nowhere, the solver says zeros.
    right = shown[place] | ~block["code"].any(axis=2)
    for s in range(100):
        color, code, revealed = (block[name][s] for name in ("color", "code", "revealed"))
        found = reference.solve(color, code * revealed[:, None], revealed)
        assert ((found == code).all(axis=1) == right[s]).all()
    return (right & masked).sum(axis=1), masked.sum(axis=1)


@pytest.mark.parametrize(
    ("config", "precision"),
    [
        (PAPER, 2e-4),
        (ColorCodeConfig(positions=24, colors=8, masked=0.75, bits=2, mode="paper"), 0.01),
    ],
)
def test_the_solver_reaches_it_in_a_simulation(config: ColorCodeConfig, precision: float) -> None:
    samples = 60_000 if config is PAPER else 10_000
    right, masked = solved(config, samples)
    above = right - masked * float(ceiling(config))  # of each sample, as its positions go together
    error = 3.5 * np.std(above) / np.sqrt(samples) / masked.mean()
    assert abs(right.sum() / masked.sum() - float(ceiling(config))) < error < precision
    ratio = right / masked
    error = 3.5 * np.std(ratio) / np.sqrt(samples)
    assert abs(ratio.mean() - float(ceiling(config, over="samples"))) < error < precision


def test_the_solver_is_right_everywhere_when_it_is_well_posed() -> None:
    right, masked = solved(CANONICAL, 5_000)
    assert (right == masked).all()
    assert masked.min() > 0
