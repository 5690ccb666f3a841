"""The reference twin against hand-drawn scenes, exact limits, SciPy, networkx and colorsys."""

from __future__ import annotations

import colorsys
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
from scipy import ndimage

from synthprobe_data.rde import reference
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.reference import TJunction

Box = tuple[int, int, int, int]
Pairs = set[tuple[int, int]]


def boxes(*rectangles: Box) -> np.ndarray:
    return np.array(rectangles, dtype=np.int64).reshape(-1, 4)


def drawn(label: np.ndarray) -> list[str]:
    """A label map as text: a digit where a rectangle shows, counted from 1, and a dot elsewhere."""
    return ["".join(str(k) if k else "." for k in row) for row in label]


def pairs(above: np.ndarray) -> Pairs:
    """The pairs (above, below) of rectangles, counted from 0."""
    return {(int(a), int(b)) for a, b in np.argwhere(above)}


def random_boxes(rng: np.random.Generator, n: int, height: int, width: int) -> np.ndarray:
    """Boxes anywhere in the picture, none empty, as often aligned as not."""
    x = np.sort([rng.choice(width + 1, 2, replace=False) for _ in range(n)], axis=1)
    y = np.sort([rng.choice(height + 1, 2, replace=False) for _ in range(n)], axis=1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)


# The eight ways to turn and mirror a square picture of a given size.
SYMMETRIES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "as drawn": lambda r, s: r,
    "mirrored left to right": lambda r, s: mirrored(r, s),
    "upside down": lambda r, s: transposed(mirrored(transposed(r), s)),
    "half turn": lambda r, s: mirrored(transposed(mirrored(transposed(r), s)), s),
    "transposed": lambda r, s: transposed(r),
    "quarter turn right": lambda r, s: mirrored(transposed(r), s),
    "quarter turn left": lambda r, s: transposed(mirrored(r, s)),
    "mirrored at the other diagonal": lambda r, s: mirrored(transposed(mirrored(r, s)), s),
}
everywhere = pytest.mark.parametrize("turned", SYMMETRIES.values(), ids=SYMMETRIES.keys())


def mirrored(rectangles: np.ndarray, size: int) -> np.ndarray:
    x0, y0, x1, y1 = rectangles.T
    return np.stack([size - x1, y0, size - x0, y1], axis=1)


def transposed(rectangles: np.ndarray) -> np.ndarray:
    x0, y0, x1, y1 = rectangles.T
    return np.stack([y0, x0, y1, x1], axis=1)


# ------------------------------------------------------------------- hand-drawn scenes: the order


@dataclass(frozen=True)
class Scene:
    """A scene, how it looks, and what must be read from it (rectangles counted from 0)."""

    picture: str
    rectangles: list[Box]
    t_junctions: Pairs  # from the rectangles
    convexity: Pairs
    ranks: tuple[int, ...]
    t_junctions_in_label_map: Pairs | None = None  # when not the same
    ranks_in_label_map: tuple[int, ...] | None = None  # when not the same

    @property
    def rows(self) -> list[str]:
        return self.picture.split()

    @property
    def size(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])


