"""Palette, blur and pixels against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synthprobe_data.rde import reference
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.kernels.grid import compress, empty_grid, empty_sides
from synthprobe_data.rde.kernels.render import blur_weights, empty_canvas, hue_palette, render
from synthprobe_data.strategies import rectangle_lists

blurs = st.sampled_from([0.0, 0.5, 0.7, 1.0, 2.5, 4.0]) | st.floats(0.0, 4.0)
sizes = st.integers(8, 40)
UNTOUCHED = 77


def rendered(
    rectangles: np.ndarray, height: int, width: int, colors: list[int], n_colors: int, blur: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Image, rank map and label map by the kernel; rectangle k has rank 10 + k."""
    sides, grid, n = empty_sides(), empty_grid(), len(rectangles)
    sides[:, :n] = rectangles.T
    compress(sides, n, width, height, grid)
    color_of_label = np.full((MAX_RECTANGLES + 1, 3), UNTOUCHED, np.uint32)
    color_of_label[0] = 0
    color_of_label[1 : n + 1] = hue_palette(n_colors)[colors]
    rank_of_label = np.arange(9, 10 + MAX_RECTANGLES, dtype=np.uint8)
    rank_of_label[0] = 0
    image = np.full((3, height, 3 * width), UNTOUCHED, np.uint8)
    rank, label = np.full((2, 3, height, width), UNTOUCHED, np.uint8)
    weights = blur_weights(blur)
    canvas = empty_canvas(height, width, weights)
    # The second of three samples, in room that an earlier one has left in use.
    for room in canvas:
        room.fill(1)
    render(grid, color_of_label, rank_of_label, weights, canvas, 1, image, rank, label)
    for array in (image, rank, label):
        assert (array[[0, 2]] == UNTOUCHED).all()
    return image[1].reshape(height, width, 3), rank[1], label[1]


@settings(max_examples=200)
@given(st.data(), sizes, sizes, blurs)
def test_a_rendered_scene_equals_the_reference(
    data: st.DataObject, height: int, width: int, blur: float
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, min_rectangles=0))
    n = len(rectangles)
    n_colors = data.draw(st.integers(max(n, 1), 14))
    colors = data.draw(st.permutations(range(n_colors)))[:n]
    image, rank, label = rendered(rectangles, height, width, colors, n_colors, blur)
    painted = reference.paint(rectangles, height, width)
    expected = reference.render(painted, colors, reference.palette(n_colors), blur)
    assert label.tolist() == painted.tolist()
    assert rank.tolist() == reference.rank_map(painted, range(10, 10 + n)).tolist()
    assert image.tolist() == expected.tolist()


def test_a_large_picture_with_as_many_rectangles_as_there_can_be() -> None:
    rng = np.random.default_rng(0)
    corners = rng.integers(0, [180, 120], (MAX_RECTANGLES, 2))
    rectangles = np.concatenate([corners, corners + rng.integers(5, 40, corners.shape)], axis=1)
    rectangles = np.minimum(rectangles, [200, 150, 200, 150])
    colors = rng.permutation(MAX_RECTANGLES).tolist()
    image, _, label = rendered(rectangles, 150, 200, colors, MAX_RECTANGLES, 1.3)
    palette = reference.palette(MAX_RECTANGLES)
    assert image.tolist() == reference.render(label, colors, palette, 1.3).tolist()


@pytest.mark.parametrize("n_colors", range(1, MAX_RECTANGLES + 1))
def test_the_palette_equals_the_reference(n_colors: int) -> None:
    assert hue_palette(n_colors).tolist() == reference.palette(n_colors).tolist()


@settings(max_examples=200)
@given(st.floats(0.0, 4.0))
@example(0.0)
@example(0.1)
@example(0.125)
@example(0.7)
@example(4)
@example(5e-324)
def test_the_weights_of_the_blur_equal_the_reference(blur: float) -> None:
    weights = blur_weights(blur)
    assert weights.tolist() == reference.blur_weights(blur).tolist()
    assert weights.sum() == 4096


@pytest.mark.parametrize("hundredths", range(0, 401, 5))
def test_the_weights_of_the_blur_equal_the_reference_at_round_values(hundredths: int) -> None:
    blur = hundredths / 100
    assert blur_weights(blur).tolist() == reference.blur_weights(blur).tolist()
