"""The layout of the relation: layers, room for everyone, and arrows that go around."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from synthprobe_data import strategies
from synthprobe_data.rde.explain.graph import Drawing, curve, lay_out
from synthprobe_data.strategies import GeneratedSample


def drawn_from(pairs: list[tuple[int, int]], ranks: list[int]) -> Drawing:
    above = np.zeros((len(ranks), len(ranks)), np.uint8)
    for upper, lower in pairs:
        above[upper, lower] = 1
    return lay_out(above, np.array(ranks, np.uint8))


@settings(max_examples=60)
@given(strategies.generated_samples(strategies.configs(n_rectangles=8, mode="ambiguous")))
def test_every_rectangle_and_every_bend_has_room_in_the_layer_of_its_rank(
    drawn: GeneratedSample,
) -> None:
    above = drawn.sample["above"][: drawn.n, : drawn.n]
    ranks = drawn.sample["rectangle_rank"][: drawn.n]
    drawing = lay_out(above, ranks)
    spots = [(rank, x, 0.5) for x, rank in drawing.points]
    assert [rank for _, rank in drawing.points] == ranks.tolist()
    for arrow in drawing.arrows:
        assert arrow.points[0] == drawing.points[arrow.upper]
        assert arrow.points[-1] == drawing.points[arrow.lower]
        assert set(np.diff([rank for _, rank in arrow.points])) == {-1}
        spots += [(rank, x, 0.25) for x, rank in arrow.points[1:-1]]
    found = {(arrow.upper, arrow.lower): arrow.cue for arrow in drawing.arrows}
    assert found == {(a, b): above[a, b] for a, b in np.argwhere(above).tolist()}
    for i, (rank, x, half) in enumerate(spots):
        assert 0 <= x <= drawing.width
        for other_rank, other_x, other_half in spots[:i]:
            assert rank != other_rank or abs(x - other_x) >= half + other_half - 1e-9


def test_a_chain_is_a_straight_line() -> None:
    drawing = drawn_from([(2, 1), (1, 0)], [1, 2, 3])
    assert drawing.width == 0
    assert [arrow.points for arrow in drawing.arrows] == [((0, 2), (0, 1)), ((0, 3), (0, 2))]


def test_what_can_be_drawn_without_a_crossing_is() -> None:
    # Two trees, whose leaves are given in turns.
    drawing = drawn_from([(4, 0), (4, 2), (5, 1), (5, 3)], [1, 1, 1, 1, 2, 2])
    lines = [(arrow.points[0][0], arrow.points[-1][0]) for arrow in drawing.arrows]
    assert not any((a - c) * (b - d) < 0 for a, b in lines for c, d in lines)


def test_one_alone_and_none_at_all() -> None:
    assert drawn_from([], [1]).points == ((0, 1),)
    assert drawn_from([], []).width == 0


def test_the_curve_passes_through_all_places() -> None:
    places = ((0.0, 3.0), (1.0, 2.0), (0.5, 1.0))
    points = curve(places)
    assert tuple(points[::3]) == places
    assert len(points) == 7
    straight = curve(((0.0, 3.0), (3.0, 0.0)))
    assert straight == [pytest.approx(p) for p in ((0, 3), (1, 2), (2, 1), (3, 0))]