SCENES = {
    "nested: convexity alone": Scene(
        """
        ............
        .1111111111.
        .1111111111.
        .1112221111.
        .1112221111.
        .1111111111.
        .1111111111.
        ............
        """,
        [(1, 1, 11, 7), (4, 3, 7, 5)],
        t_junctions=set(),
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "crossing: one split into two pieces by another": Scene(
        """
        ............
        ....2222....
        .1112222111.
        .1112222111.
        .1112222111.
        ....2222....
        ............
        ............
        """,
        [(1, 2, 11, 5), (4, 1, 8, 6)],
        t_junctions={(1, 0)},
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "corner overlap": Scene(
        """
        ............
        .11111......
        .11111......
        .11122222...
        .11122222...
        ....22222...
        ....22222...
        ............
        """,
        [(1, 1, 6, 5), (4, 3, 9, 7)],
        t_junctions={(1, 0)},
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "hidden end: T-junctions alone": Scene(
        """
        ............
        ....222222..
        ....222222..
        .111222222..
        .111222222..
        ....222222..
        ....222222..
        ............
        """,
        [(1, 3, 6, 5), (4, 1, 10, 7)],
        t_junctions={(1, 0)},
        convexity=set(),
        ranks=(1, 2),
    ),
    "T-shape: the later one ends upon the earlier one": Scene(
        """
        ..............
        .....2222.....
        .....2222.....
        .....2222.....
        .111122221111.
        .111122221111.
        .111122221111.
        .111111111111.
        .111111111111.
        """,
        [(1, 4, 13, 9), (5, 1, 9, 7)],
        t_junctions={(1, 0)},
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "T-shape, both T-junctions hidden by a third: convexity decides between the first two": Scene(
        """
        ..............
        .....2222.....
        ...33333333...
        ...33333333...
        .113333333311.
        .113333333311.
        .111122221111.
        .111111111111.
        .111111111111.
        """,
        [(1, 4, 13, 9), (5, 1, 9, 7), (3, 2, 11, 6)],
        t_junctions={(2, 0), (2, 1)},
        convexity={(1, 0), (2, 0), (2, 1)},
        ranks=(1, 2, 3),
    ),
    "hidden end, both T-junctions hidden by a third: nothing decides between the first two": Scene(
        """
        ............
        ....222222..
        ..33332222..
        ..33332222..
        .133332222..
        .133332222..
        ..33332222..
        ..33332222..
        ....222222..
        ............
        """,
        [(1, 4, 6, 6), (4, 1, 10, 9), (2, 2, 6, 8)],
        t_junctions={(2, 0), (2, 1)},
        convexity={(2, 1)},
        ranks=(1, 1, 2),
    ),
    "side by side without contact": Scene(
        """
        ............
        .1111.......
        .1111.22222.
        .1111.22222.
        .1111.22222.
        ......22222.
        ............
        ............
        """,
        [(1, 1, 5, 5), (6, 2, 11, 6)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1),
    ),
    "chain of three": Scene(
        """
        ..............
        .11111........
        .11111........
        .111222222....
        .111222222....
        ....222233333.
        ....222233333.
        ........33333.
        """,
        [(1, 1, 6, 5), (4, 3, 10, 7), (8, 5, 13, 8)],
        t_junctions={(1, 0), (2, 1)},
        convexity={(1, 0), (2, 1)},
        ranks=(1, 2, 3),
    ),
    "in the gap between two pieces: above the split one though they do not touch": Scene(
        """
        ..............
        ...22222222...
        ...22222222...
        .112233322211.
        .112233322211.
        .112222222211.
        ...22222222...
        ...22222222...
        """,
        [(1, 3, 13, 6), (3, 1, 11, 8), (5, 3, 8, 5)],
        t_junctions={(1, 0)},
        convexity={(1, 0), (2, 0), (2, 1)},
        ranks=(1, 2, 3),
    ),
    "above two of different rank: one more than the higher": Scene(
        """
        ..............
        .......4444...
        ....2224444...
        .111222444433.
        .111222444433.
        ....2224444...
        .......4444...
        .......4444...
        ..............
        """,
        [(1, 3, 6, 5), (4, 2, 8, 6), (9, 3, 13, 5), (7, 1, 11, 8)],
        t_junctions={(1, 0), (3, 1), (3, 2)},
        convexity=set(),
        ranks=(1, 2, 1, 3),
    ),
    "stem between two rectangles": Scene(
        """
        ..............
        .111111111111.
        .111222111111.
        .111222111111.
        33333333333333
        33333333333333
        ..............
        ..............
        """,
        [(1, 1, 13, 5), (4, 2, 7, 5), (0, 4, 14, 6)],
        t_junctions={(2, 0), (2, 1)},
        convexity={(1, 0)},
        ranks=(1, 2, 3),
    ),
    "at the border: two T-junctions on a bar from border to border": Scene(
        """
        ....22222222
        ....22222222
        111122222222
        111122222222
        111122222222
        111122222222
        ....22222222
        ....22222222
        """,
        [(0, 2, 7, 6), (4, 0, 12, 8)],
        t_junctions={(1, 0)},
        convexity=set(),
        ranks=(1, 2),
    ),
    "at the border: a band across a full picture makes no T-junction": Scene(
        """
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        """,
        [(0, 0, 12, 8), (4, 0, 8, 8)],
        t_junctions=set(),
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "at the border: an edge from border to border says nothing": Scene(
        """
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        """,
        [(0, 0, 7, 8), (4, 0, 12, 8)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1),
    ),
    "aligned tops: only the lower side makes a T-junction": Scene(
        """
        ............
        .11122222...
        .11122222...
        .11122222...
        .11122222...
        ....22222...
        ....22222...
        ............
        """,
        [(1, 1, 6, 5), (4, 1, 9, 7)],
        t_junctions={(1, 0)},
        convexity=set(),
        ranks=(1, 2),
    ),
    "aligned tops and bottoms: nothing is known": Scene(
        """
        ............
        .11122222...
        .11122222...
        .11122222...
        ............
        ............
        ............
        ............
        """,
        [(1, 1, 6, 4), (4, 1, 9, 4)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1),
    ),
    "two that only touch a third: the label map sees a T-junction where none is": Scene(
        """
        ..........
        3333333333
        3333333333
        3333333333
        .11112222.
        .11112222.
        .11112222.
        ..........
        """,
        [(1, 4, 5, 7), (5, 4, 9, 7), (0, 1, 10, 4)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1, 1),
        t_junctions_in_label_map={(2, 0), (2, 1)},
        ranks_in_label_map=(1, 1, 2),
    ),
    "an edge from the border into a bar: the label map puts the bar above both": Scene(
        """
        111112222222
        111112222222
        111112222222
        333333332222
        333333332222
        333333332222
        333333332222
        333333332222
        """,
        [(0, 0, 7, 8), (5, 0, 12, 8), (0, 3, 8, 8)],
        t_junctions={(2, 1)},
        convexity={(2, 1)},
        ranks=(1, 1, 2),
        t_junctions_in_label_map={(2, 0), (2, 1)},
    ),
    "the same with one beneath the first: the label map gives another rank": Scene(
        # The fifth hides the T-junction of the second and the third. From the rectangles nothing
        # puts the fourth above the second; the label map has a T-junction of the two at (5, 5).
        """
        .11..3333333
        .11.55533333
        222255533333
        222223333333
        222223333333
        444444444333
        444444444333
        444444444333
        444444444333
        """,
        [(1, 0, 3, 4), (0, 2, 8, 9), (5, 0, 12, 9), (0, 5, 9, 9), (4, 1, 7, 3)],
        t_junctions={(1, 0), (3, 2), (4, 1), (4, 2)},
        convexity={(3, 2), (4, 1), (4, 2)},
        ranks=(1, 2, 1, 2, 3),
        t_junctions_in_label_map={(1, 0), (3, 2), (3, 1), (4, 1), (4, 2)},
        ranks_in_label_map=(1, 2, 1, 3, 3),
    ),
    "an edge from border to border, decided through a third between the two": Scene(
        """
        111133333333
        111133333333
        111133333333
        112233333333
        112233333333
        111133333333
        111133333333
        111133333333
        """,
        [(0, 0, 7, 8), (2, 3, 6, 5), (4, 0, 12, 8)],
        t_junctions={(2, 1)},
        convexity={(1, 0)},
        ranks=(1, 2, 3),
        t_junctions_in_label_map={(2, 0), (2, 1)},
    ),
    "a side in common runs beneath a third: it is the later one's": Scene(
        """
        ............
        222211111111
        222211111111
        333333333333
        333333333333
        333333333333
        333333333333
        ............
        """,
        [(4, 1, 12, 5), (0, 1, 4, 5), (0, 3, 12, 7)],
        t_junctions={(2, 1)},
        convexity=set(),
        ranks=(1, 1, 2),
        t_junctions_in_label_map={(2, 0), (2, 1)},
    ),
    "aligned with the stem, a third hides half of the bar: no T-junction": Scene(
        """
        ............
        ....11111111
        ....11111111
        333322222222
        333322222222
        333322222222
        222222222222
        ............
        """,
        [(4, 1, 12, 5), (0, 3, 12, 7), (0, 3, 4, 6)],
        t_junctions=set(),
        convexity={(2, 1)},
        ranks=(1, 1, 2),
    ),
    "aligned with stem and bar, a third ends the stem: the label map alone is misled": Scene(
        """
        ............
        ....11111111
        ....33111111
        222222222222
        222222222222
        222222222222
        222222222222
        ............
        """,
        [(4, 1, 12, 5), (0, 3, 12, 7), (4, 2, 6, 3)],
        t_junctions=set(),
        convexity={(2, 0)},
        ranks=(1, 1, 2),
        t_junctions_in_label_map={(1, 0), (1, 2)},
        ranks_in_label_map=(1, 3, 2),
    ),
}
each_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())


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


# ---------------------------------------------------------------- placement: each rule at its limit

SIZE = 64
# All limits differ, so that none can be taken for another.
CONFIG = RdeConfig(height=SIZE, width=SIZE, n_vis=7, n_gap=3, n_par=5, min_size=0.125, mode="rules")
BIG: Box = (16, 16, 48, 48)


def test_rule_1_asks_for_the_share_of_width_and_of_height() -> None:
    config = RdeConfig(height=60, width=80, min_size=0.1)
    for width, height, fits in (
        (8, 6, True),
        (7, 6, False),
        (6, 6, False),
        (8, 5, False),
        (8, 4, False),
        (80, 60, True),
    ):
        assert reference.rule_size(config, np.array([0, 0, width, height])) is fits


def test_rule_1_rounds_a_share_up_and_never_takes_an_empty_candidate() -> None:
    assert reference.rule_size(RdeConfig(), np.array([10, 10, 23, 23]))  # 12.8 pixels
    assert not reference.rule_size(RdeConfig(), np.array([10, 10, 22, 23]))
    anything = RdeConfig(min_size=0.0)
    assert reference.rule_size(anything, np.array([5, 5, 6, 6]))
    assert not reference.rule_size(anything, np.array([5, 5, 5, 6]))
    assert not reference.rule_size(anything, np.array([5, 5, 6, 5]))


@everywhere
@pytest.mark.parametrize(("left_over", "fits"), [(4, True), (3, False), (2, False), (0, True)])
def test_rule_2_every_row_in_which_a_rectangle_shows_has_more_than_n_gap(
    turned: Callable, left_over: int, fits: bool
) -> None:
    # The candidate comes in from the left over the middle rows of the first; none left is no row.
    candidate = (4, 26, 48 - left_over, 38)
    rectangles = turned(boxes(BIG, candidate), SIZE)
    assert reference.rule_visibility(CONFIG, rectangles) is fits


@everywhere
@pytest.mark.parametrize(("left_over", "fits"), [(8, True), (7, False), (6, False)])
def test_rule_2_some_row_shows_more_than_n_vis(
    turned: Callable, left_over: int, fits: bool
) -> None:
    # The candidate hides all of the first but a strip at its right.
    candidate = (4, 8, 48 - left_over, 56)
    rectangles = turned(boxes(BIG, candidate), SIZE)
    assert reference.rule_visibility(CONFIG, rectangles) is fits


@pytest.mark.parametrize(("length", "fits"), [(8, True), (7, False), (6, False)])
def test_rule_2_counts_the_candidate_itself(length: int, fits: bool) -> None:
    for alone in (boxes((5, 5, 5 + length, 30)), boxes((5, 5, 30, 5 + length))):
        assert reference.rule_visibility(CONFIG, alone) is fits


def test_rule_2_counts_the_candidate_itself_by_n_gap_too() -> None:
    config = RdeConfig(height=SIZE, width=SIZE, n_vis=2, n_gap=6, mode="rules")
    assert reference.rule_visibility(config, boxes((5, 5, 12, 30)))
    assert not reference.rule_visibility(config, boxes((5, 5, 11, 30)))


@everywhere
@pytest.mark.parametrize(("right", "fits"), [(46, True), (47, False), (48, False)])
def test_rule_2_counts_pixels_that_do_not_hang_together(
    turned: Callable, right: int, fits: bool
) -> None:
    # Two pixels of the first show to the left of the candidate, 48 - right to the right of it.
    rectangles = turned(boxes(BIG, (18, 26, right, 38)), SIZE)
    assert reference.rule_visibility(CONFIG, rectangles) is fits


def test_rule_2_refuses_to_hide_a_rectangle_altogether() -> None:
    none_asked = RdeConfig(height=SIZE, width=SIZE, n_vis=0, n_gap=0, mode="rules")
    assert not reference.rule_visibility(none_asked, boxes((20, 20, 30, 30), BIG))
    assert reference.rule_visibility(none_asked, boxes((20, 20, 30, 49), BIG))


def test_rule_2_looks_at_every_earlier_rectangle() -> None:
    # The second is unharmed, of the first three columns are left over in the middle rows.
    rectangles = boxes((4, 16, 30, 48), (38, 4, 60, 60), (2, 26, 27, 38))
    assert not reference.rule_visibility(CONFIG, rectangles)
    assert not reference.rule_visibility(CONFIG, rectangles[[1, 0, 2]])


@everywhere
@pytest.mark.parametrize(
    ("distance", "fits"), [(-2, True), (-1, False), (0, False), (1, False), (2, True)]
)
@pytest.mark.parametrize("other_side", ["right", "left"])
def test_rule_3_refuses_a_side_on_the_line_of_another_or_one_pixel_from_it(
    turned: Callable, distance: int, fits: bool, other_side: str
) -> None:
    line = {"left": BIG[0], "right": BIG[2]}[other_side] + distance
    candidate = (line, 24, line + 10, 60)
    rectangles = turned(boxes(BIG, candidate), SIZE)
    assert reference.rule_no_shared_side(CONFIG, rectangles) is fits


@everywhere
@pytest.mark.parametrize(("gap", "fits"), [(-1, False), (0, False), (1, True), (2, True)])
def test_rule_3_on_one_line_sides_may_not_overlap_nor_meet(
    turned: Callable, gap: int, fits: bool
) -> None:
    # The candidate's right side is on the line of the first's left side, below it.
    candidate = (4, 48 + gap, 16, 60)
    rectangles = turned(boxes(BIG, candidate), SIZE)
    assert reference.rule_no_shared_side(CONFIG, rectangles) is fits


@everywhere
def test_rule_3_moves_along_one_axis_at_a_time(turned: Callable) -> None:
    # The corner (48, 48) of the first to the candidate's, one pixel off: a diagonal move would do.
    touching = turned(boxes(BIG, (48, 48, 60, 60)), SIZE)
    one_off = turned(boxes(BIG, (49, 49, 60, 60)), SIZE)
    assert not reference.rule_no_shared_side(CONFIG, touching)
    assert reference.rule_no_shared_side(CONFIG, one_off)


@everywhere
@pytest.mark.parametrize(("distance", "fits"), [(0, False), (1, False), (2, True)])
def test_rule_3_counts_hidden_parts(turned: Callable, distance: int, fits: bool) -> None:
    # A cover hides the right side of the first before the candidate is placed.
    rectangles = turned(boxes(BIG, (40, 8, 60, 61), (48 + distance, 20, 57, 44)), SIZE)
    assert reference.rule_no_shared_side(CONFIG, rectangles) is fits


@everywhere
@pytest.mark.parametrize(("distance", "fits"), [(5, True), (4, False), (3, False)])
@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize("other_side", ["right", "left"])
def test_rule_4_parallel_sides_are_at_least_n_par_apart(
    turned: Callable, distance: int, fits: bool, direction: int, other_side: str
) -> None:
    # The candidate hides the lower part of the first, so that some of its sides always shows.
    line = {"left": BIG[0], "right": BIG[2]}[other_side] + direction * distance
    candidate = (line, 36, line + 11, 60)
    rectangles = turned(boxes(BIG, candidate), SIZE)
    assert reference.rule_parallel_sides(CONFIG, rectangles) is fits


@everywhere
@pytest.mark.parametrize(
    ("across", "along", "fits"),
    [(4, 5, True), (4, 4, False), (4, 3, False), (0, 5, True), (0, 4, False), (5, 5, True)],
)
def test_rule_4_looks_n_par_pixels_beyond_the_ends_of_the_candidates_side(
    turned: Callable, across: int, along: int, fits: bool
) -> None:
    # Corner to corner: no row and no column has both.
    first = (8, 8, 28, 28)
    candidate = (28 + across, 28 + along, 56, 56)
    rectangles = turned(boxes(first, candidate), SIZE)
    assert reference.rule_parallel_sides(CONFIG, rectangles) is fits


@everywhere
def test_rule_4_does_not_count_what_a_third_hides(turned: Callable) -> None:
    cover, candidate = (40, 8, 63, 62), (50, 20, 57, 44)
    without_cover = turned(boxes(BIG, candidate), SIZE)
    with_cover = turned(boxes(BIG, cover, candidate), SIZE)
    assert not reference.rule_parallel_sides(CONFIG, without_cover)
    assert reference.rule_parallel_sides(CONFIG, with_cover)


@everywhere
def test_rule_4_does_not_count_what_the_candidate_hides(turned: Callable) -> None:
    # The right side of the first is two pixels beneath the candidate, or two pixels before it.
    first = (10, 20, 32, 40)
    hidden = turned(boxes(first, (30, 10, 50, 50)), SIZE)
    shown = turned(boxes(first, (34, 10, 50, 50)), SIZE)
    assert reference.rule_parallel_sides(CONFIG, hidden)
    assert not reference.rule_parallel_sides(CONFIG, shown)


@everywhere
@pytest.mark.parametrize(("along", "fits"), [(5, True), (4, False), (3, False)])
def test_rule_4_counts_a_side_that_shows_in_part(turned: Callable, along: int, fits: bool) -> None:
    # A cover leaves the right side of the first (x = 48) to show down to row 23.
    first, cover = (16, 8, 48, 56), (40, 24, 62, 62)
    rectangles = turned(boxes(first, cover, (50, 24 + along, 57, 50)), SIZE)
    assert reference.rule_parallel_sides(CONFIG, rectangles) is fits


@everywhere
def test_rule_4_counts_a_visible_part_far_from_the_ends_of_the_other_side(
    turned: Callable,
) -> None:
    # The candidate hides the right side of the first but for what shows above and below it.
    first = (10, 8, 32, 56)
    near, far = (30, 26, 50, 40), (27, 26, 50, 40)
    assert not reference.rule_parallel_sides(CONFIG, turned(boxes(first, near), SIZE))
    assert reference.rule_parallel_sides(CONFIG, turned(boxes(first, far), SIZE))


def test_rule_4_with_n_par_1_refuses_one_line_only_and_with_0_nothing() -> None:
    on_one_line, next_line = boxes(BIG, (48, 20, 60, 40)), boxes(BIG, (49, 20, 60, 40))
    for n_par, first, second in ((0, True, True), (1, False, True), (2, False, False)):
        config = RdeConfig(height=SIZE, width=SIZE, n_par=n_par, mode="rules")
        assert reference.rule_parallel_sides(config, on_one_line) is first
        assert reference.rule_parallel_sides(config, next_line) is second


def rules_2_to_4(rectangles: np.ndarray) -> bool:
    return (
        reference.rule_visibility(CONFIG, rectangles)
        and reference.rule_no_shared_side(CONFIG, rectangles)
        and reference.rule_parallel_sides(CONFIG, rectangles)
    )


at_n_vis = pytest.mark.parametrize(("length", "fits"), [(7, True), (6, False), (5, False)])


@everywhere
@at_n_vis
def test_rule_5_a_stem_is_n_vis_long_though_n_par_is_less(
    turned: Callable, length: int, fits: bool
) -> None:
    # The candidate hides the upper right corner of the first, whose upper side is the stem.
    rectangles = turned(boxes(BIG, (16 + length, 4, 60, 30)), SIZE)
    assert reference.rule_t_junctions(CONFIG, rectangles) is fits
    assert rules_2_to_4(rectangles)
    assert reference.accepts(CONFIG, rectangles) is fits


@everywhere
@at_n_vis
def test_rule_5_an_arm_is_n_vis_long_though_n_par_is_less(
    turned: Callable, length: int, fits: bool
) -> None:
    # The same, and the arm is what of the candidate's left side rises above the first.
    rectangles = turned(boxes(BIG, (36, 16 - length, 60, 30)), SIZE)
    assert reference.rule_t_junctions(CONFIG, rectangles) is fits
    assert rules_2_to_4(rectangles)
    assert reference.accepts(CONFIG, rectangles) is fits


@everywhere
@at_n_vis
def test_rule_5_two_t_junctions_on_one_bar_are_n_vis_apart(
    turned: Callable, length: int, fits: bool
) -> None:
    rectangles = turned(boxes((16, 20, 48, 20 + length), (36, 4, 60, 60)), SIZE)
    assert reference.rule_t_junctions(CONFIG, rectangles) is fits


@everywhere
@at_n_vis
def test_rule_5_the_candidate_does_not_cut_the_stem_of_two_others_short(
    turned: Callable, length: int, fits: bool
) -> None:
    # The second makes a T-junction at (36, 16), and its stem runs left to the candidate.
    rectangles = turned(boxes(BIG, (36, 4, 60, 30), (8, 9, 36 - length, 26)), SIZE)
    assert reference.accepts(CONFIG, rectangles[:2])
    assert reference.rule_t_junctions(CONFIG, rectangles) is fits
    assert rules_2_to_4(rectangles)
    assert reference.accepts(CONFIG, rectangles) is fits


@everywhere
@at_n_vis
def test_rule_5_the_candidate_does_not_cut_the_arm_of_two_others_short(
    turned: Callable, length: int, fits: bool
) -> None:
    # The second makes a T-junction at (36, 30), and its left side rises to the candidate.
    first, second = (16, 30, 48, 60), (36, 10, 60, 44)
    rectangles = turned(boxes(first, second, (24, 1, 52, 30 - length)), SIZE)
    assert reference.accepts(CONFIG, rectangles[:2])
    assert reference.rule_t_junctions(CONFIG, rectangles) is fits
    assert rules_2_to_4(rectangles)
    assert reference.accepts(CONFIG, rectangles) is fits


@everywhere
@at_n_vis
def test_rule_5_a_stem_or_arm_that_ends_at_the_border_is_n_vis_long(
    turned: Callable, length: int, fits: bool
) -> None:
    stem = turned(boxes((0, 16, 48, 48), (length, 4, 60, 60)), SIZE)
    arm = turned(boxes((16, length, 48, 48), (36, 0, 60, 60)), SIZE)
    assert reference.rule_t_junctions(CONFIG, stem) is fits
    assert reference.rule_t_junctions(CONFIG, arm) is fits


@everywhere
def test_rule_5_asks_nothing_of_corners(turned: Callable) -> None:
    nested = turned(boxes(BIG, (18, 18, 28, 28)), SIZE)
    assert reference.rule_t_junctions(CONFIG, nested)


@everywhere
def test_rule_5_asks_nothing_of_hidden_t_junctions(turned: Callable) -> None:
    # The second rises two pixels above the first, until the candidate hides its upper end.
    first, second, candidate = (8, 16, 60, 56), (26, 14, 42, 48), (17, 4, 50, 34)
    crowded = turned(boxes(first, second), SIZE)
    hidden = turned(boxes(first, second, candidate), SIZE)
    assert not reference.rule_t_junctions(CONFIG, crowded)
    assert reference.rule_t_junctions(CONFIG, hidden)


def test_rule_5_with_n_vis_1_asks_nothing() -> None:
    rectangles = boxes(BIG, (17, 15, 60, 18))
    config = {n: RdeConfig(height=SIZE, width=SIZE, n_vis=n, mode="rules") for n in (0, 1, 2)}
    assert reference.rule_t_junctions(config[0], rectangles)
    assert reference.rule_t_junctions(config[1], rectangles)
    assert not reference.rule_t_junctions(config[2], rectangles)


def test_ambiguous_mode_asks_for_one_pixel_of_every_rectangle() -> None:
    config = RdeConfig(height=SIZE, width=SIZE, mode="ambiguous")
    one_shows = boxes((20, 20, 30, 30), (21, 10, 50, 50), (10, 21, 50, 60))
    none_shows = boxes((20, 20, 30, 30), (21, 10, 50, 50), (10, 20, 50, 60))
    assert np.count_nonzero(reference.paint(one_shows, SIZE, SIZE) == 1) == 1
    assert reference.rule_still_shows(config, one_shows)
    assert not reference.rule_still_shows(config, none_shows)
    assert reference.accepts(config, one_shows)
    assert not reference.accepts(config, none_shows)
    assert not reference.accepts(config, boxes((20, 20, 26, 30)))  # rule 1 stays: 6.4 pixels


@pytest.mark.parametrize("mode", ["rules", "certified"])
def test_the_other_modes_ask_for_every_rule(mode: str) -> None:
    config = RdeConfig(
        height=SIZE, width=SIZE, n_vis=7, n_gap=8, n_par=5, min_size=0.1875, mode=mode
    )
    assert reference.accepts(config, boxes(BIG))
    assert reference.accepts(config, boxes(BIG, (26, 5, 60, 36)))
    for only, candidate in (
        ("rule_size", (26, 5, 37, 36)),
        ("rule_visibility", (24, 5, 60, 36)),
        ("rule_no_shared_side", (26, 5, 49, 60)),
        ("rule_parallel_sides", (52, 5, 64, 36)),
        ("rule_t_junctions", (26, 10, 60, 36)),
    ):
        rectangles = boxes(BIG, candidate)
        holds = {
            "rule_size": reference.rule_size(config, rectangles[-1]),
            "rule_visibility": reference.rule_visibility(config, rectangles),
            "rule_no_shared_side": reference.rule_no_shared_side(config, rectangles),
            "rule_parallel_sides": reference.rule_parallel_sides(config, rectangles),
            "rule_t_junctions": reference.rule_t_junctions(config, rectangles),
        }
        assert [rule for rule, held in holds.items() if not held] == [only]
        assert not reference.accepts(config, rectangles)


# ------------------------------------------------------------------------------------ certificate


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        (
            "two that only touch a third: the label map sees a T-junction where none is",
            "unreadable",
        ),
        ("the same with one beneath the first: the label map gives another rank", "unreadable"),
        ("at the border: an edge from border to border says nothing", "undecided"),
        ("aligned tops and bottoms: nothing is known", "undecided"),
        ("an edge from the border into a bar: the label map puts the bar above both", "undecided"),
    ],
)
def test_drawn_scenes_without_certificate(name: str, failure: str) -> None:
    scene = SCENES[name]
    assert reference.certificate_failure(boxes(*scene.rectangles), *scene.size) == failure


def test_scenes_with_room_on_all_sides_are_certified() -> None:
    for rectangles in (
        boxes((5, 7, 30, 40)),
        boxes((10, 25, 54, 40), (25, 10, 40, 54)),  # crossing
        boxes(BIG, (24, 20, 40, 30)),  # nested
        boxes((4, 4, 24, 24), (34, 30, 60, 60)),  # apart
        boxes((4, 20, 30, 40), (20, 5, 50, 60), (30, 30, 40, 40)),
    ):
        assert reference.certificate_failure(rectangles, SIZE, SIZE) is None


@everywhere
@pytest.mark.parametrize(("overlap", "failure"), [(1, "unstable"), (2, None)])
def test_an_overlap_that_one_move_ends_is_unstable(
    turned: Callable, overlap: int, failure: str | None
) -> None:
    # Corner over corner, `overlap` pixels in each direction.
    rectangles = turned(boxes((4, 4, 30, 30), (30 - overlap, 30 - overlap, 55, 58)), SIZE)
    assert reference.is_readable(rectangles, SIZE, SIZE)
    assert reference.is_decided(rectangles, SIZE, SIZE)
    assert reference.certificate_failure(rectangles, SIZE, SIZE) == failure


@everywhere
@pytest.mark.parametrize(("line", "failure"), [(1, "unstable"), (2, None)])
def test_a_t_junction_that_one_move_takes_to_the_border_is_unstable(
    turned: Callable, line: int, failure: str | None
) -> None:
    """The only evidence is the T-junction at (line, 3).

    ::

        ............
        ..1111111111
        ..1111111111
        222222222222
    """
    rectangles = turned(boxes((line, 1, 12, 5), (0, 3, 12, 7)), 12)
    assert reference.certificate_failure(rectangles, 12, 12) == failure


def test_moves_over_the_border_count() -> None:
    # Both reach from border to border. A move over the border bares an end, and a T-junction.
    rectangles = boxes((0, 1, 12, 5), (0, 3, 12, 8))
    assert reference.ranks(reference.relation_of_scene(rectangles, 12, 12)) == (1, 1)
    bared = boxes((-1, 1, 11, 5), (0, 3, 12, 8))
    assert reference.ranks(reference.relation_of_scene(bared, 12, 12)) == (1, 2)
    assert not reference.is_stable(rectangles, 12, 12)


def test_a_rank_that_changes_in_the_label_map_alone_is_unstable() -> None:
    # One row lies between the third and the two beneath it, which have a side in common.
    rectangles = boxes((1, 4, 5, 7), (5, 4, 9, 7), (0, 0, 10, 3))
    assert reference.is_readable(rectangles, 10, 10)
    for k, (dx, dy) in itertools.product(range(3), [(-1, 0), (1, 0), (0, -1), (0, 1)]):
        moved = rectangles.copy()
        moved[k] += (dx, dy, dx, dy)
        assert reference.ranks(reference.relation_of_scene(moved, 10, 10)) == (1, 1, 1)
    assert not reference.is_stable(rectangles, 10, 10)


def test_touching_rectangles_are_decided_through_others_too() -> None:
    scene = SCENES["an edge from border to border, decided through a third between the two"]
    rectangles = boxes(*scene.rectangles)
    assert reference.is_decided(rectangles, *scene.size)
    assert not reference.is_decided(rectangles[[0, 2]], *scene.size)


@everywhere
def test_only_rectangles_that_share_a_pixel_side_must_be_decided(turned: Callable) -> None:
    by_a_side = turned(boxes((4, 4, 20, 20), (20, 19, 40, 40)), SIZE)
    by_a_corner = turned(boxes((4, 4, 20, 20), (20, 20, 40, 40)), SIZE)
    assert not reference.is_decided(by_a_side, SIZE, SIZE)
    assert reference.is_decided(by_a_corner, SIZE, SIZE)


# ---------------------------------------------------------------------------------------- picture


def test_palette_of_four_and_six_and_twelve() -> None:
    assert reference.palette(1).tolist() == [[255, 0, 0]]
    assert reference.palette(4).tolist() == [
        [255, 0, 0],
        [128, 255, 0],
        [0, 255, 255],
        [128, 0, 255],
    ]
    assert reference.palette(6).tolist() == [
        [255, 0, 0],
        [255, 255, 0],
        [0, 255, 0],
        [0, 255, 255],
        [0, 0, 255],
        [255, 0, 255],
    ]
    assert reference.palette(12)[1::2].tolist() == [
        [255, 128, 0],
        [128, 255, 0],
        [0, 255, 128],
        [0, 128, 255],
        [128, 0, 255],
        [255, 0, 128],
    ]


def test_palette_rounds_half_up() -> None:
    assert reference.palette(36)[[1, 7]].tolist() == [[255, 43, 0], [213, 255, 0]]  # 42.5, 212.5


@pytest.mark.parametrize("n_colors", [2, 3, 5, 7, 10, 63])
def test_palette_has_equally_spaced_hues(n_colors: int) -> None:
    colors = reference.palette(n_colors)
    expected = [colorsys.hsv_to_rgb(k / n_colors, 1.0, 1.0) for k in range(n_colors)]
    assert colors.shape == (n_colors, 3)
    assert colors.dtype == np.uint8
    assert np.abs(colors - 255 * np.array(expected)).max() <= 0.5 + 1e-9
    assert len(np.unique(colors, axis=0)) == n_colors


def test_blur_weights_of_the_paper() -> None:
    assert reference.blur_weights(0.7).tolist() == [0, 40, 841, 2334, 841, 40, 0]


@pytest.mark.parametrize("blur", [0, 0.1, 0.124])
def test_without_a_neighbour_in_reach_there_is_one_weight(blur: float) -> None:
    assert reference.blur_weights(blur).tolist() == [4096]


@pytest.mark.parametrize("blur", [0.125, 0.3, 0.5, 0.7, 1, 1.3, 2.0, 3.1, 4.0])
def test_the_tails_of_the_blur_are_scipys_in_whole_units(blur: float) -> None:
    weights = reference.blur_weights(blur)
    radius = int(4 * blur + 0.5)
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 4096.0
    exact = ndimage.gaussian_filter1d(impulse, blur, mode="constant")
    assert weights.tolist() == weights[::-1].tolist()
    assert weights.sum() == 4096
    tails, exact_tails = np.cumsum(weights)[:radius], np.cumsum(exact)[:radius]
    assert tails.tolist() == np.floor(exact_tails + 0.5).tolist()


SIZES = [(8, 8), (8, 13), (31, 20), (64, 64)]
N_COLORS = 7


def a_picture(seed: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """A label map of six rectangles, and their colours."""
    rng = np.random.default_rng(seed)
    label = reference.paint(random_boxes(rng, 6, height, width), height, width)
    return label, rng.permutation(N_COLORS)[:6]


def test_without_blur_each_pixel_has_the_colour_of_its_rectangle() -> None:
    colors = reference.palette(N_COLORS)
    label = np.zeros((8, 9), np.uint8)
    label[2:5, 3:7] = 1
    label[4:8, 5:9] = 2
    picture = reference.render(label, [3, 0], colors, 0)
    assert picture.shape == (8, 9, 3)
    assert picture.dtype == np.uint8
    assert (picture[label == 0] == 0).all()
    assert (picture[label == 1] == colors[3]).all()
    assert (picture[label == 2] == colors[0]).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("blur", [0.3, 0.5, 0.7, 1.0, 1.7, 2.5, 4.0])
def test_blur_is_within_one_grey_level_of_scipys(blur: float, size: tuple[int, int]) -> None:
    colors = reference.palette(N_COLORS)
    for seed in range(3):
        label, given = a_picture(seed, *size)
        painted = reference.render(label, given, colors, 0).astype(np.float64)
        expected = ndimage.gaussian_filter(painted, sigma=(blur, blur, 0))
        found = reference.render(label, given, colors, blur)
        assert np.abs(found - expected).max() <= 1
        assert (found != painted).any()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("blur", [0.7, 4.0])  # a radius of 16 is twice the least size
def test_blur_is_exactly_scipys_correlation_with_the_weights(
    blur: float, size: tuple[int, int]
) -> None:
    label, given = a_picture(5, *size)
    colors = reference.palette(N_COLORS)
    summed = reference.render(label, given, colors, 0).astype(np.int64)
    for axis in (1, 0):
        summed = ndimage.correlate1d(summed, reference.blur_weights(blur), axis, mode="reflect")
    expected = np.floor(summed / 2**24 + 0.5)
    assert reference.render(label, given, colors, blur).tolist() == expected.tolist()


@pytest.mark.parametrize("blur", [0.0, 0.7, 4.0])
def test_render_turns_and_mirrors_with_the_label_map(blur: float) -> None:
    label, given = a_picture(6, 20, 31)
    colors = reference.palette(N_COLORS)
    picture = reference.render(label, given, colors, blur)
    for moved_label, moved in (
        (label[::-1], picture[::-1]),
        (label[:, ::-1], picture[:, ::-1]),
        (label.T, picture.transpose(1, 0, 2)),
    ):
        assert (reference.render(moved_label, given, colors, blur) == moved).all()


@pytest.mark.parametrize("blur", [0.7, 4.0])
def test_render_keeps_one_colour_as_it_is(blur: float) -> None:
    colors = reference.palette(N_COLORS)
    picture = reference.render(np.ones((8, 11), np.uint8), [4], colors, blur)
    assert (picture == colors[4]).all()
    assert not reference.render(np.zeros((8, 11), np.uint8), [], colors, blur).any()


def test_render_looks_up_the_colours_given_and_treats_the_channels_alike() -> None:
    label, given = a_picture(7, 20, 31)
    colors = reference.palette(N_COLORS)
    picture = reference.render(label, given, colors, 0.7)
    order = np.random.default_rng(8).permutation(N_COLORS)
    renamed = reference.render(label, np.argsort(order)[given], colors[order], 0.7)
    exchanged = reference.render(label, given, colors[:, [2, 0, 1]], 0.7)
    assert (renamed == picture).all()
    assert (exchanged == picture[:, :, [2, 0, 1]]).all()
    other = reference.render(label, (given + 1) % N_COLORS, colors, 0.7)
    assert (other != picture).any()
