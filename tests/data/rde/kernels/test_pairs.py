"""How far the cues of a pair must reach: counted by hand, and against the plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError
from synthprobe_data.rde import pair_distances, read_difficulty, read_scene
from synthprobe_data.rde import reference_difficulty as reference
from synthprobe_data.strategies import GeneratedSample, generated_samples, rectangle_lists
from tests.data.rde.drawing import SYMMETRIES, Box, boxes

# Counted by hand on squared paper, in a picture of 24 by 24 pixels.
DRAWN: dict[str, tuple[list[Box], dict[tuple[int, int], int]]] = {
    "apart: two without a cue": ([(1, 1, 5, 5), (9, 9, 20, 20)], {}),
    # As for the whole scene, because there is only this pair.
    "nested: convexity alone": ([(1, 1, 23, 23), (4, 4, 9, 9)], {(1, 0): 14}),
    "crossing: two pieces": ([(2, 6, 23, 13), (10, 0, 15, 23)], {(1, 0): 9}),
    "hidden end": ([(1, 5, 11, 9), (8, 0, 22, 23)], {(1, 0): 13}),
    # From a corner of the lowest one to the highest one it is 6, past its own nearest cue.
    "three levels": (
        [(0, 0, 24, 24), (3, 3, 21, 21), (6, 6, 18, 18)],
        {(1, 0): 3, (2, 0): 6, (2, 1): 3},
    ),
}


def distances(rectangles: np.ndarray, height: int, width: int) -> np.ndarray:
    n = np.array([len(rectangles)])
    return pair_distances(rectangles[None], n, height=height, width=width)[0]


def plain_distances(rectangles: np.ndarray, height: int, width: int) -> list[list[int]]:
    n = len(rectangles)
    return [
        [reference.pair_distance(a, b, rectangles, height, width) for b in range(n)]
        for a in range(n)
    ]


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_pairs_have_the_distances_counted_by_hand_however_they_are_turned(name: str) -> None:
    rectangles, expected = DRAWN[name]
    for turned in SYMMETRIES.values():
        found = distances(turned(boxes(*rectangles), 24), 24, 24)
        assert {(a, b): found[a, b] for a, b in np.argwhere(found).tolist()} == expected


@settings(max_examples=60)
@given(st.data(), st.integers(8, 18), st.integers(8, 18))
def test_any_scene_has_the_distances_of_the_reference(
    data: st.DataObject, height: int, width: int
) -> None:
    scenes = rectangle_lists(height=height, width=width, max_rectangles=5, beyond=1)
    rectangles = data.draw(scenes)
    found = distances(rectangles, height, width)
    assert found.tolist() == plain_distances(rectangles, height, width)


@settings(max_examples=40)
@given(generated_samples())
def test_only_pairs_with_a_cue_have_one_and_some_pair_reaches_as_far_as_the_scene(
    drawn: GeneratedSample,
) -> None:
    height, width = drawn.config.height, drawn.config.width
    found = distances(drawn.rectangles, height, width)
    assert not found[drawn.sample["above"][: drawn.n, : drawn.n] == 0].any()
    scene = read_scene(drawn.rectangles, height=height, width=width)
    assert found.max() >= read_difficulty(scene).cue_distance


def test_what_is_no_scene_has_no_distances() -> None:
    with pytest.raises(SynthprobeError, match="x0 < x1"):
        pair_distances(np.array([[[5, 5, 5, 9]]]), np.array([1]), height=16, width=16)
