"""The checks of a row, against the twin: good rows pass, and bad ones fail the right check."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import ColorCodeConfig
from synthprobe_data.color_code import reference
from synthprobe_data.color_code.generate import generate_block
from synthprobe_data.color_code.verify import check_block, row_checks
from synthprobe_data.strategies import ColorCodeSample, color_code_samples


def failed_checks(config: ColorCodeConfig, sample: dict[str, np.ndarray]) -> set[str]:
    block = {name: array[None] for name, array in sample.items()}
    mask = int(check_block(config, block, [("train", 0)])[0])
    names = row_checks(config)
    assert mask >> len(names) == 0
    return {name for bit, name in enumerate(names) if mask >> bit & 1}


@given(color_code_samples())
def test_what_the_generator_makes_passes_every_check(drawn: ColorCodeSample) -> None:
    assert failed_checks(drawn.config, drawn.sample) == set()


@given(color_code_samples(), st.data())
def test_changed_bytes_fail_just_what_the_twin_says(
    drawn: ColorCodeSample, data: st.DataObject
) -> None:
    sample = {name: array.copy() for name, array in drawn.sample.items()}
    for _ in range(data.draw(st.integers(1, 4))):
        array = sample[data.draw(st.sampled_from(sorted(sample)))].reshape(-1)
        place = data.draw(st.integers(0, len(array) - 1))
        array[place] = data.draw(st.sampled_from([0, 1, 2, 255]) | st.integers(0, 255))
    assert failed_checks(drawn.config, sample) == reference.broken_rules(drawn.config, sample)


@given(color_code_samples(), st.integers(0, 2**32))
def test_rows_of_any_bytes_do_no_harm(drawn: ColorCodeSample, seed: int) -> None:
    chance = np.random.default_rng(seed)
    sample = {
        name: chance.integers(0, 256, array.shape).astype(np.uint8)
        for name, array in drawn.sample.items()
    }
    assert failed_checks(drawn.config, sample) == reference.broken_rules(drawn.config, sample)


def test_rows_are_checked_one_by_one() -> None:
    block = generate_block(ColorCodeConfig(), 0, "train", 0, 6)
    block["revealed"][3] = 0
    block["group"][5, 7] = 10
    masks = check_block(ColorCodeConfig(), block, [("train", i) for i in range(6)])
    assert np.flatnonzero(masks).tolist() == [3, 5]


def test_what_makes_a_sample_well_posed_is_not_asked_of_the_paper() -> None:
    paper = ColorCodeConfig(mode="paper")
    block = generate_block(paper, 0, "train", 0, 500)
    places = [("train", i) for i in range(500)]
    assert not check_block(paper, block, places).any()
    assert check_block(ColorCodeConfig(), block, places).any()
    assert {"distance", "decided"} == set(row_checks(ColorCodeConfig())) - set(row_checks(paper))
