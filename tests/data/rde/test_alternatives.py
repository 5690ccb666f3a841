"""A second scene, where it is found, proves that a picture has two readings."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from synthprobe_data import strategies
from synthprobe_data.rde import RdeConfig, first_refused, read_scene, reference
from synthprobe_data.rde.alternatives import second_scene
from synthprobe_data.strategies import GeneratedSample
from tests.data.rde.drawing import boxes
from tests.data.rde.solver.pictures import picture


@settings(max_examples=40)
@given(strategies.generated_samples(strategies.configs(mode="ambiguous", blur=0.7)))
def test_a_second_scene_is_legal_with_the_same_pixels_and_other_ranks(
    drawn: GeneratedSample,
) -> None:
    config, rectangles = drawn.config, drawn.rectangles
    for other_ranks in (True, False):
        second = second_scene(config, rectangles, other_ranks=other_ranks)
        if second is None:
            continue
        assert all(reference.accepts(config, second.rectangles[: k + 1]) for k in range(drawn.n))
        label = reference.paint(second.rectangles, config.height, config.width)
        place = [int(drawn.sample["label"][label == k][0]) for k in range(1, drawn.n + 1)]
        palette = reference.palette(config.palette_size)
        colors = [int(drawn.sample["color"][k - 1]) for k in place]
        image = reference.render(label, colors, palette, config.blur)
        assert image.tolist() == drawn.sample["image"].tolist()
        ranks = reference.ranks(
            reference.relation_of_scene(second.rectangles, config.height, config.width)
        )
        assert ranks is not None
        if other_ranks:
            assert (reference.rank_map(label, ranks) != drawn.sample["rank"]).any()
        else:
            assert place != sorted(place)


def test_the_rules_let_an_undecided_pair_be_exchanged() -> None:
    # The second hides an end of the first, but two others hide both T-junctions of it.
    config = RdeConfig(mode="rules", height=100, width=100, n_rectangles=4)
    scene = boxes((10, 20, 60, 70), (40, 10, 90, 80), (30, 2, 55, 32), (28, 60, 52, 95))
    assert first_refused(config, scene) is None
    second = second_scene(config, scene, other_ranks=False)
    assert second is not None
    assert first_refused(config, second.rectangles) is None
    wider, narrower = second.rectangles[:2].tolist()
    assert wider[0] < 40
    assert wider[1:] == [10, 90, 80]
    assert narrower == [10, 20, 40, 70]
    assert second_scene(config, scene) is None  # the ranks are the same either way


def test_a_crossing_has_no_second_scene() -> None:
    scene = boxes((4, 20, 60, 40), (20, 4, 40, 60))
    for mode in ("rules", "ambiguous"):
        config = RdeConfig(mode=mode, height=64, width=64, n_rectangles=2)
        assert second_scene(config, scene) is None
        assert second_scene(config, scene, other_ranks=False) is None


def test_without_rules_an_end_may_be_hidden_or_just_meet() -> None:
    config = RdeConfig(mode="ambiguous", height=64, width=64, n_rectangles=2)
    scene = boxes((8, 20, 40, 40), (32, 8, 60, 56))  # the end of the first is hidden
    second = second_scene(config, scene)
    assert second is not None
    assert second.rectangle_rank.tolist() == [1, 1]
    first = read_scene(scene, height=64, width=64)
    assert first.rectangle_rank.tolist() == [1, 2]
    same = [picture(np.minimum(scene.label, 1)).tolist() for scene in (first, second)]
    assert same[0] == same[1]
