"""The reference twin: orders of hand-drawn scenes, and the points of label maps."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from synthprobe_data.rde import reference
from synthprobe_data.rde.reference import TJunction
from tests.data.rde.drawing import (
    Pairs,
    boxes,
    drawn,
    everywhere,
    pairs,
    random_boxes,
)
from tests.data.rde.scenes import SCENES, Scene, each_scene

# ------------------------------------------------------------------- hand-drawn scenes: the order


@each_scene
def test_paint_gives_the_drawn_picture(scene: Scene) -> None:
    label = reference.paint(boxes(*scene.rectangles), *scene.size)
    assert drawn(label) == scene.rows
    assert label.dtype == np.uint8


@each_scene
def test_each_cue_gives_the_drawn_order(scene: Scene) -> None:
    rectangles, n = boxes(*scene.rectangles), len(scene.rectangles)
    label = reference.paint(rectangles, *scene.size)
    expected_in_label_map = (
        scene.t_junctions
        if scene.t_junctions_in_label_map is None
        else scene.t_junctions_in_label_map
    )
    assert pairs(reference.above_by_t_junction(rectangles, *scene.size)) == scene.t_junctions
    assert pairs(reference.above_by_t_junction_in_label_map(label, n)) == expected_in_label_map
    assert pairs(reference.above_by_convexity(label, n)) == scene.convexity


@each_scene
def test_relations_and_ranks_are_the_drawn_ones(scene: Scene) -> None:
    rectangles, n = boxes(*scene.rectangles), len(scene.rectangles)
    label = reference.paint(rectangles, *scene.size)
    of_scene = reference.relation_of_scene(rectangles, *scene.size)
    of_label_map = reference.relation_of_label_map(label, n)
    assert set(of_scene.edges) == scene.t_junctions | scene.convexity
    assert list(of_scene.nodes) == list(of_label_map.nodes) == list(range(n))
    assert reference.ranks(of_scene) == scene.ranks
    assert reference.ranks(of_label_map) == (scene.ranks_in_label_map or scene.ranks)


@everywhere
@each_scene
def test_the_order_turns_with_the_picture(scene: Scene, turned: Callable) -> None:
    size = max(scene.size)  # more background to the right or below, which moves the border away
    rectangles = boxes(*scene.rectangles)
    label = reference.paint(rectangles, size, size)
    moved = turned(rectangles, size)
    moved_label = reference.paint(moved, size, size)
    n = len(rectangles)
    for now, before in (
        (
            reference.above_by_t_junction(moved, size, size),
            reference.above_by_t_junction(rectangles, size, size),
        ),
        (
            reference.above_by_t_junction_in_label_map(moved_label, n),
            reference.above_by_t_junction_in_label_map(label, n),
        ),
        (reference.above_by_convexity(moved_label, n), reference.above_by_convexity(label, n)),
    ):
        assert pairs(now) == pairs(before)


def test_what_reaches_over_the_border_does_not_show() -> None:
    label = reference.paint(boxes((-1, -1, 2, 2), (6, 5, 9, 9), (-3, 3, -1, 5)), 8, 8)
    assert drawn(label) == ["11......", "11......", *["........"] * 3, *["......22"] * 3]


@everywhere
@pytest.mark.parametrize(("line", "expected"), [(1, {(1, 0)}), (0, set()), (-1, set())])
def test_a_side_on_the_border_or_outside_makes_no_t_junction(
    turned: Callable, line: int, expected: Pairs
) -> None:
    # The left side of the first runs beneath the second, which reaches over the whole width.
    rectangles = turned(boxes((line, 1, 8, 5), (-1, 3, 9, 7)), 8)
    label = reference.paint(rectangles, 8, 8)
    assert pairs(reference.above_by_t_junction(rectangles, 8, 8)) == expected
    assert pairs(reference.above_by_t_junction_in_label_map(label, 2)) == expected


@everywhere
@pytest.mark.parametrize("line", [0, -1])
def test_a_side_on_the_border_does_not_see_the_far_end_of_the_row(
    turned: Callable, line: int
) -> None:
    """The third hides the T-junction of the right side; the left side is on the border.

    ::

        ........
        111111..
        1111133.
        22222332
        22222222
    """
    rectangles = turned(boxes((line, 1, 6, 4), (-1, 3, 9, 7), (5, 2, 7, 4)), 8)
    found = reference.above_by_t_junction(rectangles, 8, 8)
    assert pairs(found) == {(2, 0), (2, 1)}


def test_a_rectangle_that_does_not_show_is_in_no_order_and_has_rank_1() -> None:
    rectangles = boxes((3, 3, 5, 5), (1, 1, 7, 7), (2, 2, 6, 4))
    relation = reference.relation_of_scene(rectangles, 8, 8)
    assert set(relation.edges) == {(2, 1)}
    assert reference.ranks(relation) == (1, 1, 2)


def test_in_random_scenes_only_a_later_one_is_above_and_the_ranks_are_longest_paths() -> None:
    rng = np.random.default_rng(1)
    deepest = 0
    for _ in range(40):
        rectangles = random_boxes(rng, 7, 20, 24)
        relation = reference.relation_of_scene(rectangles, 20, 24)
        assert all(u > v for u, v in relation.edges)
        found = reference.ranks(relation)
        assert found is not None
        for u in relation:
            beneath = relation.subgraph({u, *nx.descendants(relation, u)})
            assert found[u] == nx.dag_longest_path_length(beneath) + 1
        deepest = max(deepest, *found)
    assert deepest >= 4  # else this was too easy


def test_ranks_are_the_lowest_that_the_relation_allows() -> None:
    relation = nx.DiGraph([(3, 1), (1, 0), (3, 0), (2, 0), (4, 2), (4, 3)])
    relation.add_node(5)
    assert reference.ranks(nx.DiGraph()) == ()
    assert reference.ranks(relation) == (1, 2, 2, 3, 4, 1)


def test_a_relation_with_a_cycle_has_no_ranks() -> None:
    assert reference.ranks(nx.DiGraph([(0, 1), (1, 2), (2, 0)])) is None


def test_rank_map_shows_the_rank_of_each_pixel() -> None:
    label = np.array([[0, 1, 1], [3, 2, 0]], np.uint8)
    found = reference.rank_map(label, (1, 4, 2))
    assert found.tolist() == [[0, 1, 1], [2, 4, 0]]
    assert found.dtype == np.uint8


# ------------------------------------------------------------------------ points of the label map


@pytest.mark.parametrize(
    ("pixels", "kind"),
    [
        ("00 00", "plain"),
        ("11 11", "plain"),
        ("11 22", "straight"),
        ("00 11", "straight"),
        ("12 12", "straight"),
        ("11 23", "T"),
        ("11 02", "T"),
        ("23 11", "T"),
        ("12 13", "T"),
        ("21 31", "T"),
        ("00 12", "corner"),  # the background owns no bar
        ("12 00", "corner"),
        ("01 02", "corner"),
        ("10 20", "corner"),
        ("11 12", "corner"),
        ("11 21", "corner"),
        ("21 11", "corner"),
        ("10 00", "corner"),
        ("12 21", "corner"),  # a crossing of two diagonals
        ("12 31", "corner"),
        ("12 34", "corner"),
        ("12 30", "corner"),
    ],
)
def test_point_kind_by_the_four_pixels_around(pixels: str, kind: str) -> None:
    label = np.array([list(row) for row in pixels.split()], np.uint8)
    assert reference.point_kind(label, 1, 1) == kind


def test_point_kind_at_the_border_takes_outside_for_a_label_of_its_own() -> None:
    label = np.array([[1, 1, 0], [1, 1, 2]], np.uint8)
    kinds = [[reference.point_kind(label, x, y) for x in range(4)] for y in range(3)]
    assert kinds == [
        ["corner", "straight", "corner", "corner"],
        ["straight", "plain", "T", "corner"],
        ["corner", "straight", "corner", "corner"],
    ]


def test_t_junctions_of_the_label_map_name_bar_stem_and_direction() -> None:
    scene = SCENES["crossing: one split into two pieces by another"]
    label = reference.paint(boxes(*scene.rectangles), *scene.size)
    assert reference.t_junctions_of_label_map(label) == [
        TJunction(4, 2, bar_owner=2, stem_regions=(0, 1), stem_direction=(-1, 0)),
        TJunction(8, 2, bar_owner=2, stem_regions=(0, 1), stem_direction=(1, 0)),
        TJunction(4, 5, bar_owner=2, stem_regions=(1, 0), stem_direction=(-1, 0)),
        TJunction(8, 5, bar_owner=2, stem_regions=(1, 0), stem_direction=(1, 0)),
    ]
    assert reference.t_junctions_of_label_map(label.T) == [
        TJunction(2, 4, bar_owner=2, stem_regions=(0, 1), stem_direction=(0, -1)),
        TJunction(5, 4, bar_owner=2, stem_regions=(1, 0), stem_direction=(0, -1)),
        TJunction(2, 8, bar_owner=2, stem_regions=(0, 1), stem_direction=(0, 1)),
        TJunction(5, 8, bar_owner=2, stem_regions=(1, 0), stem_direction=(0, 1)),
    ]
