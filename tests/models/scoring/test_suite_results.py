"""What the page on the suite says holds of the committed results of its runs."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[3]
SUITE = ROOT / "results" / "suite"


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_suite_results.py"), run_name="tool")


def pairs(run: str, member: str, what: str = "value") -> float:
    result = json.loads((SUITE / "runs" / f"{run}.json").read_text("utf-8"))
    (found,) = [one for one in result["suite"] if one["member"] == member]
    return float(found["metrics"]["pairs_in_order"][what])


RUNS = ("unet-hues", "unet-random", "lambda-pe-hues", "lambda-pe-random")


def test_what_was_learnt_on_hues_does_not_carry_over_to_new_colours() -> None:
    own = {run: pairs(run, "paper") for run in RUNS}
    assert max(own, key=own.__getitem__) == "lambda-pe-hues"
    assert round(own["lambda-pe-hues"], 2) == 0.79
    assert round(pairs("lambda-pe-hues", "new-colors"), 2) == 0.66
    assert pairs("lambda-pe-hues", "new-colors", "high") < pairs("lambda-pe-hues", "paper", "low")
    assert pairs("lambda-pe-hues", "new-colors") == pytest.approx(
        pairs("unet-hues", "new-colors"), abs=0.01
    )
    assert round(pairs("lambda-pe-hues", "more-rectangles"), 2) == 0.61


def test_what_was_learnt_on_random_colours_is_less_and_carries_over() -> None:
    assert round(pairs("lambda-pe-random", "paper"), 2) == 0.72
    assert round(pairs("lambda-pe-random", "new-colors"), 2) == 0.71
    assert round(pairs("lambda-pe-random", "more-rectangles"), 2) == 0.73
    for network in ("unet", "lambda-pe"):
        hues, random = (f"{network}-{colors}" for colors in ("hues", "random"))
        for member in ("new-colors", "more-rectangles"):
            assert pairs(random, member) > pairs(hues, member)
    assert round(pairs("unet-hues", "more-rectangles"), 2) == 0.63
    assert round(pairs("unet-random", "more-rectangles"), 2) == 0.72


@pytest.mark.parametrize("run", RUNS)
def test_as_many_pairs_are_in_order_in_other_sizes(run: str) -> None:
    for member in ("smaller", "larger"):
        assert pairs(run, member) > pairs(run, "paper") - 0.005
    assert pairs(run, "paper") < 0.8  # far from solved


def test_the_page_is_that_of_the_results(tool: dict[str, Any]) -> None:
    page = (SUITE / "README.md").read_text("utf-8")
    results = tool["read_results"](SUITE / "runs")
    assert sorted(results) == sorted(RUNS)
    assert tool["FINDINGS"] in page
    assert all(result["settings"]["epochs"] == 1 for result in results.values())
    for metric, digits, times in (("pairs_in_order", 3, 1), ("rmse", 1, 100)):
        for row in tool["table"](results, metric, digits, times):
            assert f"| {' | '.join(row)} |" in page
