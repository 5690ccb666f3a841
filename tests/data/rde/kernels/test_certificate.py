"""The certificate by the kernels against the reference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data.rde import reference
from synthprobe_data.rde.kernels.certificate import (
    empty_room,
    find_box_sides,
    is_decided,
    move_matters,
)
from synthprobe_data.rde.kernels.cues import Cues, empty_cues, find_cues
from synthprobe_data.rde.kernels.grid import Grid, compress, empty_grid, empty_sides
from synthprobe_data.rde.scene import read_scene
from synthprobe_data.strategies import (
    GeneratedSample,
    certified_scenes,
    configs,
    generated_samples,
    nudged,
    rectangle_lists,
)

sizes = st.integers(8, 14)
few = st.integers(0, 2)
crowded: dict[str, Any] = {
    "height": st.integers(12, 22),
    "width": st.integers(12, 22),
    "n_rectangles": 5,
    "n_vis": few,
    "n_gap": few,
    "n_par": few,
    "min_size": 0.1,
    "trials": 200,
}


def failure(rectangles: np.ndarray, height: int, width: int) -> str | None:
    """By the kernels, and the same by the reference."""
    before = rectangles.copy()
    found = read_scene(rectangles, height=height, width=width).failure
    assert found == reference.certificate_failure(rectangles, height, width)
    assert rectangles.tolist() == before.tolist()
    return found


def random_scene(rng: np.random.Generator, n: int, height: int, width: int) -> np.ndarray:
    x = np.sort([rng.choice(width + 1, 2, replace=False) for _ in range(n)], axis=1)
    y = np.sort([rng.choice(height + 1, 2, replace=False) for _ in range(n)], axis=1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)


def cues_of(rectangles: np.ndarray, height: int, width: int) -> tuple[np.ndarray, Grid, Cues]:
    sides, grid, cues, n = empty_sides(), empty_grid(), empty_cues(), len(rectangles)
    sides[:, :n] = rectangles.T
    compress(sides, n, width, height, grid)
    find_cues(grid, n, cues)
    return sides, grid, cues


@settings(max_examples=250)
@given(st.data(), sizes, sizes, st.integers(0, 1))
def test_failures_of_any_scene_equal_the_reference(
    data: st.DataObject, height: int, width: int, beyond: int
) -> None:
    scenes = rectangle_lists(height=height, width=width, max_rectangles=5, beyond=beyond)
    failure(data.draw(scenes), height, width)


def test_failures_of_random_scenes_equal_the_reference_whatever_they_are() -> None:
    rng = np.random.default_rng(4)
    found: Counter[str | None] = Counter()
    for _ in range(200):
        height, width = (int(size) for size in rng.integers(8, 15, 2))
        found[failure(random_scene(rng, 3, height, width), height, width)] += 1
    assert set(found) == {None, "unreadable", "undecided", "unstable"}
    assert found["unstable"] > 10
    assert found[None] > 10


@settings(max_examples=40)
@given(st.data(), generated_samples(configs(mode="rules", **crowded)))
def test_failures_of_placed_scenes_equal_the_reference(
    data: st.DataObject, drawn: GeneratedSample
) -> None:
    height, width = drawn.config.height, drawn.config.width
    failure(drawn.rectangles, height, width)
    failure(data.draw(nudged(drawn.rectangles, height=height, width=width)), height, width)


@settings(max_examples=25)
@given(certified_scenes(configs(mode="certified", **crowded)))
def test_certified_scenes_have_the_references_certificate(scene: tuple) -> None:
    config, rectangles = scene
    assert failure(rectangles, config.height, config.width) is None


@settings(max_examples=200)
@given(st.data(), st.integers(8, 20), st.integers(8, 20))
def test_decided_equals_the_reference(data: st.DataObject, height: int, width: int) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, min_rectangles=2, beyond=1))
    _, grid, cues = cues_of(rectangles, height, width)
    decided = is_decided(grid, cues, len(rectangles), empty_room())
    assert decided == reference.is_decided(rectangles, height, width)


@pytest.mark.parametrize("beyond", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_a_move_that_does_not_matter_changes_no_cue(n: int, beyond: int) -> None:
    rng = np.random.default_rng(n)
    left_out = 0
    for _ in range(500):
        height, width = (int(size) for size in rng.integers(8, 16, 2))
        scene = random_scene(rng, n, height + 2 * beyond, width + 2 * beyond) - beyond
        left_out += _moves_left_out(scene, height, width)
    assert left_out > 100


def test_a_move_matters_that_bares_or_hides_the_end_of_a_box_beside_a_rectangle_apart() -> None:
    """The last hides the lower right of the first, and ends where the third does, apart from it.

    When it moves to the right, the third shows in the box around what shows of the first.
    """
    rectangles = np.array([(2, 2, 20, 20), (8, 7, 21, 13), (10, 1, 21, 8), (10, 12, 23, 22)])
    moved = rectangles + np.array([[0], [0], [0], [1]]) * [1, 0, 1, 0]
    assert not reference.above_by_convexity(reference.paint(rectangles, 26, 26), 4)[2, 0]
    assert reference.above_by_convexity(reference.paint(moved, 26, 26), 4)[2, 0]
    for scene in (rectangles, moved):
        mirrored = np.array([26, 0, 26, 0]) + scene[:, [2, 1, 0, 3]] * [-1, 1, -1, 1]
        for turned in (scene, mirrored, scene[:, [1, 0, 3, 2]], mirrored[:, [1, 0, 3, 2]]):
            _moves_left_out(turned, 26, 26)


def _moves_left_out(rectangles: np.ndarray, height: int, width: int) -> int:
    """How many moves are said not to matter; each is checked to change no cue."""
    sides, grid, cues = cues_of(rectangles, height, width)
    n, boxes = len(rectangles), empty_room().boxes
    find_box_sides(grid.x, cues.box_x, grid.size[0], n, boxes, 0)
    find_box_sides(grid.y, cues.box_y, grid.size[1], n, boxes, 1)
    left_out = 0
    for axis, size in ((0, width), (1, height)):
        for k, step in np.ndindex(n, 2):
            step = 2 * step - 1
            if not move_matters(sides, boxes, axis, n, k, step, size):
                moved = rectangles.copy()
                moved[k, axis::2] += step
                _, _, new = cues_of(moved, height, width)
                assert new.t_junction[:n].tolist() == cues.t_junction[:n].tolist()
                assert new.t_junction_seen[:n].tolist() == cues.t_junction_seen[:n].tolist()
                assert new.convexity[:n].tolist() == cues.convexity[:n].tolist()
                left_out += 1
    return left_out


@given(st.data(), st.integers(8, 20), st.integers(8, 20))
def test_boxes_are_the_smallest_around_what_shows(
    data: st.DataObject, height: int, width: int
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, beyond=1))
    n, boxes = len(rectangles), empty_room().boxes
    _, grid, cues = cues_of(rectangles, height, width)
    find_box_sides(grid.x, cues.box_x, grid.size[0], n, boxes, 0)
    find_box_sides(grid.y, cues.box_y, grid.size[1], n, boxes, 1)
    label = reference.paint(rectangles, height, width)
    for k in range(n):
        rows, columns = np.nonzero(label == k + 1)
        if rows.size:
            expected = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert boxes[:, k].tolist() == expected
        else:
            assert boxes[0, k] == boxes[2, k]
