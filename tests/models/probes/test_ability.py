"""The rules that turn figures into answers."""

from __future__ import annotations

import csv
import json
import math
import statistics
from pathlib import Path

import pytest

pytest.importorskip("torch")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError
from synthprobe_models.experiments.profile.profiler import profiled_probes
from synthprobe_models.probes import PROBES, ability_of
from synthprobe_models.probes.ability import (
    IN_PART,
    NO,
    NOT_LEARNT,
    NOT_TRIED,
    TOO_FEW,
    YES,
    Evidence,
)
from synthprobe_models.probes.centered_square import BY_HEART, PAINTED, decide_covariance
from synthprobe_models.probes.color_code import BEYOND_GUESSING, GROUPED, decide_grouping
from synthprobe_models.probes.twins import REACHES, REACHES_NOT, decide_reach
from synthprobe_models.seeds.rules import LEAST, POWER, RATES, WRONG_ANY, WRONG_NORMAL

SHARES = st.floats(0, 1)
SEEDS_OF_A_RUN = st.lists(SHARES, min_size=LEAST, max_size=8)
ORDER = (NO, NOT_LEARNT, IN_PART, YES)


def all_alike(value: float) -> list[float]:
    return [value] * LEAST


def squares(train: list[float], test: list[float]) -> str:
    return decide_covariance(Evidence(train=train, test=test, guess=1 / 25)).answer


def codes(tests: list[float], guess: float, shown: float = 1.0) -> str:
    more = {"shown_code_accuracy": [shown] * len(tests)}
    return decide_grouping(Evidence(train=tests, test=tests, guess=guess, more=more)).answer


def reach(far: list[float], near: float = 1.0) -> str:
    more = {"near_accuracy": [near] * len(far)}
    return decide_reach(Evidence(train=far, test=far, guess=0.5, more=more)).answer


@pytest.mark.parametrize(
    ("train", "test", "answer", "because"),
    [
        ([1.0] * 5, [1.0] * 5, YES, "never trained, seeds 100% to 100%"),
        ([0.04] * 5, [0.04] * 5, NO, "white pixel itself"),
        ([1.0] * 5, [0.02] * 5, NO, "learnt by heart"),
        ([1.0] * 5, [0.7] * 5, IN_PART, "elsewhere neither painted nor left out"),
        ([0.36] * 5, [0.36] * 5, IN_PART, "only 36% of it"),
        ([0.76] * 5, [0.2] * 5, NOT_LEARNT, "it paints only 76%"),
        ([0.98] * 5, [0.2, 1.0, 0.78, 1.0, 0.3], IN_PART, "seeds disagree: 20% to 100%"),
        ([1.0] * 5, [1.0, 1.0, 1.0, 1.0, 0.1], IN_PART, "seeds disagree: 10% to 100%"),
        ([1.0] * 4, [1.0] * 4, TOO_FEW, "5 are needed to be sure of anything, there are 4"),
    ],
)
def test_painting_memorising_and_not_learning_are_told_apart(
    train: list[float], test: list[float], answer: str, because: str
) -> None:
    outcome = decide_covariance(Evidence(train=train, test=test, guess=1 / 25))
    assert outcome.answer == answer
    assert because in outcome.because


@given(SHARES, SHARES, SHARES)
def test_a_better_test_never_gives_a_worse_answer(a: float, b: float, other: float) -> None:
    low, high = (all_alike(value) for value in sorted((a, b)))
    train = all_alike(other)
    assert ORDER.index(squares(train, low)) <= ORDER.index(squares(train, high))
    guess = 0.9 * other
    assert ORDER.index(codes(low, guess)) <= ORDER.index(codes(high, guess))


def test_codes_count_from_the_guess_on() -> None:
    tests = (0.4, 0.45, 0.47, 0.93, 0.95)
    assert [codes(all_alike(test), 0.4) for test in tests] == [NO, NO, IN_PART, IN_PART, YES]
    assert codes(all_alike(1.0), 1.0) == NOT_TRIED  # nothing is left to find
    assert codes(all_alike(0.4), 0.4, shown=0.89) == NOT_LEARNT
    assert codes(all_alike(0.95), 0.4, shown=0.89) == YES


