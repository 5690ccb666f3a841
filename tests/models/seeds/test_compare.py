"""Rows compared over seeds: the test against its plain twin, and how often it is wrong."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from synthprobe_models.seeds.compare import (
    BETTER,
    NOT_SHOWN,
    RATES,
    SURE,
    TOO_FEW,
    WORSE,
    compare_rows,
    holm,
    least_p,
    permutation_p,
    seeds_needed,
)

HALF = 0.5
VALUES = st.lists(st.integers(-9, 9), min_size=2, max_size=4)


def plain_p(first: list[int], second: list[int]) -> float:
    """Deal the runs out in every way, and count."""
    both, seen = first + second, statistics.fmean(first) - statistics.fmean(second)
    found = []
    for chosen in itertools.combinations(range(len(both)), len(first)):
        one = [both[i] for i in chosen]
        other = [both[i] for i in range(len(both)) if i not in chosen]
        found.append(statistics.fmean(one) - statistics.fmean(other))
    below = sum(d <= seen + 1e-9 for d in found) / len(found)
    above = sum(d >= seen - 1e-9 for d in found) / len(found)
    return min(1.0, 2 * min(below, above))


@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES)
def test_the_p_value_is_that_of_its_plain_twin(first: list[int], second: list[int]) -> None:
    assert permutation_p(first, second) == pytest.approx(plain_p(first, second))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_corrected_p_values_are_no_smaller_and_keep_their_order(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(p <= c <= min(1, p * len(ps)) + 1e-12 for p, c in zip(ps, corrected, strict=True))
    assert min(corrected) == pytest.approx(min(1, min(ps) * len(ps)))
    order = sorted(range(len(ps)), key=ps.__getitem__)
    in_order = [corrected[i] for i in order]
    assert in_order == sorted(in_order)


def test_few_seeds_cannot_show_a_difference_and_say_so() -> None:
    assert [seeds_needed(rows) for rows in (1, 3, 6, 7, 23)] == [4, 5, 5, 6, 6]
    far = {"base": [1.0, 1.1, 1.2, 1.3], "a": [9.0, 9.1, 9.2, 9.3], "b": [5.0, 5.1, 5.2, 5.3]}
    found = compare_rows(far, "base", lower_is_better=True)
    assert {one.answer for one in found.values()} == {TOO_FEW}
    assert {one.needed for one in found.values()} == {5}
    assert found["a"].p == least_p(4, 4) == 2 / math.comb(8, 4)
    longer = {name: [*values, values[-1] + 0.1] for name, values in far.items()}
    assert {
        name: one.answer for name, one in compare_rows(longer, "base", lower_is_better=True).items()
    } == {"a": WORSE, "b": WORSE}
    assert compare_rows(longer, "base", lower_is_better=False)["a"].answer == BETTER
    assert compare_rows({"base": [1.0, 2.0]}, "base", lower_is_better=True) == {}
    assert compare_rows(far, "other", lower_is_better=True) == {}
    one = compare_rows({"base": [1.0], "a": [2.0]}, "base", lower_is_better=True)["a"]
    assert (one.answer, one.p) == (TOO_FEW, 1.0)


def test_rows_without_a_difference_are_rarely_told_apart_and_two_deviations_often() -> None:
    random = np.random.default_rng(5)
    tables, seeds, rows, different = 50, 6, 7, 3
    wrong = found = 0
    for _ in range(tables):
        values = random.normal(size=(rows + 1, seeds))
        values[:different] -= 2
        named = {str(i): row.tolist() for i, row in enumerate(values[:-1])}
        answers = compare_rows({"base": values[-1].tolist(), **named}, "base", lower_is_better=True)
        told = [answers[str(i)].answer for i in range(rows)]
        wrong += any(answer in (BETTER, WORSE) for answer in told[different:])
        found += told[:different].count(BETTER)
        assert TOO_FEW not in told
        assert set(told[:different]) <= {BETTER, NOT_SHOWN}
    assert wrong / tables < SURE + 3 * math.sqrt(SURE * (1 - SURE) / tables)
    assert abs(found / (different * tables) - HALF) < 0.15
    assert "half of the cases" in RATES
