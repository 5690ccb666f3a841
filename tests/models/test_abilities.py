"""The rules that turn figures into answers."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from synthprobe_models.abilities import (
    ABILITIES,
    IN_PART,
    NO,
    NOT_SEEN,
    YES,
    Evidence,
    decide_covariance,
    decide_grouping,
    decide_linking,
)
from synthprobe_models.probes import PROBES
from synthprobe_models.profile_matrix import short

SHARES = st.floats(0, 1)
ERRORS = st.lists(st.floats(0.01, 0.5), min_size=1, max_size=4)
ORDER = (NO, IN_PART, YES)


def square(train: float, test: float) -> str:
    return decide_covariance(Evidence(train=[train], test=[test], guess=1 / 25)).answer


def codes(test: float, guess: float) -> str:
    return decide_grouping(Evidence(train=[1.0], test=[test], guess=guess)).answer


def ranks(test: list[float], baseline: list[float], guess: float = 1.0) -> str:
    found = Evidence(train=test, test=test, guess=guess, baseline=baseline)
    return decide_linking(found).answer


@pytest.mark.parametrize(
    ("train", "test", "answer", "because"),
    [
        (1.0, 1.0, YES, "never trained"),
        (0.04, 0.04, NO, "white pixel itself"),
        (1.0, 0.02, NO, "learnt by heart"),
        (1.0, 0.7, IN_PART, "worse where it was not trained"),
        (0.36, 0.36, IN_PART, "only 36% of it"),
    ],
)
def test_painting_memorising_and_not_painting_are_told_apart(
    train: float, test: float, answer: str, because: str
) -> None:
    outcome = decide_covariance(Evidence(train=[train], test=[test], guess=1 / 25))
    assert outcome.answer == answer
    assert because in outcome.because


@given(SHARES, SHARES, SHARES)
def test_a_better_test_never_gives_a_worse_answer(a: float, b: float, other: float) -> None:
    low, high = sorted((a, b))
    assert ORDER.index(square(other, low)) <= ORDER.index(square(other, high))
    guess = 0.9 * other
    assert ORDER.index(codes(low, guess)) <= ORDER.index(codes(high, guess))


def test_codes_count_from_the_guess_on() -> None:
    assert [codes(test, 0.4) for test in (0.4, 0.45, 0.47, 0.93, 0.95)] == [
        NO,
        NO,
        IN_PART,
        IN_PART,
        YES,
    ]
    assert codes(1.0, 1.0) == NOT_SEEN  # nothing is left to find


@given(ERRORS, ERRORS)
def test_what_is_better_than_the_baseline_leaves_it_worse(a: list[float], b: list[float]) -> None:
    turned = {YES: NO, NO: YES, NOT_SEEN: NOT_SEEN}
    assert ranks(b, a) == turned[ranks(a, b)]


@given(ERRORS, ERRORS)
def test_better_means_every_run_and_more_than_the_spread(a: list[float], b: list[float]) -> None:
    if ranks(a, b) == YES:
        assert max(a) < min(b)
        assert sum(b) / len(b) - sum(a) / len(a) > max(max(b) - min(b), max(a) - min(a))


def test_a_difference_within_the_spread_or_below_the_guess_is_not_seen() -> None:
    assert ranks([0.06, 0.061], [0.07, 0.072]) == YES
    assert ranks([0.06, 0.07], [0.072, 0.075]) == NOT_SEEN
    assert ranks([0.06, 0.061], [0.07, 0.072], guess=0.05) == NOT_SEEN


def test_every_probe_has_its_ability_and_says_its_rule() -> None:
    assert {name: ability.name for name, ability in ABILITIES.items()} == {
        probe.name: probe.ability for probe in PROBES.values()
    }
    assert "90%" in ABILITIES["centered-square"].rule
    assert "10%" in ABILITIES["color-code"].rule


def test_the_matrix_gives_the_share_of_the_way_that_the_rule_speaks_of() -> None:
    found = Evidence(train=[1.0], test=[0.88, 0.92], guess=0.36)
    assert short("color-code", found) == "90%, 84% of the way"
    assert decide_grouping(found).because.startswith("84% of the way")
    assert short("color-code", Evidence(train=[1.0], test=[1.0], guess=1.0)) == "100%"
