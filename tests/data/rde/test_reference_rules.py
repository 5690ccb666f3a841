"""The reference twin: each placement rule, at its limit and beyond."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from synthprobe_data.rde import reference
from synthprobe_data.rde.config import RdeConfig
from tests.data.rde.drawing import (
    BIG,
    SIZE,
    boxes,
    everywhere,
)

# ---------------------------------------------------------------- placement: each rule at its limit

# All limits differ, so that none can be taken for another.
CONFIG = RdeConfig(height=SIZE, width=SIZE, n_vis=7, n_gap=3, n_par=5, min_size=0.125, mode="rules")


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
