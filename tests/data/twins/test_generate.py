"""Pairs against their plain twin in `reference`, to the byte, for any settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError, TwinsConfig
from synthprobe_data.random import STREAM_LENGTH, open_stream, stream_key
from synthprobe_data.rde.kernels.difficulty import COLUMNS, difficulty_block
from synthprobe_data.strategies import TwinPair, seeds, splits, twin_pairs, twins_configs
from synthprobe_data.twins import reference
from synthprobe_data.twins.draw import FIXED, KEPT, NEAR, SINGLE, reach_of_two
from synthprobe_data.twins.generate import generate_block, generate_with_tally, prepare


def stream_of(seed: int, split: str, pair: int) -> np.ndarray:
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, "twins", split), pair)
    return stream


def assert_equal_to_the_reference(drawn: TwinPair) -> None:
    stream = stream_of(drawn.seed, drawn.split, drawn.index)
    rows = reference.rows(drawn.config, reference.draw_pair(drawn.config, stream))
    assert set(rows[0]) == set(drawn.block) - set(COLUMNS)
    for twin, row in enumerate(rows):
        for name, right in row.items():
            found = drawn.block[name][twin]
            assert found.dtype == right.dtype, name
            assert found.shape == right.shape, name
            assert (found == right).all(), name


@settings(max_examples=20)
@given(twin_pairs(twins_configs(min_distance=st.integers(1, 12), difficulty=False)))
def test_a_pair_is_that_of_the_reference(drawn: TwinPair) -> None:
    assert_equal_to_the_reference(drawn)


@settings(max_examples=10)
@given(
    twin_pairs(
        twins_configs(
            n_rectangles=st.integers(3, 5),
            min_rectangles=2,
            width=st.integers(16, 24),
            bands=st.integers(1, 2),
            min_distance=st.integers(1, 8),
            difficulty=False,
        )
    )
)
def test_a_pair_whose_bands_draw_their_numbers_is_that_of_the_reference(drawn: TwinPair) -> None:
    assert_equal_to_the_reference(drawn)
    assert 2 * drawn.config.bands <= drawn.n <= drawn.config.bands * drawn.config.n_rectangles


@pytest.mark.parametrize("index", range(4))
def test_a_pair_of_the_canonical_dataset_is_that_of_the_reference(index: int) -> None:
    config = TwinsConfig()
    block = generate_block(config, 0, "test", 2 * index, 2)
    assert_equal_to_the_reference(
        TwinPair(config=config, seed=0, split="test", index=index, block=block)
    )


@given(twins_configs(), seeds(), splits(), st.integers(0, 2**31), st.integers(1, 7), st.data())
def test_a_sample_depends_on_seed_split_and_index_alone(
    config: TwinsConfig, seed: int, split: str, start: int, count: int, data: st.DataObject
) -> None:
    """Also where a block begins or ends between two twins."""
    try:
        block = generate_block(config, seed, split, start, count)
    except SynthprobeError:
        return
    row = data.draw(st.integers(0, count - 1))
    alone = generate_block(config, seed, split, start + row, 1)
    assert all(len(rows) == count for rows in block.values())
    assert all((alone[name][0] == block[name][row]).all() for name in block)


def test_seeds_splits_and_indices_give_other_pairs() -> None:
    config = TwinsConfig()
    one = generate_block(config, 0, "train", 0, 4)
    others = [one["rectangles"][2]] + [
        generate_block(config, seed, split, 0, 1)["rectangles"][0]
        for seed, split in ((1, "train"), (0, "test"), (0, "validation"))
    ]
    assert all((other != one["rectangles"][0]).any() for other in others)


@given(twin_pairs(twins_configs(difficulty=True)))
def test_the_difficulty_is_that_of_the_whole_picture(drawn: TwinPair) -> None:
    right = difficulty_block(
        drawn.block["rectangles"],
        drawn.block["n_rectangles"],
        height=drawn.config.picture_height,
        width=drawn.config.width,
    )
    for name in COLUMNS:
        assert (drawn.block[name] == right[name]).all()


def test_colours_orders_and_bands_are_drawn_evenly() -> None:
    """Which colour is above, which order comes first and which band is exchanged tell nothing."""
    config = TwinsConfig(bands=2, min_distance=8)
    block = generate_block(config, 0, "train", 0, 4_000)
    first = {name: rows[::2] for name, rows in block.items()}
    band = first["pair"].min(axis=1) // 2
    assert abs(int(band.sum()) - 1_000) < 5 * np.sqrt(500)
    counts = np.bincount(first["color"][:, 1], minlength=4)
    assert (abs(counts - 500) < 5 * np.sqrt(400)).all()
    # The order of the band that is not exchanged is drawn, too: as often one way as the other.
    sides = first["rectangles"].astype(np.int64)
    upper_is_wider = (sides[:, 1, 2] - sides[:, 1, 0]) > (sides[:, 0, 2] - sides[:, 0, 0])
    equal = (sides[:, 1, 2] - sides[:, 1, 0]) == (sides[:, 0, 2] - sides[:, 0, 0])
    decided = int((~equal).sum())
    assert abs(int(upper_is_wider.sum()) - decided / 2) < 5 * np.sqrt(decided / 4)


def test_the_tally_counts_what_was_drawn() -> None:
    _, tally = generate_with_tally(TwinsConfig(), 0, "train", 0, 2_000)
    assert tally[KEPT] == 1_000
    assert tally[SINGLE] > 0
    assert tally[FIXED] > 0
    assert tally[NEAR] > 0


@given(
    st.lists(st.integers(0, 30), min_size=8, max_size=8),
)
def test_two_rectangles_reach_as_far_as_the_farthest_pixel_from_what_they_share(
    ends: list[int],
) -> None:
    x, y = np.sort(np.reshape(ends, (4, 2)), axis=1).reshape(2, 2, 2)
    boxes = np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)
    config = TwinsConfig(height=30, width=30, min_distance=1, blur=0.0)
    sides = np.ascontiguousarray(boxes.T)
    low, high = boxes[:, :2].max(axis=0), boxes[:, 2:].min(axis=0)
    if (low >= high).any():
        if (boxes[:, :2] < boxes[:, 2:]).all():
            assert not reference.may_make_a_pair(config, boxes)
        return
    reach = reach_of_two(sides)
    for least in range(1, 30):
        asked = TwinsConfig(height=30, width=30, min_distance=least, blur=0.0)
        assert reference.may_make_a_pair(asked, boxes) == (reach >= least)


@pytest.mark.parametrize(
    ("blur", "n_colors", "shows"), [(0.7, None, 1), (0.0, 60, 1), (4.0, 60, 0)]
)
def test_near_colours_under_a_wide_blur_may_hide_the_difference(
    blur: float, n_colors: int | None, shows: int
) -> None:
    config = TwinsConfig(blur=blur, n_colors=n_colors, mode="rules")
    assert prepare(config).bands.shows == shows


@pytest.mark.parametrize(
    ("more", "draws"), [({}, 100_000), ({"trials": 1_000_000}, 100), ({"n_rectangles": 3}, 10_000)]
)
def test_settings_without_any_pair_say_so_soon(more: dict[str, Any], draws: int) -> None:
    config = TwinsConfig(height=8, width=8, n_vis=3, n_gap=3, n_par=3, min_distance=7, **more)
    assert prepare(config).bands.draws == draws
    sentence = f"none of {draws} scenes drawn for train pair 0 could be kept: give a smaller min_d"
    with pytest.raises(SynthprobeError, match=sentence):
        generate_block(config, 0, "train", 1, 1)
