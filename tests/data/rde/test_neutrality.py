"""What tells an order without a cue: sizes tell 65% of those of RDE, and nothing those of twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, TwinsConfig, make_file, open_dataset
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.rde.neutrality import GROUPS, find_told, fit
from synthprobe_data.twins.generate import generate_block as generate_twins

SIZES: Any = ("size", "size, by the number of rectangles", "all of these")


def test_sizes_alone_tell_about_65_percent_of_the_orders_of_rde() -> None:
    config = RdeConfig()
    block = generate_block(config, 0, "train", 0, 2000)
    told = find_told(block, config, height=128, width=128)
    assert told.pairs > 12_000
    for name in SIZES:
        assert 0.62 < told.share(name) < 0.72, name
    # Without a model at all: the smaller one of an ordered pair is above.
    boxes = block["rectangles"].astype(np.int64)
    area = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    sample, upper, lower = np.nonzero(block["above"])
    smaller = (area[sample, upper] < area[sample, lower]).mean()
    assert 0.63 < smaller < 0.68
    assert abs(told.share("size") - smaller) < 0.03
    assert abs(told.share("colour") - 0.5) < 0.03


@pytest.mark.parametrize("palette", ["hues", "random"])
def test_nothing_tells_the_orders_of_twins(palette: str) -> None:
    config = TwinsConfig(palette=palette)
    block = generate_twins(config, 0, "train", 0, 1200)
    told = find_told(block, config, height=8, width=64)
    assert told.pairs == 600
    assert {told.share(name) for name in GROUPS} == {0.5}


def test_of_twins_only_the_exchanged_pair_counts() -> None:
    config = TwinsConfig(height=48, width=48, n_rectangles=5, min_distance=4)
    block = generate_twins(config, 0, "train", 0, 80)
    told = find_told(block, config, height=48, width=48)
    assert told.pairs == 40
    assert {told.share(name) for name in GROUPS} == {0.5}
    del block["pair"]
    assert find_told(block, config, height=48, width=48).pairs > 40


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3), st.floats(-3, 3))
def test_the_model_is_the_one_of_least_loss(seed: int, a: float, b: float) -> None:
    random = np.random.default_rng(seed)
    described = random.normal(size=(400, 2))
    chance = 1 / (1 + np.exp(-(described @ [a, b])))
    differences = np.where(random.random(400) < chance, 1, -1)[:, None] * described
    weights = fit(differences)
    scale = np.sqrt((differences**2).mean(axis=0))

    def loss(w: np.ndarray) -> float:
        return float(np.log1p(np.exp(-differences @ w)).sum() + 0.2 * ((w * scale) ** 2).sum())

    for step in random.normal(size=(20, 2)) * 0.1:
        assert loss(weights) <= loss(weights + step) + 1e-6


def test_exchanging_all_pairs_turns_the_model_round() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1, (50, 3))
    assert fit(-differences) == pytest.approx(-fit(differences))


def test_no_pairs_tell_nothing() -> None:
    config = RdeConfig(height=24, width=24, n_rectangles=1, n_vis=2, n_gap=2, n_par=2)
    told = find_told(generate_block(config, 0, "train", 0, 8), config, height=24, width=24)
    assert told.pairs == 0
    assert told.share("size") == 0.5
    assert find_told({}, config, height=24, width=24).pairs == 0


def test_every_card_says_it(tmp_path: Path) -> None:
    config = RdeConfig(height=48, width=48, n_rectangles=5, n_vis=3, n_gap=3, n_par=3)
    made = make_file("rde", tmp_path / "a.h5", train=60, test=8, config=config, workers=1)
    card = made.path.with_suffix(".md").read_text("utf-8")
    assert "### What tells the order without a cue" in card
    twins = make_file("twins", tmp_path / "b.h5", train=40, validation=0, test=0, workers=1)
    card = twins.path.with_suffix(".md").read_text("utf-8")
    assert "| all of these | 10 | 50.0 % |" in card
    with open_dataset(made.path) as data:
        figure = data.dataset.card.figures(data)[-1]
    assert figure.totals is not None
    assert set(figure.totals) == {"train", "test"}
    assert list(figure.counts["train"]) == list(GROUPS)
