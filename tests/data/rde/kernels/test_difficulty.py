"""The difficulty of a scene: hand-drawn scenes, and the kernels against the plain twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError
from synthprobe_data.rde import read_difficulty, read_scene
from synthprobe_data.rde import reference_difficulty as reference
from synthprobe_data.rde.config import MAX_RECTANGLES, MAX_SIZE
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.rde.kernels.difficulty import COLUMNS, difficulty_block
from synthprobe_data.strategies import GeneratedSample, configs, generated_samples, rectangle_lists
from tests.data.rde.drawing import SYMMETRIES, Box, boxes

Figures = tuple[int, int, int, tuple[int, ...]]
"""convexity_only, cue_distance, depth, pieces."""

# Counted by hand on squared paper, in a picture of 24 by 24 pixels.
DRAWN: dict[str, tuple[list[Box], Figures]] = {
    "alone: no cue, so no way to one": ([(2, 3, 20, 19)], (0, 0, 1, (1,))),
    "apart: two without a cue": ([(1, 1, 5, 5), (9, 9, 20, 20)], (0, 0, 1, (1, 1))),
    # The boxes meet in the inner one; the farthest column, 22, is 14 from its last one, 8.
    "nested: convexity alone": ([(1, 1, 23, 23), (4, 4, 9, 9)], (1, 14, 2, (1, 1))),
    # The lower T-junctions have the rows 12 and 13, the right ones the columns 14 and 15. From
    # (22, 9) it is 7 columns, from (12, 22) 9 rows.
    "crossing: two pieces": ([(2, 6, 23, 13), (10, 0, 15, 23)], (0, 9, 2, (2, 1))),
    # T-junctions alone, around (8, 5) and (8, 9): pixels 7 and 8, rows 4, 5, 8 and 9. The upper
    # one's farthest pixels are (21, 0) and (21, 22): 13 columns, and 13 rows from row 9.
    "hidden end": ([(1, 5, 11, 9), (8, 0, 22, 23)], (0, 13, 2, (1, 1))),
    # The middle one's box is a cue for the lowest one, and the corners are 3 away from it.
    "three levels": ([(0, 0, 24, 24), (3, 3, 21, 21), (6, 6, 18, 18)], (3, 3, 3, (1, 1, 1))),
    "hidden wholly": ([(6, 6, 9, 9), (4, 4, 12, 12)], (0, 0, 1, (0, 1))),
}


def read(rectangles: np.ndarray, height: int, width: int) -> Figures:
    found = read_difficulty(read_scene(rectangles, height=height, width=width))
    return found.convexity_only, found.cue_distance, found.depth, tuple(found.pieces.tolist())


def read_plainly(rectangles: np.ndarray, height: int, width: int) -> Figures:
    return (
        reference.convexity_only(rectangles, height, width),
        reference.cue_distance(rectangles, height, width),
        reference.depth(rectangles, height, width),
        reference.pieces(rectangles, height, width),
    )


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_scenes_have_the_figures_counted_by_hand_however_they_are_turned(name: str) -> None:
    rectangles, expected = DRAWN[name]
    for turned in SYMMETRIES.values():
        scene = turned(boxes(*rectangles), 24)
        assert read_plainly(scene, 24, 24) == expected
        assert read(scene, 24, 24) == expected


sizes = st.integers(8, 18)


@settings(max_examples=120)
@given(st.data(), sizes, sizes)
def test_any_scene_has_the_figures_of_the_reference(
    data: st.DataObject, height: int, width: int
) -> None:
    scenes = rectangle_lists(height=height, width=width, max_rectangles=7, beyond=1)
    rectangles = data.draw(scenes)
    assert read(rectangles, height, width) == read_plainly(rectangles, height, width)


@settings(max_examples=60)
@given(generated_samples())
def test_generated_scenes_have_the_figures_of_the_reference(drawn: GeneratedSample) -> None:
    height, width = drawn.config.height, drawn.config.width
    assert read(drawn.rectangles, height, width) == read_plainly(drawn.rectangles, height, width)


def test_the_most_pieces_that_a_scene_can_have() -> None:
    level = [(0, y, MAX_SIZE, y + 16) for y in range(16, MAX_SIZE - 15, 33)][:31]
    upright = [(x, 0, x + 16, MAX_SIZE) for x in range(16, MAX_SIZE - 15, 33)][:31]
    rectangles = boxes((0, 0, MAX_SIZE, MAX_SIZE), *level, *upright)
    assert len(rectangles) == MAX_RECTANGLES
    found = read_difficulty(read_scene(rectangles, height=MAX_SIZE, width=MAX_SIZE))
    assert found.pieces.tolist() == [32 * 32, *[32] * 31, *[1] * 31]


@settings(max_examples=50)
@given(generated_samples(configs(n_rectangles=st.integers(2, 6))))
def test_nobody_is_farther_from_a_cue_than_the_picture_is_large(drawn: GeneratedSample) -> None:
    found = read_difficulty(
        read_scene(drawn.rectangles, height=drawn.config.height, width=drawn.config.width)
    )
    assert found.cue_distance < max(drawn.config.height, drawn.config.width)
    assert found.depth == drawn.sample["rectangle_rank"].max()
    assert found.convexity_only == np.sum(drawn.sample["above"] == 2)


SMALL: dict[str, Any] = {
    "height": 40,
    "width": 32,
    "n_rectangles": 5,
    "n_vis": 3,
    "n_gap": 2,
    "n_par": 3,
}


@pytest.mark.parametrize("mode", ["certified", "ambiguous"])
def test_stored_on_demand_it_leaves_all_else_as_it_is(mode: str) -> None:
    plain = generate_block(RdeConfig(**SMALL, mode=mode), 3, "test", 5, 20)
    config = RdeConfig(**SMALL, mode=mode, difficulty=True)
    block = generate_block(config, 3, "test", 5, 20)
    assert set(block) - set(plain) == set(COLUMNS)
    for name, values in plain.items():
        assert values.tobytes() == block[name].tobytes()
    for i in range(20):
        n = int(block["n_rectangles"][i])
        figures = read_plainly(block["rectangles"][i][:n].astype(int), 40, 32)
        stored = tuple(block[name][i] for name in ("convexity_only", "cue_distance", "depth"))
        assert stored == figures[:3]
        assert block["pieces"][i].tolist() == [*figures[3], *[0] * (5 - n)]


def test_what_is_no_scene_has_no_difficulty() -> None:
    for rectangles, n in (([[[5, 5, 5, 9]]], [1]), ([[[5, 5, 8, 9]]], [2])):
        with pytest.raises(SynthprobeError, match="x0 < x1"):
            difficulty_block(np.array(rectangles), np.array(n), height=16, width=16)
