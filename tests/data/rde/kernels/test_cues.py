"""The kernels of the two cues against the reference, on scenes of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data.rde import reference
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.scene import CONVEXITY, T_JUNCTION, read_scene
from synthprobe_data.strategies import (
    GeneratedSample,
    configs,
    generated_samples,
    nudged,
    rectangle_lists,
)

sizes = st.integers(8, 18)


def assert_cues_equal_the_reference(rectangles: np.ndarray, height: int, width: int) -> None:
    scene = read_scene(rectangles, height=height, width=width)
    label, n = reference.paint(rectangles, height, width), len(rectangles)
    by_t_junction = reference.above_by_t_junction(rectangles, height, width)
    seen = reference.above_by_t_junction_in_label_map(label, n)
    by_convexity = reference.above_by_convexity(label, n)
    assert scene.label.tolist() == label.tolist()
    assert (scene.above & T_JUNCTION != 0).tolist() == by_t_junction.tolist()
    assert (scene.above_seen & T_JUNCTION != 0).tolist() == seen.tolist()
    assert (scene.above & CONVEXITY != 0).tolist() == by_convexity.tolist()
    assert (scene.above_seen & CONVEXITY != 0).tolist() == by_convexity.tolist()


@settings(max_examples=250)
@given(st.data(), sizes, sizes)
def test_cues_of_any_scene(data: st.DataObject, height: int, width: int) -> None:
    scenes = rectangle_lists(height=height, width=width, min_rectangles=2, max_rectangles=7)
    assert_cues_equal_the_reference(data.draw(scenes), height, width)


@settings(max_examples=100)
@given(st.data(), sizes, sizes)
def test_cues_of_scenes_that_reach_over_the_border(
    data: st.DataObject, height: int, width: int
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, min_rectangles=2, beyond=1))
    assert_cues_equal_the_reference(rectangles, height, width)


small = st.integers(12, 28)


@settings(max_examples=60)
@given(st.data(), generated_samples(configs(height=small, width=small)))
def test_cues_of_scenes_as_they_are_placed(data: st.DataObject, drawn: GeneratedSample) -> None:
    height, width = drawn.config.height, drawn.config.width
    assert_cues_equal_the_reference(drawn.rectangles, height, width)
    rectangles = data.draw(nudged(drawn.rectangles, height=height, width=width))
    assert_cues_equal_the_reference(rectangles, height, width)


@pytest.mark.parametrize("seed", range(3))
def test_cues_of_crowded_scenes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n in (10, 30, MAX_RECTANGLES):
        corners = rng.integers(0, [20, 16], (n, 2))
        extent = rng.integers(1, 9, (n, 2))
        rectangles = np.concatenate([corners, corners + extent], axis=1)
        assert_cues_equal_the_reference(rectangles, 22, 27)


@settings(max_examples=200)
@given(st.data(), sizes, sizes)
def test_both_cues_only_ever_put_a_later_one_above_an_earlier_one(
    data: st.DataObject, height: int, width: int
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, beyond=1))
    above = read_scene(rectangles, height=height, width=width).above
    assert not np.triu(above).any()
