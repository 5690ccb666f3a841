"""What runs reach, as rows, as curves, and as intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from scipy import stats

from synthprobe_models.reach.by_distance import BINS, bin_title
from synthprobe_models.reach.curve import result_curves, write_curves
from synthprobe_models.reach.report import brief_reach, reach_rows
from synthprobe_models.seeds.interval import interval_of


def order(share: float, reach: int) -> dict[str, Any]:
    return {
        "near": {"share": 1.0},
        "far": {"share": share},
        "reach": reach,
        "by_distance": {bin_title(b): {"share": share if b[0] < 40 else None} for b in BINS},
    }


def run(share: float, reach: int, *, longer: bool) -> dict[str, Any]:
    other = {"order": order(share, 4)} if longer else {"cannot": "built for 8 x 64"}
    return {
        "data": {"config": {"height": 8, "width": 64}},
        "order": order(share, reach),
        "further": {"8 x 96": other},
    }


def test_rows_say_mean_interval_range_and_what_cannot_be_tested() -> None:
    rows = reach_rows([run(0.9, 32, longer=True), run(0.7, 16, longer=True)])
    low, high = interval_of([0.9, 0.7])
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 1, 0.8, 0.1))
    assert low < 0 < 1 < high
    assert rows[1][1:] == [
        "100.0% (100.0% to 100.0%)",
        "80.0% (0.0% to 100.0%)",
        "70.0% to 90.0%",
        "16 to 32",
    ]
    assert rows[2][0] == "8 x 96"
    assert rows[2][-1] == "4"
    alone = [run(0.9, 32, longer=False)]
    assert reach_rows(alone)[2] == ["8 x 96", "cannot", "", "", ""]
    assert brief_reach(alone) == "8 x 64: 32, 8 x 96: cannot"


def test_one_seed_has_no_interval() -> None:
    assert interval_of([0.7]) == (-math.inf, math.inf)
    assert reach_rows([run(0.7, 4, longer=True)])[1][1:3] == ["100.0%", "70.0%"]


def test_curves_leave_out_what_a_structure_cannot_be_given(tmp_path: Path) -> None:
    both = [run(0.9, 32, longer=True), run(0.7, 16, longer=True)]
    assert list(result_curves(both)) == ["8 x 64, as trained", "8 x 96"]
    assert list(result_curves([run(0.9, 32, longer=False)])) == ["8 x 64, as trained"]
    write_curves(tmp_path / "a.png", result_curves(both), "a title with $ and _")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
