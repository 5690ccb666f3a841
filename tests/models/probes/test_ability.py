"""The rules that turn figures into answers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError
from synthprobe_models.experiments.profile.profiler import profiled_probes
from synthprobe_models.probes import PROBES, ability_of
from synthprobe_models.probes.ability import IN_PART, NO, NOT_LEARNT, NOT_SEEN, YES, Evidence
from synthprobe_models.probes.centered_square import decide_covariance
from synthprobe_models.probes.color_code import decide_grouping
from synthprobe_models.probes.twins import SEEDS, decide_reach

SHARES = st.floats(0, 1)
SEEDS_OF_A_RUN = st.lists(SHARES, min_size=SEEDS, max_size=8)
ORDER = (NO, IN_PART, YES)


def square(train: float, test: float) -> str:
    return decide_covariance(Evidence(train=[train], test=[test], guess=1 / 25)).answer


def codes(test: float, guess: float) -> str:
    return decide_grouping(Evidence(train=[1.0], test=[test], guess=guess)).answer


def reach(far: list[float], near: float = 1.0) -> str:
    more = {"near_accuracy": [near] * len(far)}
    return decide_reach(Evidence(train=far, test=far, guess=0.5, more=more)).answer


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


def test_reach_is_told_by_the_interval_over_seeds() -> None:
    assert reach([0.99, 0.98, 1.0, 0.97, 0.99]) == YES
    assert reach([0.5] * 5) == NO
    assert reach([0.5, 0.5, 0.51, 0.5, 0.52]) == NO
    assert reach([0.95, 0.95, 0.95, 0.95, 0.6]) == IN_PART  # a mean of 88%, and wide
    assert reach([0.93, 0.99, 0.85, 0.99, 0.99]) == IN_PART  # a mean of 95%, and wide
    assert reach([0.7] * 5) == IN_PART
    assert reach([0.99] * 5, near=0.79) == NOT_LEARNT


@given(SEEDS_OF_A_RUN, SHARES)
def test_yes_and_no_hold_for_the_mean_and_only_where_the_cue_was_learnt(
    far: list[float], near: float
) -> None:
    answer, mean = reach(far, near), sum(far) / len(far)
    assert (answer == NOT_LEARNT) == (near < 0.8)
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


def test_every_probe_has_its_ability_and_says_its_rule() -> None:
    asked = {name: probe.ability for name, probe in PROBES.items() if probe.ability is not None}
    assert {name: ability.name for name, ability in asked.items()} == {
        "twins": "linking local cues to distant inferences",
        "centered-square": "paints anywhere",
        "color-code": "grouping",
    }
    assert "90%" in ability_of("centered-square").rule
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
            "accuracy far from the difference ↑ 25.0%; near 30.0% (20.0% to 40.0%); guess 12%",
            "accuracy far from the difference ↑, %, higher is better",
        ),
        (
            "centered-square",
            "IOU ↑ 50.0% where trained, 25.0% elsewhere; guess 12%",
            "IOU ↑, %, higher is better",
        ),
        (
            "color-code",
            "accuracy of masked codes ↑ 25.0%; guess 12%",
            "accuracy of masked codes ↑, %, higher is better",
        ),
    ],
)
def test_every_probe_says_its_figures_in_its_own_way(probe: str, line: str, axis: str) -> None:
    ability = ability_of(probe)
    more = {"near_accuracy": [0.2, 0.4]}
    found = Evidence(train=[0.5], test=[0.25], guess=0.125, more=more)
    assert ability.describe(found) == line
    assert ability.axis == axis


def test_the_matrix_gives_the_share_of_the_way_that_the_rule_speaks_of() -> None:
    found = Evidence(train=[1.0], test=[0.88, 0.92], guess=0.36)
    assert ability_of("color-code").brief(found) == "90%, 84% of the way"
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
