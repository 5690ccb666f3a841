"""What drawings point at, against the kernels, the reference and hand-drawn scenes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from synthprobe_data import strategies
from synthprobe_data.rde import read_scene, reference
from synthprobe_data.rde.geometry import (
    hidden_sides,
    intersection,
    t_junctions,
    visible_boxes,
    visible_centres,
)
from synthprobe_data.strategies import GeneratedSample
from tests.data.rde.drawing import boxes


@settings(max_examples=60)
@given(strategies.generated_samples())
def test_the_t_junctions_are_those_of_the_cues(drawn: GeneratedSample) -> None:
    height, width = drawn.config.height, drawn.config.width
    scene = read_scene(drawn.rectangles, height=height, width=width)
    above = np.zeros((drawn.n, drawn.n), bool)
    seen = {(t.x, t.y): t for t in reference.t_junctions_of_label_map(scene.label)}
    for t in t_junctions(drawn.rectangles, scene.label):
        above[t.bar, t.stem] = True
        assert seen[t.x, t.y].bar_owner == t.bar + 1
        assert t.stem + 1 in seen[t.x, t.y].stem_regions
        assert seen[t.x, t.y].stem_direction == (t.dx, t.dy)
    assert (above == (scene.above & 1 > 0)).all()


@settings(max_examples=60)
@given(strategies.generated_samples())
def test_the_centre_of_a_rectangle_shows_that_rectangle(drawn: GeneratedSample) -> None:
    label = drawn.sample["label"]
    centres = visible_centres(label)
    assert set(centres) == {k - 1 for k in np.unique(label) if k}
    for k, (x, y) in centres.items():
        assert label[int(y), int(x)] == k + 1


@settings(max_examples=60)
@given(strategies.generated_samples())
def test_hidden_sides_and_visible_ones_make_up_every_side(drawn: GeneratedSample) -> None:
    label = drawn.sample["label"]
    lengths = np.zeros(drawn.n, int)
    for k, x0, y0, x1, y1 in hidden_sides(drawn.rectangles, label):
        assert (x0 == x1) != (y0 == y1)
        lengths[k] += x1 - x0 + y1 - y0
    for k, (x0, y0, x1, y1) in enumerate(drawn.rectangles):
        shows = label[y0:y1, x0:x1] == k + 1
        visible = sum(
            int(np.sum(line)) for line in (shows[0], shows[-1], shows[:, 0], shows[:, -1])
        )
        assert lengths[k] + visible == 2 * (x1 - x0 + y1 - y0)


def test_a_corner_beneath_another_rectangle_is_hidden() -> None:
    rectangles = boxes((1, 1, 6, 5), (4, 3, 9, 7))
    label = reference.paint(rectangles, 8, 12)
    assert set(hidden_sides(rectangles, label)) == {(0, 6, 3, 6, 5), (0, 4, 5, 6, 5)}
    assert visible_boxes(label) == {0: (1, 1, 6, 5), 1: (4, 3, 9, 7)}
    assert intersection((1, 1, 6, 5), (4, 3, 9, 7)) == (4, 3, 6, 5)
    assert set(t_junctions(rectangles, label)) == {(6, 3, 1, 0, 0, -1), (4, 5, 1, 0, -1, 0)}
