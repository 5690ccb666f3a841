"""What the kernels say about given rectangles."""

from __future__ import annotations

import numpy as np
import pytest

from synthprobe_data import RdeConfig, SynthprobeError
from synthprobe_data.rde import first_refused, read_scene
from synthprobe_data.rde.scene import CONVEXITY, T_JUNCTION
from tests.data.rde.drawing import drawn, pairs
from tests.data.rde.scenes import Scene, each_scene


@each_scene
def test_the_kernels_read_the_drawn_order(scene: Scene) -> None:
    height, width = scene.size
    read = read_scene(scene.rectangles, height=height, width=width)
    assert drawn(read.label) == scene.rows
    assert pairs(read.above & T_JUNCTION) == scene.t_junctions
    assert pairs(read.above & CONVEXITY) == scene.convexity
    assert tuple(read.rectangle_rank) == scene.ranks
    seen = scene.t_junctions_in_label_map
    assert pairs(read.above_seen & T_JUNCTION) == (scene.t_junctions if seen is None else seen)


def test_the_relation_names_the_cues_of_each_pair() -> None:
    crossing = read_scene([(2, 8, 20, 14), (8, 2, 14, 20)], height=24, width=24)
    assert dict(crossing.relation().edges) == {(1, 0): {"t_junction": True, "convexity": True}}
    assert crossing.rank.max() == 2
    assert crossing.failure is None


@pytest.mark.parametrize("rectangle", [(-1, 2, 9, 9), (2, 2, 25, 9), (2, -1, 9, 9), (2, 2, 9, 25)])
def test_a_rectangle_over_the_border_is_refused(rectangle: tuple[int, ...]) -> None:
    config = RdeConfig(height=24, width=24, n_rectangles=2, n_vis=1, n_gap=1, n_par=1)
    assert first_refused(config, [(12, 12, 20, 20), rectangle]) == 1


def test_impossible_rectangles_get_one_sentence() -> None:
    with pytest.raises(SynthprobeError, match="x0 < x1"):
        read_scene([(5, 5, 5, 9)], height=24, width=24)
    with pytest.raises(SynthprobeError, match="at most 63"):
        read_scene(np.tile([1, 1, 9, 9], (64, 1)), height=24, width=24)
    with pytest.raises(SynthprobeError, match="height is 5"):
        read_scene([(1, 1, 4, 4)], height=5, width=24)
