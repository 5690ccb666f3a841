"""The checks of a row: good rows pass, and bad ones fail just what they break."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from synthprobe_data import CenteredSquareConfig
from synthprobe_data.centered_square import reference
from synthprobe_data.centered_square.centres import sizes
from synthprobe_data.centered_square.generate import generate_block
from synthprobe_data.centered_square.verify import check_block, row_checks
from synthprobe_data.dataset import Block
from synthprobe_data.strategies import centered_square_configs

SMALL = CenteredSquareConfig(height=12, width=14, square=5)


def failed_checks(
    config: CenteredSquareConfig, block: Block, split: str, start: int = 0
) -> list[set[str]]:
    places = [(split, start + i) for i in range(len(block["center"]))]
    names = list(row_checks(config))
    masks = check_block(config, block, places)
    return [{name for bit, name in enumerate(names) if mask >> bit & 1} for mask in masks.tolist()]


@settings(max_examples=30)
@given(centered_square_configs(most=20))
def test_what_the_generator_makes_passes_every_check(config: CenteredSquareConfig) -> None:
    for split, size in sizes(config).items():
        block = generate_block(config, 0, split, 0, size)
        assert failed_checks(config, block, split) == [set()] * size


@given(st.sampled_from(["image", "target"]), st.integers(0, 167), st.integers(1, 255))
def test_a_changed_byte_of_a_picture_fails_just_that_picture(
    name: str, place: int, change: int
) -> None:
    block = generate_block(SMALL, 0, "test", 3, 4)
    block[name][2].reshape(-1)[place] ^= change
    assert failed_checks(SMALL, block, "test", 3) == [set(), set(), {name}, set()]


@given(st.integers(-40, 40), st.integers(-40, 40))
def test_another_center_fails_just_what_the_twin_says(row: int, column: int) -> None:
    block = generate_block(SMALL, 0, "train", 0, 3)
    assume(block["center"][1].tolist() != [row, column])
    block["center"][1] = row, column
    inside = 0 <= row < 12 and 0 <= column < 14
    fits = inside and reference.is_whole(SMALL, row, column)
    wrong = {"split", "image", "target"} if fits else {"center"}
    assert failed_checks(SMALL, block, "train") == [set(), wrong, set()]


def test_centers_of_any_numbers_do_no_harm() -> None:
    block = generate_block(SMALL, 0, "train", 0, 4)
    block["center"][:] = [[-(2**15), 0], [2**15 - 1, 5], [-1, -1], [5, -3]]
    assert failed_checks(SMALL, block, "train") == [{"center"}] * 4


def test_a_sample_in_another_place_or_split_is_found() -> None:
    block = generate_block(SMALL, 0, "train", 0, 4)
    assert failed_checks(SMALL, block, "test") == [{"split"}] * 4
    assert failed_checks(SMALL, block, "other") == [{"split"}] * 4
    assert failed_checks(SMALL, block, "train", 1) == [{"split"}] * 4
    assert failed_checks(SMALL, block, "train", 10**9) == [{"split"}] * 4
    swapped = {name: column[[1, 0, 2, 3]] for name, column in block.items()}
    assert failed_checks(SMALL, swapped, "train") == [{"split"}] * 2 + [set()] * 2


def test_a_row_may_be_all_wrong() -> None:
    block = generate_block(SMALL, 0, "train", 0, 1)
    block["image"][:] = 255
    block["target"][:] = 0
    assert failed_checks(SMALL, block, "test") == [{"split", "image", "target"}]
    assert np.all(block["image"] == 255)
