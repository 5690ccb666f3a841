"""What twins are for, as properties: the same far from the cue, and no prior that helps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage

from synthprobe_data import TwinsConfig
from synthprobe_data.rde import reference as rde
from synthprobe_data.rde import solve
from synthprobe_data.rde.kernels.render import hue_palette
from synthprobe_data.strategies import TwinPair, twin_pairs, twins_configs
from synthprobe_data.twins import reference
from synthprobe_data.twins.generate import generate_block

TWO = twins_configs(n_rectangles=2)


def higher(drawn: TwinPair) -> NDArray[np.bool_]:
    """In which of the twins each pixel has the higher of its two ranks: (2, height, width)."""
    rank = drawn.block["rank"]
    return np.stack([rank[0] > rank[1], rank[1] > rank[0]])


def seen_within(image: NDArray[np.uint8], y: int, x: int, reach: int) -> NDArray[np.uint8]:
    top, left = max(y - reach, 0), max(x - reach, 0)
    return image[top : y + reach + 1, left : x + reach + 1]


@given(twin_pairs(), st.data())
def test_the_pictures_are_equal_nearer_than_the_distance_and_differ_there(
    drawn: TwinPair, data: st.DataObject
) -> None:
    first, second = drawn.block["image"]
    distance = drawn.block["distance"][0]
    assert (distance == drawn.block["distance"][1]).all()
    places = np.argwhere(distance)
    for i in data.draw(st.lists(st.integers(0, len(places) - 1), min_size=1, max_size=20)):
        y, x = places[i]
        reach = int(distance[y, x])
        near = [seen_within(image, y, x, reach - 1) for image in (first, second)]
        assert (near[0] == near[1]).all()
        there = [seen_within(image, y, x, reach) for image in (first, second)]
        assert (there[0] != there[1]).any()


@given(twin_pairs())
def test_a_pixel_counts_if_it_shows_the_same_of_the_two_with_another_rank(
    drawn: TwinPair,
) -> None:
    block, k = drawn.block, drawn.k
    shown = [np.where(label > 0, label.astype(int) - 1, -1) for label in block["label"]]
    first_of_pair = [shown[t] == block["pair"][t, 0] for t in range(2)]
    other_of_pair = [shown[t] == block["pair"][t, 1] for t in range(2)]
    same = (first_of_pair[0] & first_of_pair[1]) | (other_of_pair[0] & other_of_pair[1])
    differ = (block["image"][0] != block["image"][1]).any(axis=2)
    counted = same & (block["rank"][0] != block["rank"][1]) & ~differ
    assert ((block["distance"][0] > 0) == counted).all()
    assert sorted(block["pair"][0].tolist()) == [k, k + 1]
    assert block["pair"][0].tolist() == block["pair"][1, ::-1].tolist()


@given(twin_pairs())
def test_some_pixel_counts_at_the_least_distance(drawn: TwinPair) -> None:
    assert drawn.block["distance"].max() >= drawn.config.min_distance


@given(twin_pairs())
def test_exchanging_gives_the_twin_and_exchanging_twice_the_scene(drawn: TwinPair) -> None:
    n, k = drawn.n, drawn.k
    for name in ("rectangles", "color"):
        first, second = drawn.block[name][:, :n]
        assert (reference.exchanged(first, k) == second).all()
        assert (reference.exchanged(reference.exchanged(first, k), k) == first).all()
    above = drawn.block["above"]
    assert above[0, k + 1, k] > 0
    assert above[1, k + 1, k] > 0  # there it is the other one that is above
    assert above[:, k, k + 1].tolist() == [0, 0]


@given(twin_pairs(), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_any_fixed_convolution_is_right_in_exactly_half_of_the_pixels_beyond_its_window(
    drawn: TwinPair, reach: int, seed: int
) -> None:
    size = 2 * reach + 1
    kernel = np.random.default_rng(seed).integers(-9, 10, (size, size, 3))
    answers = []
    for image in drawn.block["image"].astype(np.int64):
        channels = [
            ndimage.convolve(image[..., c], kernel[..., c], mode="constant") for c in range(3)
        ]
        answers.append(sum(channels) > int(seed % 4_000) - 2_000)  # "the higher of the two"
    beyond = drawn.block["distance"] > reach
    right = (np.stack(answers) == higher(drawn)) & beyond
    assert 2 * int(right.sum()) == int(beyond.sum())


def test_a_convolution_whose_window_is_just_large_enough_tells_the_twins_apart() -> None:
    """So the half above is a fact about distance, not about how pixels are counted."""
    block = generate_block(TwinsConfig(), 0, "train", 0, 40)
    reach = 12
    kernel = np.random.default_rng(0).integers(1, 10, (2 * reach + 1, 2 * reach + 1))
    for first in range(0, 40, 2):
        red = block["image"][first : first + 2, ..., 0].astype(np.int64)
        one, other = (ndimage.convolve(picture, kernel, mode="constant") for picture in red)
        distance = block["distance"][first]
        assert (one == other)[distance > reach].all()
        assert (one != other)[(distance > 0) & (distance <= reach)].any()


@given(twin_pairs(TWO), st.data())
def test_the_mean_rank_is_the_same_whatever_size_position_or_colour(
    drawn: TwinPair, data: st.DataObject
) -> None:
    """Of two rectangles: exactly 3/2, over all counted pixels that any prior could pick out."""
    block = drawn.block
    counted = block["distance"] > 0
    by = data.draw(st.sampled_from(["size", "position", "color"]))
    if by == "position":
        y, x = np.indices(counted.shape[1:])
        a, b, c = (data.draw(st.integers(-9, 9)) for _ in "abc")
        picked = np.broadcast_to(a * y + b * x > 9 * c, counted.shape)
    else:
        sides = block["rectangles"].astype(np.int64)
        area = (sides[..., 2] - sides[..., 0]) * (sides[..., 3] - sides[..., 1])
        value = area if by == "size" else block["color"].astype(np.int64)
        shown = np.maximum(block["label"].astype(np.int64) - 1, 0)
        of_pixel = np.stack([value[t][shown[t]] for t in range(2)])
        picked = of_pixel > data.draw(st.integers(0, int(of_pixel.max())))
    ranks = block["rank"][counted & picked].astype(np.int64)
    assert 2 * int(ranks.sum()) == 3 * len(ranks)


@given(twin_pairs(), st.data())
def test_any_prior_of_more_rectangles_is_right_in_half_of_the_pixels(
    drawn: TwinPair, data: st.DataObject
) -> None:
    """A prior gives a rectangle of the pair the same answer in both twins."""
    block = drawn.block
    counted = block["distance"] > 0
    says_first_is_higher = data.draw(st.booleans())
    shown = block["label"].astype(np.int64) - 1
    is_first = np.stack([shown[t] == block["pair"][t, 0] for t in range(2)])
    right = ((is_first == says_first_is_higher) == higher(drawn)) & counted
    assert 2 * int(right.sum()) == int(counted.sum())


@given(twin_pairs())
def test_both_twins_keep_the_rules_of_rde(drawn: TwinPair) -> None:
    """Band by band, by the reference of RDE."""
    config = drawn.config
    pitch = config.height + config.band_gap
    for scene in drawn.rectangles:
        band_of = scene[:, 1] // pitch
        assert sorted(set(band_of.tolist())) == list(range(config.bands))
        for band in range(config.bands):
            own = scene[band_of == band] - [0, band * pitch, 0, band * pitch]
            assert (own[:, 3] <= config.height).all()
            assert len(own) >= 2
            assert all(rde.accepts(config.band, own[: k + 1]) for k in range(len(own)))
            if config.mode == "certified":
                assert rde.certificate_failure(own, config.height, config.width) is None


@given(twin_pairs(twins_configs(mode="certified", blur=st.sampled_from([0.0, 0.5, 0.7]))))
def test_the_solver_reads_both_twins(drawn: TwinPair) -> None:
    palette = hue_palette(drawn.config.palette_size)
    for twin in range(2):
        reading = solve(drawn.block["image"][twin], palette, blur=drawn.config.blur)
        assert reading.unambiguous
        assert (reading.rank == drawn.block["rank"][twin]).all()


@given(twin_pairs(twins_configs(bands=st.integers(2, 4))))
def test_bands_have_colours_of_their_own_and_only_one_is_exchanged(drawn: TwinPair) -> None:
    block, config = drawn.block, drawn.config
    assert len(set(block["color"][0, : drawn.n].tolist())) == drawn.n
    rows = np.flatnonzero((block["image"][0] != block["image"][1]).any(axis=(1, 2)))
    reach = int(4 * config.blur + 0.5)
    band = int(drawn.rectangles[0, drawn.k, 1]) // (config.height + config.band_gap)
    top = config.band_top(band)
    assert rows.min() >= top - reach
    assert rows.max() < top + config.height + reach
    counted = np.flatnonzero(block["distance"][0].any(axis=1))
    assert counted.min() >= top
    assert counted.max() < top + config.height
