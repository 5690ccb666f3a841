"""The reference twin: the certificate."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from synthprobe_data.rde import reference
from tests.data.rde.drawing import (
    BIG,
    SIZE,
    boxes,
    everywhere,
)
from tests.data.rde.scenes import SCENES

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
