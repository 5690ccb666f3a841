"""The reference twin: the picture."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from scipy import ndimage

from synthprobe_data.rde import reference
from tests.data.rde.drawing import (
    random_boxes,
)

# ---------------------------------------------------------------------------------------- picture


def test_palette_of_four_and_six_and_twelve() -> None:
    assert reference.palette(1).tolist() == [[255, 0, 0]]
    assert reference.palette(4).tolist() == [
        [255, 0, 0],
        [128, 255, 0],
        [0, 255, 255],
        [128, 0, 255],
    ]
    assert reference.palette(6).tolist() == [
        [255, 0, 0],
        [255, 255, 0],
        [0, 255, 0],
        [0, 255, 255],
        [0, 0, 255],
        [255, 0, 255],
    ]
    assert reference.palette(12)[1::2].tolist() == [
        [255, 128, 0],
        [128, 255, 0],
        [0, 255, 128],
        [0, 128, 255],
        [128, 0, 255],
        [255, 0, 128],
    ]


def test_palette_rounds_half_up() -> None:
    assert reference.palette(36)[[1, 7]].tolist() == [[255, 43, 0], [213, 255, 0]]  # 42.5, 212.5


@pytest.mark.parametrize("n_colors", [2, 3, 5, 7, 10, 63])
def test_palette_has_equally_spaced_hues(n_colors: int) -> None:
    colors = reference.palette(n_colors)
    expected = [colorsys.hsv_to_rgb(k / n_colors, 1.0, 1.0) for k in range(n_colors)]
    assert colors.shape == (n_colors, 3)
    assert colors.dtype == np.uint8
    assert np.abs(colors - 255 * np.array(expected)).max() <= 0.5 + 1e-9
    assert len(np.unique(colors, axis=0)) == n_colors


def test_blur_weights_of_the_paper() -> None:
    assert reference.blur_weights(0.7).tolist() == [0, 40, 841, 2334, 841, 40, 0]


@pytest.mark.parametrize("blur", [0, 0.1, 0.124])
def test_without_a_neighbour_in_reach_there_is_one_weight(blur: float) -> None:
    assert reference.blur_weights(blur).tolist() == [4096]


@pytest.mark.parametrize("blur", [0.125, 0.3, 0.5, 0.7, 1, 1.3, 2.0, 3.1, 4.0])
def test_the_tails_of_the_blur_are_scipys_in_whole_units(blur: float) -> None:
    weights = reference.blur_weights(blur)
    radius = int(4 * blur + 0.5)
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 4096.0
    exact = ndimage.gaussian_filter1d(impulse, blur, mode="constant")
    assert weights.tolist() == weights[::-1].tolist()
    assert weights.sum() == 4096
    tails, exact_tails = np.cumsum(weights)[:radius], np.cumsum(exact)[:radius]
    assert tails.tolist() == np.floor(exact_tails + 0.5).tolist()


SIZES = [(8, 8), (8, 13), (31, 20), (64, 64)]
N_COLORS = 7


def a_picture(seed: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """A label map of six rectangles, and their colours."""
    rng = np.random.default_rng(seed)
    label = reference.paint(random_boxes(rng, 6, height, width), height, width)
    return label, rng.permutation(N_COLORS)[:6]


def test_without_blur_each_pixel_has_the_colour_of_its_rectangle() -> None:
    colors = reference.palette(N_COLORS)
    label = np.zeros((8, 9), np.uint8)
    label[2:5, 3:7] = 1
    label[4:8, 5:9] = 2
    picture = reference.render(label, [3, 0], colors, 0)
    assert picture.shape == (8, 9, 3)
    assert picture.dtype == np.uint8
    assert (picture[label == 0] == 0).all()
    assert (picture[label == 1] == colors[3]).all()
    assert (picture[label == 2] == colors[0]).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("blur", [0.3, 0.5, 0.7, 1.0, 1.7, 2.5, 4.0])
def test_blur_is_within_one_grey_level_of_scipys(blur: float, size: tuple[int, int]) -> None:
    colors = reference.palette(N_COLORS)
    for seed in range(3):
        label, given = a_picture(seed, *size)
        painted = reference.render(label, given, colors, 0).astype(np.float64)
        expected = ndimage.gaussian_filter(painted, sigma=(blur, blur, 0))
        found = reference.render(label, given, colors, blur)
        assert np.abs(found - expected).max() <= 1
        assert (found != painted).any()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("blur", [0.7, 4.0])  # a radius of 16 is twice the least size
def test_blur_is_exactly_scipys_correlation_with_the_weights(
    blur: float, size: tuple[int, int]
) -> None:
    label, given = a_picture(5, *size)
    colors = reference.palette(N_COLORS)
    summed = reference.render(label, given, colors, 0).astype(np.int64)
    for axis in (1, 0):
        summed = ndimage.correlate1d(summed, reference.blur_weights(blur), axis, mode="reflect")
    expected = np.floor(summed / 2**24 + 0.5)
    assert reference.render(label, given, colors, blur).tolist() == expected.tolist()


@pytest.mark.parametrize("blur", [0.0, 0.7, 4.0])
def test_render_turns_and_mirrors_with_the_label_map(blur: float) -> None:
    label, given = a_picture(6, 20, 31)
    colors = reference.palette(N_COLORS)
    picture = reference.render(label, given, colors, blur)
    for moved_label, moved in (
        (label[::-1], picture[::-1]),
        (label[:, ::-1], picture[:, ::-1]),
        (label.T, picture.transpose(1, 0, 2)),
    ):
        assert (reference.render(moved_label, given, colors, blur) == moved).all()


@pytest.mark.parametrize("blur", [0.7, 4.0])
def test_render_keeps_one_colour_as_it_is(blur: float) -> None:
    colors = reference.palette(N_COLORS)
    picture = reference.render(np.ones((8, 11), np.uint8), [4], colors, blur)
    assert (picture == colors[4]).all()
    assert not reference.render(np.zeros((8, 11), np.uint8), [], colors, blur).any()


def test_render_looks_up_the_colours_given_and_treats_the_channels_alike() -> None:
    label, given = a_picture(7, 20, 31)
    colors = reference.palette(N_COLORS)
    picture = reference.render(label, given, colors, 0.7)
    order = np.random.default_rng(8).permutation(N_COLORS)
    renamed = reference.render(label, np.argsort(order)[given], colors[order], 0.7)
    exchanged = reference.render(label, given, colors[:, [2, 0, 1]], 0.7)
    assert (renamed == picture).all()
    assert (exchanged == picture[:, :, [2, 0, 1]]).all()
    other = reference.render(label, (given + 1) % N_COLORS, colors, 0.7)
    assert (other != picture).any()
