"""What the pages of the studies say holds of the committed results of their runs."""

from __future__ import annotations

import csv
import json
import runpy
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[3]
REACH = ROOT / "results" / "reach"
LONG = "8 x 128"
PARTLY = ("ssa", "encoder-pre-norm", "squeeze-and-excitation")
BEYOND = ("17 to 24", "25 to 32", "33 to 48", "49 to 64", "65 to 96")


def orders(study: str, key: str, tested_on: str | None = None) -> list[dict[str, Any]]:
    paths = sorted((REACH / "runs" / study).glob(f"{key}-[0-9].json"))
    runs = [json.loads(path.read_text("utf-8")) for path in paths]
    return [(run if tested_on is None else run["further"][tested_on])["order"] for run in runs]


def share(order: dict[str, Any], title: str) -> float:
    return float(order["by_distance"][title]["share"])


def test_a_field_that_covers_the_picture_is_not_yet_used() -> None:
    trained, longer = orders("unet", "unet-3"), orders("unet", "unet-3", LONG)
    assert len(trained) == len(longer) == 5
    assert all(order["near"]["share"] > 0.985 for order in trained)
    far = sorted(share(order, "33 to 48") for order in trained)
    assert far[0] == pytest.approx(0.501, abs=0.001)
    assert far[1] > 0.92
    assert all(share(order, "65 to 96") == pytest.approx(0.5, abs=0.0005) for order in longer)
    for order in orders("unet", "unet-2", LONG):
        for title in ("49 to 64", "65 to 96"):
            assert share(order, title) == pytest.approx(0.5, abs=0.0005)


@pytest.mark.parametrize("halved", [1, 2, 3])
@pytest.mark.parametrize("name", ["lambda", "lambda-pe"])
def test_a_lambda_layer_at_each_scale_reaches_everywhere(name: str, halved: int) -> None:
    for tested_on in (None, "8 x 96", LONG):
        found = orders("unet", f"{name}-{halved}", tested_on)
        assert len(found) == 5
        for order in found:
            known = [count["share"] for count in order["by_distance"].values() if count["of"]]
            assert min(known) > 0.97


def test_global_context_failed_once_where_the_cue_was_hardly_learnt() -> None:
    near = sorted(order["near"]["share"] for order in orders("unet", "global-context-3"))
    assert near[0] == pytest.approx(0.53, abs=0.005)
    assert near[1] > 0.98


def test_strips_are_told_apart_by_what_routes() -> None:
    names = ("global-average-pooling", "global-context", "lambda", "lambda-pe")
    runs = {(name, k): orders("bands", f"{name}-{k}")[0] for name in names for k in (1, 2, 4)}
    near = {key: order["near"]["share"] for key, order in runs.items()}
    assert round(min(near.values()), 2) == 0.84
    assert round(min(near[name, 4] for name in names), 2) == 0.92
    far = {k: [round(runs[name, k]["far"]["share"], 3) for name in names] for k in (1, 2, 4)}
    assert far[1] == [1.0, 1.0, 1.0, 1.0]
    assert [round(share, 2) for share in far[2][:2]] == [0.62, 0.84]
    assert far[2][2:] == [1.0, 1.0]
    assert far[4][0] == 0.504
    assert [round(share, 2) for share in far[4][1:]] == [0.60, 0.81, 0.99]


def structure_far(name: str) -> list[float]:
    """The accuracy far from the difference, seed by seed."""
    paths = sorted((ROOT / "results" / "abilities" / "runs" / "twins").glob(f"{name}-[0-9].json"))
    assert len(paths) == 5
    return [json.loads(path.read_text("utf-8"))["test"]["far_accuracy"] for path in paths]


def answers_of(probe: str) -> dict[str, str]:
    """By structure: its answer in the matrix."""
    with open(ROOT / "results" / "abilities" / "matrix.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["probe"] == probe and row["test"]]
    return {row["structure"]: row["answer"] for row in rows}


@pytest.mark.parametrize("probe", ["centered-square", "color-code", "twins"])
def test_the_guide_to_profiles_counts_the_answers_of_the_matrix(probe: str) -> None:
    guide = (ROOT / "docs" / "how-to" / "profile.md").read_text("utf-8")
    counts = Counter(answers_of(probe).values())
    assert sum(counts.values()) == (19 if probe == "color-code" else 35)
    kinds = [kind for kind in ("yes", "in part", "no", "not learnt") if counts[kind]]
    assert ", ".join(f"{counts[kind]} *{kind}*" for kind in kinds) in guide


def test_what_has_no_reach_is_right_in_exactly_half_in_every_seed() -> None:
    for name, answer in answers_of("twins").items():
        assert (structure_far(name) == 5 * [0.5]) == (answer == "no")
    assert [sum(far > 0.9 for far in structure_far(name)) for name in PARTLY] == [4, 4, 3]
    assert round(min(structure_far("ssa")), 2) == 0.89


def structure_tests(probe: str, name: str) -> list[dict[str, float]]:
    """The figures on test samples, seed by seed."""
    paths = sorted((ROOT / "results" / "abilities" / "runs" / probe).glob(f"{name}-[0-9].json"))
    assert len(paths) == 5
    return [json.loads(path.read_text("utf-8"))["test"] for path in paths]


def test_the_guide_to_profiles_says_what_the_runs_have_of_the_other_abilities() -> None:
    for name, answer in answers_of("centered-square").items():
        if answer == "no" and name != "mlp-mixer":
            assert [test["iou"] for test in structure_tests("centered-square", name)] == 5 * [0.04]
    mixer = structure_tests("centered-square", "mlp-mixer")
    assert max(test["iou"] for test in mixer) < 0.045
    codes = {
        name: [test["masked_code_accuracy"] for test in structure_tests("color-code", name)]
        for name in answers_of("color-code")
    }
    by_content = [name for name, answer in answers_of("color-code").items() if answer == "yes"]
    assert min(statistics.fmean(codes[name]) for name in by_content) > 0.985
    lambdas = [statistics.fmean(codes[name]) for name in codes if name.startswith("lambda")]
    assert 0.895 < min(lambdas) < max(lambdas) < 0.935


def test_the_pages_are_those_of_the_results(tmp_path: Path) -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_reach.py"), run_name="tool")
    committed = [name for name in tool["STUDIES"] if (REACH / f"{name}.md").exists()]
    assert "unet" in committed
    for name in committed:
        study = tool["STUDIES"][name]
        results = tool["read_results"](REACH / "runs" / name, study)
        assert all(results.values()), name
        page = (REACH / f"{name}.md").read_text("utf-8")
        assert study.findings in page
        for row in study.rows:
            for cells in tool["reach_rows"](results[row.key])[1:]:
                assert f"{row.title} | {results[row.key][0]['parameters']:,} |" in page
                assert " | ".join(cells).rstrip() in page
