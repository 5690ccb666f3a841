"""The checks of a row: good pairs pass, and each thing that may be wrong is told by its check."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from synthprobe_data import TwinsConfig
from synthprobe_data.dataset import Block
from synthprobe_data.strategies import TwinPair, twin_pairs, twins_configs
from synthprobe_data.twins import reference
from synthprobe_data.twins.generate import generate_block
from synthprobe_data.twins.verify import check_block, row_checks


def failed_checks(drawn: TwinPair, block: Block | None = None) -> tuple[set[str], ...]:
    """The checks that each of the two rows fails."""
    places = [(drawn.split, 2 * drawn.index), (drawn.split, 2 * drawn.index + 1)]
    masks = check_block(drawn.config, drawn.block if block is None else block, places)
    names = row_checks(drawn.config)
    assert all(int(mask) >> len(names) == 0 for mask in masks)
    return tuple({name for bit, name in enumerate(names) if int(mask) >> bit & 1} for mask in masks)


def changed(drawn: TwinPair, **rows: Any) -> Block:
    return {**{name: np.array(column) for name, column in drawn.block.items()}, **rows}


@given(twin_pairs())
def test_what_the_generator_makes_passes_every_check(drawn: TwinPair) -> None:
    assert failed_checks(drawn) == (set(), set())


@given(twin_pairs())
def test_one_row_alone_passes_every_check(drawn: TwinPair) -> None:
    for twin in range(2):
        alone = {name: column[twin : twin + 1] for name, column in drawn.block.items()}
        place = (drawn.split, 2 * drawn.index + twin)
        assert check_block(drawn.config, alone, [place]).tolist() == [0]


@given(twin_pairs(), st.data())
def test_a_changed_distance_is_found(drawn: TwinPair, data: st.DataObject) -> None:
    block = changed(drawn)
    pixel = data.draw(st.integers(0, block["distance"][1].size - 1))
    block["distance"][1].reshape(-1)[pixel] ^= data.draw(st.integers(1, 0xFFFF))
    assert failed_checks(drawn, block) == ({"twin"}, {"distance", "twin"})


@given(twin_pairs(), st.data())
def test_distances_are_held_to_those_of_the_reference(drawn: TwinPair, data: st.DataObject) -> None:
    """Also for another pair of the scene, if it can be exchanged."""
    scene, color = drawn.rectangles[0], drawn.block["color"][0, : drawn.n]
    k = data.draw(st.integers(0, drawn.n - 2))
    pitch = drawn.config.height + drawn.config.band_gap
    band = scene[:, 1] // pitch
    assume(band[k] == band[k + 1])
    right = reference.distance_map(drawn.config, scene, color, k)
    block = changed(drawn)
    block["pair"][0] = k, k + 1
    block["distance"][0] = right
    failed = failed_checks(drawn, block)[0]
    assert "distance" not in failed
    assert ("min_distance" in failed) == (right.max() < drawn.config.min_distance)
    own = scene[band == band[k]] - [0, pitch * band[k], 0, pitch * band[k]]
    possible = reference.can_be_exchanged(drawn.config, own, k - int(np.argmax(band == band[k])))
    assert ("exchange" in failed) == (not possible)
    assert ("twin" in failed) == (k != drawn.k)


@given(twin_pairs(), st.data())
def test_a_pair_of_no_neighbours_is_found(drawn: TwinPair, data: st.DataObject) -> None:
    block = changed(drawn)
    named = tuple(data.draw(st.integers(0, 255)) for _ in "ab")
    assume(named[1] != named[0] + 1)
    block["pair"][0] = named
    first, second = failed_checks(drawn, block)
    assert first == {"pair"}
    assert second == {"twin"}


@given(twin_pairs())
def test_two_rows_of_one_order_are_no_twins(drawn: TwinPair) -> None:
    block = changed(drawn)
    for name in block:
        block[name][1] = block[name][0]
    first, second = failed_checks(drawn, block)
    assert first == {"twin"}
    assert second == {"pair"}  # it names the two as the first twin does


@given(twin_pairs())
def test_twins_in_each_other_s_place_are_found(drawn: TwinPair) -> None:
    block = {name: column[::-1] for name, column in drawn.block.items()}
    assert failed_checks(drawn, block) == ({"pair"}, {"pair"})


@given(twin_pairs())
def test_a_changed_colour_is_no_twin_s(drawn: TwinPair) -> None:
    block = changed(drawn)
    color = block["color"][1, : drawn.n]
    color[:] = color[::-1].copy()
    first, second = failed_checks(drawn, block)
    assert first == {"twin"}
    assert second >= {"twin", "image"}


@given(twin_pairs(twins_configs(bands=st.integers(2, 3), min_distance=st.integers(1, 2))))
def test_rectangles_between_the_bands_are_found(drawn: TwinPair) -> None:
    moved = np.array(drawn.block["rectangles"])
    gap = drawn.config.height
    moved[:, 0, [1, 3]] = gap, gap + 4
    first, second = failed_checks(drawn, changed(drawn, rectangles=moved))
    assert "bands" in first & second


def test_a_least_distance_that_no_pixel_has_is_found() -> None:
    near, far = (TwinsConfig(min_distance=least) for least in (8, 40))
    block = generate_block(near, 0, "train", 0, 400)
    masks = check_block(far, block, [("train", i) for i in range(400)])
    bit = list(row_checks(far)).index("min_distance")
    found = masks >> bit & 1
    assert (found == (block["distance"].reshape(400, -1).max(axis=1) < 40)).all()
    assert 0 < found.sum() < 400


@given(twin_pairs(), st.data())
def test_rows_of_any_numbers_do_no_harm(drawn: TwinPair, data: st.DataObject) -> None:
    block = changed(drawn)
    number = st.integers(-(2**15), 2**15 - 1) | st.integers(-2, 60)
    row = data.draw(st.integers(0, block["rectangles"].shape[1] - 1))
    block["rectangles"][0, row] = [data.draw(number) for _ in "xyxy"]
    block["n_rectangles"][0] = data.draw(st.integers(0, 255) | st.integers(0, drawn.n + 1))
    named = data.draw(st.integers(0, 254))
    block["pair"][0] = named, named + data.draw(st.sampled_from([0, 1]))
    block["color"][0, 0] = data.draw(st.integers(0, 255))
    failed_checks(drawn, block)


def test_a_pair_beyond_all_rectangles_is_found() -> None:
    block = generate_block(TwinsConfig(), 0, "train", 0, 2)
    block["n_rectangles"][0], block["pair"][0] = 255, (100, 101)
    masks = check_block(TwinsConfig(), block, [("train", 0), ("train", 1)])
    names = list(row_checks(TwinsConfig()))
    assert masks[0] >> names.index("rectangles") & 1
    assert masks[0] >> names.index("pair") & 1
