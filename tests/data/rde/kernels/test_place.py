"""Placement by the kernels against the reference: rule by rule, and scene by scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data.random import STREAM_LENGTH, draw_two_pairs, open_stream, stream_key
from synthprobe_data.rde import reference
from synthprobe_data.rde.config import MAX_RECTANGLES, MODES, RdeConfig
from synthprobe_data.rde.kernels.grid import Grid, compress, empty_grid, empty_sides
from synthprobe_data.rde.kernels.place import (
    accepts,
    compare_sides,
    everyone_shows,
    kernel_settings,
    overlap,
    place,
    shows_enough,
    side_too_near,
    t_junction_too_near,
)
from synthprobe_data.rde.scene import first_refused
from synthprobe_data.strategies import (
    GeneratedSample,
    candidates,
    configs,
    generated_samples,
    nudged,
    rectangle_lists,
    seeds,
)

BY_RULES = ("rules", "certified")
small = st.integers(12, 30)
lengths = st.integers(0, 4)


def on_grid(rectangles: np.ndarray, height: int, width: int) -> tuple[np.ndarray, Grid]:
    sides, grid = empty_sides(), empty_grid()
    sides[:, : len(rectangles)] = rectangles.T
    compress(sides, len(rectangles), width, height, grid)
    return sides, grid


def too_near(sides: np.ndarray, n: int, n_par: int, grid: Grid) -> bool:
    """Rule 4 by the kernels."""
    columns, rows = grid.size
    upright, level = (compare_sides(sides, n, axis, n_par)[1] for axis in (0, 1))
    return side_too_near(
        sides, n, upright, 0, n_par, grid.x, grid.y, rows, grid.label
    ) or side_too_near(sides, n, level, 1, n_par, grid.y, grid.x, columns, grid.label.T)


def first_refused_by_reference(config: RdeConfig, rectangles: np.ndarray) -> int | None:
    refused = (
        k for k in range(len(rectangles)) if not reference.accepts(config, rectangles[: k + 1])
    )
    return next(refused, None)


# The four ways to turn a picture of 24 x 24 pixels.
everywhere = pytest.mark.parametrize(
    "turned",
    [
        lambda r: r,
        lambda r: np.array([24, 0, 24, 0]) + r[:, [2, 1, 0, 3]] * [-1, 1, -1, 1],
        lambda r: r[:, [1, 0, 3, 2]],
        lambda r: np.array([0, 24, 0, 24]) + r[:, [1, 2, 3, 0]] * [1, -1, 1, -1],
    ],
    ids=["as drawn", "mirrored", "transposed", "turned"],
)


# ------------------------------------------------------------------------- each rule by itself
# On scenes that no placement would ever lead to, so that each rule stands alone.

scene_sizes = st.integers(8, 26)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[np.ndarray, RdeConfig]:
    height, width = draw(scene_sizes), draw(scene_sizes)
    # In this mode any lengths go with any size; the rules do not ask for the mode.
    drawn_lengths: dict[str, Any] = {name: draw(lengths) for name in ("n_vis", "n_gap", "n_par")}
    config = RdeConfig(height=height, width=width, mode="ambiguous", **drawn_lengths)
    rectangles = draw(rectangle_lists(height=height, width=width, max_rectangles=4))
    for _ in range(draw(st.integers(0, 2))):
        rectangles = np.concatenate([rectangles, draw(candidates(config, rectangles))[None]])
    return rectangles, config


@settings(max_examples=200)
@given(scenes())
def test_rule_2_visibility_equals_the_reference(scene: tuple[np.ndarray, RdeConfig]) -> None:
    rectangles, config = scene
    sides, grid = on_grid(rectangles, config.height, config.width)
    settings = kernel_settings(config)
    shows = all(
        shows_enough(settings, sides, k, 0, grid.x, grid.y, grid.label)
        and shows_enough(settings, sides, k, 1, grid.y, grid.x, grid.label.T)
        for k in range(len(rectangles))
    )
    assert shows == reference.rule_visibility(config, rectangles)


@settings(max_examples=300)
@given(scenes())
def test_rule_3_no_shared_side_equals_the_reference(scene: tuple[np.ndarray, RdeConfig]) -> None:
    rectangles, config = scene
    sides, _ = on_grid(rectangles, config.height, config.width)
    for n in range(len(rectangles)):
        shared = any(compare_sides(sides, n, axis, config.n_par)[0] for axis in (0, 1))
        assert shared != reference.rule_no_shared_side(config, rectangles[: n + 1])


@settings(max_examples=400)
@given(scenes())
def test_rule_4_parallel_sides_equals_the_reference(scene: tuple[np.ndarray, RdeConfig]) -> None:
    rectangles, config = scene
    sides, _ = on_grid(rectangles, config.height, config.width)
    for n in range(len(rectangles)):
        _, grid = on_grid(rectangles[:n], config.height, config.width)
        assert too_near(sides, n, config.n_par, grid) != reference.rule_parallel_sides(
            config, rectangles[: n + 1]
        )


@everywhere
@pytest.mark.parametrize(("gap", "refused"), [(0, True), (1, True), (2, False)])
def test_rule_4_what_shows_just_beside_the_candidate_counts(
    turned: Callable, gap: int, refused: bool
) -> None:
    config = RdeConfig(height=24, width=24, n_par=2, mode="ambiguous")
    rectangles = turned(np.array([(10 + gap, 8, 20, 14), (2, 2, 10, 20)]))
    sides, _ = on_grid(rectangles, 24, 24)
    _, grid = on_grid(rectangles[:1], 24, 24)
    assert too_near(sides, 1, 2, grid) is refused
    assert reference.rule_parallel_sides(config, rectangles) is not refused


@settings(max_examples=200)
@given(scenes())
def test_rule_5_t_junctions_equals_the_reference(scene: tuple[np.ndarray, RdeConfig]) -> None:
    rectangles, config = scene
    _, grid = on_grid(rectangles, config.height, config.width)
    assert t_junction_too_near(grid, config.n_vis) != reference.rule_t_junctions(config, rectangles)


@settings(max_examples=100)
@given(scenes())
def test_whether_everyone_shows_equals_the_reference(scene: tuple[np.ndarray, RdeConfig]) -> None:
    rectangles, config = scene
    _, grid = on_grid(rectangles, config.height, config.width)
    assert everyone_shows(grid, len(rectangles)) == reference.rule_still_shows(config, rectangles)


@pytest.mark.parametrize("hidden", [None, 0, 31, 61])
def test_everyone_of_the_largest_scene_must_show(hidden: int | None) -> None:
    k = np.arange(MAX_RECTANGLES)
    rectangles = np.stack([2 * (k % 8), 2 * (k // 8), 2 * (k % 8) + 2, 2 * (k // 8) + 2], axis=1)
    if hidden is not None:
        rectangles[-1] = rectangles[hidden]
    _, grid = on_grid(rectangles, 16, 16)
    assert everyone_shows(grid, MAX_RECTANGLES) == (hidden is None)


@given(scenes())
def test_overlap_is_a_pixel_in_common(scene: tuple[np.ndarray, RdeConfig]) -> None:
    rectangles, config = scene
    sides, _ = on_grid(rectangles, config.height, config.width)
    alone = [reference.paint(r[None], config.height, config.width) for r in rectangles]
    for i, j in np.ndindex(len(alone), len(alone)):
        assert overlap(sides, i, j) == np.any(alone[i] & alone[j])


# ------------------------------------------------------------------------------- all rules together


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=80)
@given(data=st.data())
def test_arbitrary_scenes_are_refused_where_the_reference_refuses(
    mode: str, data: st.DataObject
) -> None:
    config = data.draw(configs(mode=mode, height=small, width=small, min_size=0.0))
    rectangles = data.draw(rectangle_lists(height=config.height, width=config.width))
    assert first_refused(config, rectangles) == first_refused_by_reference(config, rectangles)


crowded: dict[str, Any] = {"height": small, "width": small, "n_rectangles": 6, "trials": 200}


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=60)
@given(data=st.data())
def test_placed_scenes_with_a_side_off_are_refused_where_the_reference_refuses(
    mode: str, data: st.DataObject
) -> None:
    drawn = data.draw(generated_samples(configs(mode=mode, **crowded)))
    config, rectangles = drawn.config, drawn.rectangles
    assert first_refused(config, rectangles) is None
    assert first_refused_by_reference(config, rectangles) is None
    for _ in range(4):
        off = data.draw(nudged(rectangles, height=config.height, width=config.width))
        assert first_refused(config, off) == first_refused_by_reference(config, off)


few = st.integers(0, 3)


@pytest.mark.parametrize(
    "lengths",
    [
        {"n_vis": few, "n_gap": few, "n_par": few},
        {"n_vis": st.integers(4, 7), "n_gap": few, "n_par": few},
        {"n_vis": few, "n_gap": few, "n_par": st.integers(4, 7)},
        {"n_vis": few, "n_gap": st.integers(4, 7), "n_par": few},
    ],
    ids=["small", "n_vis large", "n_par large", "n_gap large"],
)
@settings(max_examples=60)
@given(data=st.data())
def test_candidates_near_other_sides_are_refused_where_the_reference_refuses(
    lengths: dict[str, st.SearchStrategy[int]], data: st.DataObject
) -> None:
    drawn = data.draw(
        generated_samples(configs(mode="rules", **(crowded | {"min_size": 0.0} | lengths)))
    )
    kept = data.draw(st.integers(0, drawn.n - 1))
    earlier = drawn.rectangles[:kept]
    for _ in range(8):
        candidate = data.draw(candidates(drawn.config, earlier))
        scene = np.concatenate([earlier, candidate[None]])
        accepted = reference.accepts(drawn.config, scene)
        assert first_refused(drawn.config, scene) == (None if accepted else kept)


# --------------------------------------------------------------------------------- T-junctions

BIG = (16, 16, 48, 48)
LONG_WALKS = RdeConfig(height=64, width=64, n_vis=7, n_gap=3, n_par=5, min_size=0.125, mode="rules")


@pytest.mark.parametrize(("length", "refused"), [(5, 2), (6, 2), (7, None), (8, None)])
def test_rule_5_counts_by_itself_where_n_par_is_less_than_n_vis(
    length: int, refused: int | None
) -> None:
    stem = np.array([BIG, (36, 4, 60, 30), (8, 9, 36 - length, 26)])
    arm = np.array([(16, 30, 48, 60), (36, 10, 60, 44), (24, 1, 52, 30 - length)])
    for scene in (stem, arm, stem[:, [1, 0, 3, 2]], arm[:, [1, 0, 3, 2]]):
        for rule in (
            reference.rule_visibility,
            reference.rule_no_shared_side,
            reference.rule_parallel_sides,
        ):
            assert rule(LONG_WALKS, scene)
        assert reference.rule_t_junctions(LONG_WALKS, scene) is (refused is None)
        assert first_refused(LONG_WALKS, scene) == refused


@pytest.mark.parametrize("mode", BY_RULES)
def test_a_candidate_thinner_than_n_vis_is_refused(mode: str) -> None:
    # Nothing thinner than n_vis ever gets into a scene, whatever n_gap, n_par and min_size allow.
    config = RdeConfig(height=40, width=40, n_vis=6, n_gap=0, n_par=6, min_size=0.0, mode=mode)
    for thickness in range(1, 10):
        for thin in ([3, 3, 3 + thickness, 30], [3, 3, 30, 3 + thickness]):
            scene = np.array([thin])
            assert reference.accepts(config, scene) == (thickness > 6)
            assert (first_refused(config, scene) is None) == (thickness > 6)


@pytest.mark.parametrize("mode", BY_RULES)
@given(config=configs())
def test_t_junctions_are_walked_only_where_rule_4_does_not_keep_them_apart(
    mode: str, config: RdeConfig
) -> None:
    config = RdeConfig.from_dict(config.to_dict() | {"mode": mode})
    assert kernel_settings(config).walk_t_junctions == (config.n_vis > config.n_par)


@st.composite
def rule_5_implied(draw: st.DrawFn) -> RdeConfig:
    n_par = draw(st.integers(0, 6))
    n_vis = draw(st.integers(max(n_par - 1, 0), n_par))
    return draw(configs(mode="rules", n_par=n_par, n_vis=n_vis, n_gap=few, **crowded))


@settings(max_examples=100)
@given(generated_samples(rule_5_implied()))
def test_rule_5_holds_by_itself_where_n_par_is_not_less_than_n_vis(drawn: GeneratedSample) -> None:
    assert not kernel_settings(drawn.config).walk_t_junctions
    for n in range(1, drawn.n + 1):
        assert reference.rule_t_junctions(drawn.config, drawn.rectangles[:n])


def test_rule_5_holds_by_itself_in_many_crowded_scenes() -> None:
    # Walking, which the parity above covers, refuses nothing that rule 4 let pass.
    rng = np.random.default_rng(0)
    for n_vis in (2, 3, 5):
        config = RdeConfig(
            height=28, width=35, n_vis=n_vis, n_gap=0, n_par=n_vis, n_rectangles=8, mode="rules"
        )
        kernel = kernel_settings(config)
        assert not kernel.walk_t_junctions
        walking = kernel._replace(walk_t_junctions=1)
        for seed in rng.integers(2**32, size=150):
            sides, grid, trial = empty_sides(), empty_grid(), empty_grid()
            n = place(opened(int(seed)), kernel, sides, grid, trial)
            compress(sides, 0, config.width, config.height, grid)
            for k in range(n):
                assert accepts(walking, sides, k, grid, trial)
                grid, trial = trial, grid


# ----------------------------------------------------------------------------------------- drawing


def opened(seed: int) -> np.ndarray:
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, "rde", "train"), 0)
    return stream


def placed_by_reference(config: RdeConfig, stream: np.ndarray) -> np.ndarray:
    """What RULES.md says of placement, word for word."""
    scene = np.empty((0, 4), np.int64)
    unsuccessful = 0
    while len(scene) < config.n_rectangles and unsuccessful < config.trials:
        a, b, c, d = draw_two_pairs(stream, config.width + 1, config.height + 1)
        candidate = [min(a, b), min(c, d), max(a, b), max(c, d)]
        trial = np.concatenate([scene, [candidate]])
        if reference.accepts(config, trial):
            scene = trial
        else:
            unsuccessful += 1
    return scene


@settings(max_examples=60)
@given(configs(height=small, width=small, trials=st.integers(1, 60), n_vis=few, n_par=few), seeds())
def test_a_scene_is_drawn_candidate_by_candidate_until_full_or_out_of_trials(
    config: RdeConfig, seed: int
) -> None:
    stream, same, sides = opened(seed), opened(seed), empty_sides()
    n = place(stream, kernel_settings(config), sides, empty_grid(), empty_grid())
    assert sides[:, :n].T.tolist() == placed_by_reference(config, same).tolist()
    assert stream.tolist() == same.tolist()
