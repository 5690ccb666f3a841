"""Centered Square against its plain twin, and the rules of the splits for any sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import CenteredSquareConfig, SynthprobeError, iter_samples, make_sample
from synthprobe_data.centered_square import CENTERED_SQUARE, reference
from synthprobe_data.centered_square.centres import central_half, centres_of, fitting, sizes
from synthprobe_data.strategies import centered_square_configs, seeds


def test_the_paper_has_484_and_1452_pictures() -> None:
    config = CenteredSquareConfig()
    assert sizes(config) == {"train": 484, "test": 1452}
    train, test = centres_of(config, "train"), centres_of(config, "test")
    assert (train.min(), train.max()) == (21, 42)
    assert (test.min(), test.max()) == (10, 53)


@given(centered_square_configs(most=60))
def test_the_splits_are_disjoint_and_have_all_centres_at_which_the_square_fits(
    config: CenteredSquareConfig,
) -> None:
    height, width = config.height - config.square + 1, config.width - config.square + 1
    train, test = ({tuple(c) for c in centres_of(config, s).tolist()} for s in ("train", "test"))
    assert sizes(config) == {"train": len(train), "test": len(test)}
    assert len(train) == (height // 2) * (width // 2)
    assert not train & test
    reach = config.square // 2
    assert train | test == {
        (y, x) for y in range(reach, reach + height) for x in range(reach, reach + width)
    }


@given(st.integers(1, 2000), st.integers(0, 1000))
def test_the_central_half_is_half_of_all_and_in_the_middle(count: int, first: int) -> None:
    half = central_half(range(first, first + count))
    assert len(half) == count // 2
    before = half.start - first
    after = first + count - half.stop
    assert 0 <= after - before <= 1


@settings(max_examples=25)
@given(centered_square_configs(most=12))
def test_the_centres_are_those_of_the_twin_in_its_order(config: CenteredSquareConfig) -> None:
    for split, right in reference.centres(config).items():
        assert [tuple(c) for c in centres_of(config, split).tolist()] == right


@settings(max_examples=50)
@given(centered_square_configs(), seeds(), st.data())
def test_a_sample_is_that_of_the_twin_whatever_the_seed(
    config: CenteredSquareConfig, seed: int, data: st.DataObject
) -> None:
    split = data.draw(st.sampled_from([s for s, n in sizes(config).items() if n]))
    index = data.draw(st.integers(0, sizes(config)[split] - 1))
    sample = make_sample("centered-square", split=split, index=index, seed=seed, config=config)
    row, column = sample["center"].tolist()
    assert (row, column) == tuple(centres_of(config, split)[index].tolist())
    assert (sample["image"] == reference.image(config, row, column)).all()
    assert (sample["target"] == reference.target(config, row, column)).all()
    assert reference.is_whole(config, row, column)


def test_blocks_of_any_size_give_the_same_samples() -> None:
    config = CenteredSquareConfig(height=16, width=13, square=5)
    whole = CENTERED_SQUARE.generate_block(config, 0, "test", 0, 72 + 12)
    for start, count in ((0, 1), (3, 40), (80, 4), (84, 0)):
        part = CENTERED_SQUARE.generate_block(config, 9, "test", start, count)
        for name, column in part.items():
            assert (column == whole[name][start : start + count]).all()


def test_the_samples_come_to_an_end() -> None:
    assert len(list(iter_samples("centered-square"))) == 484
    assert len(list(iter_samples("centered-square", split="test", start=1400))) == 52
    assert list(iter_samples("centered-square", start=484)) == []
    beyond: list[dict[str, Any]] = [{"start": 485}, {"stop": 485}, {"start": 480, "stop": 500}]
    for arguments in beyond:
        with pytest.raises(SynthprobeError, match="ends after 484 samples"):
            iter_samples("centered-square", **arguments)
    with pytest.raises(SynthprobeError, match="there is none at 484"):
        make_sample("centered-square", index=484)
    with pytest.raises(SynthprobeError, match=r"484 samples .* none at 484"):
        CENTERED_SQUARE.generate_block(CenteredSquareConfig(), 0, "train", 480, 5)


def test_a_seed_that_is_none_is_refused_although_it_would_change_nothing() -> None:
    with pytest.raises(SynthprobeError, match="seed is -1"):
        iter_samples("centered-square", seed=-1)


def test_there_are_no_other_splits() -> None:
    with pytest.raises(SynthprobeError, match="no split 'stream': it has train and test"):
        make_sample("centered-square", split="stream", index=0)
    with pytest.raises(SynthprobeError, match="no split 'stream'"):
        CENTERED_SQUARE.generate_block(CenteredSquareConfig(), 0, "stream", 0, 1)


def test_a_single_centre_is_for_the_test() -> None:
    config = CenteredSquareConfig(height=9, width=9, square=9)
    assert fitting(9, 9) == range(4, 5)
    assert sizes(config) == {"train": 0, "test": 1}
    assert np.all(make_sample("centered-square", split="test", index=0, config=config)["target"])
