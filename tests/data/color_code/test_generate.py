"""Color Code against its plain twin, and the rules of both modes for any settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from synthprobe_data import ColorCodeConfig
from synthprobe_data.color_code import reference
from synthprobe_data.color_code.generate import (
    HIDDEN_COLORS,
    NEAR_COLORS,
    generate_block,
    generate_with_tally,
)
from synthprobe_data.strategies import (
    ColorCodeSample,
    color_code_configs,
    color_code_samples,
    seeds,
    splits,
)


@given(color_code_samples())
def test_a_sample_is_that_of_the_twin(drawn: ColorCodeSample) -> None:
    stream = reference.words(drawn.seed, drawn.split, drawn.index)
    right = reference.row(drawn.config, reference.draw_sample(drawn.config, stream))
    assert set(right) == set(drawn.sample)
    for name, array in right.items():
        assert drawn.sample[name].dtype == array.dtype
        assert drawn.sample[name].shape == array.shape
        assert (drawn.sample[name] == array).all(), name


@given(color_code_samples())
def test_a_sample_has_its_shapes_and_keeps_the_rules(drawn: ColorCodeSample) -> None:
    config, sample = drawn.config, drawn.sample
    n = config.positions
    assert sample["color"].shape == (n, 3)
    assert sample["code"].shape == (n, config.bits)
    assert sample["group"].shape == sample["revealed"].shape == (n,)
    assert all(array.dtype == np.uint8 for array in sample.values())
    assert reference.broken_rules(config, sample) == set()


@given(color_code_samples())
def test_the_code_is_one_and_the_same_within_a_colour(drawn: ColorCodeSample) -> None:
    for g in range(drawn.config.colors):
        for name in ("code", "color"):
            assert len(np.unique(drawn.sample[name][drawn.sample["group"] == g], axis=0)) <= 1


@given(color_code_samples(color_code_configs(mode="well-posed")))
def test_every_masked_position_of_a_well_posed_sample_is_decidable(drawn: ColorCodeSample) -> None:
    color, code, revealed = (drawn.sample[name] for name in ("color", "code", "revealed"))
    shown = code * revealed[:, None] + 7 * (1 - revealed[:, None])  # not even by accident
    assert (reference.solve(color, shown, revealed) == code).all()


@given(color_code_configs(), seeds(), splits(), st.integers(0, 2**31), st.integers(1, 9), st.data())
def test_a_sample_depends_on_seed_split_and_index_alone(
    config: ColorCodeConfig, seed: int, split: str, start: int, count: int, data: st.DataObject
) -> None:
    block, tally = generate_with_tally(config, seed, split, start, count)
    row = data.draw(st.integers(0, count - 1))
    alone, part = generate_with_tally(config, seed, split, start + row, 1)
    assert all((alone[name][0] == block[name][row]).all() for name in block)
    assert (part <= tally).all()


def test_seeds_splits_and_indices_give_other_samples() -> None:
    config = ColorCodeConfig()
    one = generate_block(config, 0, "train", 0, 2)
    others = [one["color"][1]] + [
        generate_block(config, seed, split, index, 1)["color"][0]
        for seed, split, index in ((1, "train", 0), (0, "test", 0), (0, "train", 2))
    ]
    assert all((other != one["color"][0]).any() for other in others)


@pytest.mark.parametrize("masked", [0.0, 0.1, 0.5, 0.85])
@pytest.mark.parametrize("mode", ["paper", "well-posed"])
def test_the_masked_share_is_the_one_asked_for(masked: float, mode: str) -> None:
    config = ColorCodeConfig(masked=masked, mode=mode, positions=256, colors=4, min_distance=8)
    block = generate_block(config, 0, "train", 0, 2_000)
    n = block["revealed"].size
    hidden = n - int(block["revealed"].sum())
    assert abs(hidden - n * masked) <= 5 * np.sqrt(n * masked * (1 - masked))


def test_all_is_uniform_in_the_mode_of_the_paper() -> None:
    config = ColorCodeConfig(mode="paper")
    block, tally = generate_with_tally(config, 0, "train", 0, 4_000)
    assert tally.tolist() == [0, 0]
    counts = [
        np.bincount(block["group"].ravel(), minlength=10),
        np.bincount(block["group"][block["revealed"] == 1], minlength=10),
        # One position a sample, as those of one colour have one and the same.
        np.bincount(block["color"][:, 0].ravel() // 16, minlength=16),
        np.bincount(block["code"][:, 0] @ [1, 2, 4], minlength=8),
    ]
    for found in counts:
        assert stats.chisquare(found).pvalue > 1e-4
    # No position of the mask tells of another one, nor of the colour beside it.
    masks = np.corrcoef(block["revealed"][:, :2].T)[0, 1]
    beside = np.corrcoef(block["revealed"].ravel(), block["group"].ravel())[0, 1]
    assert abs(masks) < 5 / np.sqrt(4_000)
    assert abs(beside) < 5 / np.sqrt(4_000 * 128)


def test_what_the_paper_leaves_open_is_drawn_again() -> None:
    paper = generate_block(ColorCodeConfig(mode="paper"), 0, "train", 0, 3_000)
    open_ = sum(
        set(group) != set(group[revealed == 1])
        for group, revealed in zip(paper["group"], paper["revealed"], strict=True)
    )
    # Each of ten colours is revealed nowhere with probability 0.95^128, but hardly ever missing.
    assert 10 < open_ < 80
    _, tally = generate_with_tally(ColorCodeConfig(), 0, "train", 0, 3_000)
    assert tally[HIDDEN_COLORS] > 10
    assert tally[NEAR_COLORS] > 1_000


@pytest.mark.parametrize(
    "settings",
    [
        {"positions": 128, "colors": 256, "min_distance": 16},
        {"positions": 64, "colors": 10, "min_distance": 49, "masked": 0.99},
        {"positions": 1, "colors": 1, "bits": 16, "masked": 0.99},
        {"positions": 4096, "colors": 2, "min_distance": 102, "masked": 0.0},
    ],
)
def test_the_hardest_settings_that_are_allowed_come_to_an_end(settings: dict[str, Any]) -> None:
    config = ColorCodeConfig(**settings)
    block = generate_block(config, 0, "train", 0, 20)
    for i in range(3):
        sample = {name: column[i] for name, column in block.items()}
        assert reference.broken_rules(config, sample) == set()