def test_reach_is_told_by_the_seeds() -> None:
    assert reach([0.99, 0.98, 1.0, 0.97, 0.99]) == YES
    assert reach([0.5] * 5) == NO
    assert reach([0.5, 0.5, 0.51, 0.5, 0.52]) == NO
    assert reach([0.95, 0.95, 0.95, 0.95, 0.6]) == IN_PART  # a mean of 88%, and wide
    assert reach([0.93, 0.99, 0.85, 0.99, 0.99]) == IN_PART  # a mean of 95%, and wide
    assert reach([0.7] * 5) == IN_PART
    assert reach([0.99] * 5, near=0.79) == NOT_LEARNT
    assert reach([0.99] * 4) == TOO_FEW


@given(st.integers(1, LEAST - 1), SHARES, SHARES)
def test_nothing_is_answered_with_too_few_seeds(count: int, one: float, other: float) -> None:
    values = [one] * count
    assert squares([other] * count, values) == TOO_FEW
    assert codes(values, 0.9 * other) == TOO_FEW
    assert reach(values, other) == TOO_FEW


@given(SEEDS_OF_A_RUN, SHARES)
def test_yes_and_no_hold_for_the_mean_and_only_where_the_cue_was_learnt(
    far: list[float], near: float
) -> None:
    answer, mean = reach(far, near), sum(far) / len(far)
    assert (answer == NOT_LEARNT) == (statistics.fmean([near] * len(far)) < 0.8)
    if answer == YES:
        assert mean > 0.9
    if answer == NO:
        assert mean < 0.55


@given(SEEDS_OF_A_RUN, st.floats(0.5, 1))
def test_more_spread_about_the_same_mean_never_decides_more(far: list[float], part: float) -> None:
    mean = sum(far) / len(far)
    narrow = [mean + part * (value - mean) for value in far]
    if reach(far) in (YES, NO):
        assert reach(narrow) == reach(far)


DRAWS = 1_500
SPREAD = 0.01


def answers(ability: str, values: np.ndarray) -> list[str]:
    """The answers for rows of seeds, in what the rule of an ability compares with a threshold."""
    rows = values.tolist()
    if ability == "painting":
        return [squares(all_alike(1.0), row) for row in rows]
    if ability == "by heart":
        return [squares(all_alike(1.0), row) for row in rows]
    if ability == "grouping":
        return [codes(row, 0.0) for row in rows]
    return [reach(row) for row in rows]


THRESHOLDS = [
    ("painting", PAINTED, YES),
    ("by heart", BY_HEART, NO),
    ("grouping", GROUPED, YES),
    ("grouping", BEYOND_GUESSING, NO),
    ("linking", REACHES, YES),
    ("linking", REACHES_NOT, NO),
]


@pytest.mark.parametrize(("ability", "threshold", "answer"), THRESHOLDS)
def test_every_answer_has_the_error_rates_and_the_power_that_the_page_states(
    ability: str, threshold: float, answer: str
) -> None:
    random = np.random.default_rng(11)
    better = 1 if answer == YES else -1
    normal = random.normal(size=(DRAWS, LEAST))
    margin = 4 * math.sqrt(WRONG_NORMAL / DRAWS)  # four standard deviations of the simulation

    null = answers(ability, threshold + SPREAD * normal)
    assert null.count(answer) / DRAWS < WRONG_NORMAL + margin
    assert null.count(answer) > 0  # a rule that never says so would pass, too
    effect = answers(ability, threshold + SPREAD * (normal + 2 * better))
    assert abs(effect.count(answer) / DRAWS - POWER) < 4 * math.sqrt(POWER * (1 - POWER) / DRAWS)
    assert {YES, NO}.difference([answer]).isdisjoint([*null, *effect])

    # Trainings that fail or not: the median is at most the threshold, and the rest is anything.
    works = random.random((DRAWS, LEAST)) < 0.5
    failing = threshold + better * np.where(works, 0.05, -0.3) + 1e-3 * normal
    wrong = answers(ability, failing).count(answer) / DRAWS
    assert wrong < WRONG_ANY + margin
    for share in (f"{WRONG_NORMAL:.1%}", f"{WRONG_ANY:.1%}", f"{POWER:.0%}"):
        assert share in RATES


def test_every_probe_has_its_ability_and_says_its_rule() -> None:
    asked = {name: probe.ability for name, probe in PROBES.items() if probe.ability is not None}
    assert {name: ability.name for name, ability in asked.items()} == {
        "twins": "linking local cues to distant inferences",
        "centered-square": "paints anywhere",
        "color-code": "grouping",
    }
    assert "80%" in ability_of("centered-square").rule
    assert "10%" in ability_of("color-code").rule
    assert all(share in ability_of("twins").rule for share in ("80%", "90%", "55%"))


def test_profiles_do_not_ask_what_has_no_ability() -> None:
    with pytest.raises(SynthprobeError, match="profiles do not ask rde: take of twins, centered"):
        ability_of("rde")


@pytest.mark.parametrize(
    ("probe", "line", "axis"),
    [
        (
            "twins",
            "accuracy far from the difference ↑ 25.0%; near 30.0% (95% interval 0.0% to 100.0%, "
            "seeds 20.0% to 40.0%); guess 12%",
            "accuracy far from the difference ↑, %, higher is better",
        ),
        (
            "centered-square",
            "IOU ↑ 50.0% where trained, 25.0% elsewhere; guess 12%",
            "IOU ↑, %, higher is better",
        ),
        (
            "color-code",
            "accuracy of masked codes ↑ 25.0%; of the codes shown 99.0%; guess 12%",
            "accuracy of masked codes ↑, %, higher is better",
        ),
    ],
)
def test_every_probe_says_its_figures_in_its_own_way(probe: str, line: str, axis: str) -> None:
    ability = ability_of(probe)
    more = {"near_accuracy": [0.2, 0.4], "shown_code_accuracy": [0.99]}
    found = Evidence(train=[0.5], test=[0.25], guess=0.125, more=more)
    assert ability.describe(found) == line
    assert ability.axis == axis


def test_the_matrix_gives_the_share_of_the_way_that_the_rule_speaks_of() -> None:
    tests = [0.88, 0.92, 0.9, 0.91, 0.89]
    more = {"shown_code_accuracy": [1.0] * 5}
    found = Evidence(train=tests, test=tests, guess=0.36, more=more)
    assert ability_of("color-code").brief(found) == "90%, 84% ± 3"
    assert decide_grouping(found).because.startswith("84% of the way")
    every = Evidence(train=[1.0], test=[1.0], guess=1.0)
    assert ability_of("color-code").brief(every) == "100%"


def test_the_committed_matrix_follows_from_the_committed_runs() -> None:
    folder = Path(__file__).parents[3] / "results" / "abilities"
    page = (folder / "matrix.md").read_text(encoding="utf-8")
    lines = {line.split(" | ")[0]: line for line in page.splitlines() if line.startswith("| ")}
    with open(folder / "matrix.csv", newline="", encoding="utf-8") as file:
        tried = [row for row in csv.DictReader(file) if row["test"]]
    assert {row["probe"] for row in tried} == set(profiled_probes())
    for row in tried:
        ability, paths = ability_of(row["probe"]), folder / "runs" / row["probe"]
        runs = [
            json.loads((paths / f"{row['structure']}-{seed}.json").read_text("utf-8"))
            for seed in range(int(row["seeds"]))
        ]
        found = Evidence(
            train=[run["train"][ability.measure] for run in runs],
            test=[run["test"][ability.measure] for run in runs],
            guess=float(row["guess"]),
            more={name: [run["test"][name] for run in runs] for name in ability.more},
        )
        outcome = ability.decide(found)
        assert (outcome.answer, outcome.because) == (row["answer"], row["because"])
        assert f"**{outcome.answer}** ({ability.brief(found)})" in lines[f"| {row['structure']}"]
        for say in ability.brief_details.values():
            assert say(runs) in lines[f"| {row['structure']}"]
        assert f"{runs[0]['parameters']:,}" in lines[f"| {row['structure']}"]
        assert f"{ability.name} ({ability.brief_heading})" in page
        assert ability.rule in page
