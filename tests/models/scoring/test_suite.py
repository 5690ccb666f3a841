"""Scoring on a suite: one table over its members, all aligned alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from synthprobe_data import RdeConfig, SynthprobeError
from synthprobe_data.generation.suite import generate_suite
from synthprobe_data.rde import RDE
from synthprobe_models.cli.main import main
from synthprobe_models.scoring.suite import score_suite, suite_table

BASE = RdeConfig(height=24, width=24, n_rectangles=3, n_vis=2, n_gap=2, n_par=2)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite") / "suite"
    generate_suite(folder, RDE, BASE, samples=3, workers=1)
    return folder


def brightness(pictures: torch.Tensor) -> torch.Tensor:
    return pictures.mean(1)


def only_24(pictures: torch.Tensor) -> torch.Tensor:
    if pictures.shape[2:] != (24, 24):
        raise SynthprobeError("only 24 x 24.")
    return pictures.mean(1)


def test_each_member_has_a_row_and_one_that_cannot_be_given_says_why(suite: Path) -> None:
    rows = score_suite(only_24, on=suite, worst=0)
    assert [row.member for row in rows if row.score is None] == ["smaller", "larger"]
    assert all("only 24 x 24" in str(row.cannot) for row in rows if row.score is None)
    assert {row.score.align for row in rows if row.score is not None} == {"scale-shift"}
    table = suite_table(rows)
    assert [line[0] for line in table] == ["member", *(row.member for row in rows)]
    assert table[0][2] == "pairs in order ↑"
    assert {len(line) for line in table} == {len(table[0])}


def test_what_cannot_be_given_the_first_member_is_refused(suite: Path) -> None:
    def nothing(_pictures: torch.Tensor) -> torch.Tensor:
        raise SynthprobeError("nothing fits.")

    with pytest.raises(SynthprobeError, match=r"nothing fits\."):
        score_suite(nothing, on=suite)


def test_the_command_prints_one_table_and_writes_it(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "own.py"
    code.write_text("def predict(pictures):\n    return pictures.mean(1)\n", "utf-8")
    out = tmp_path / "scores"
    command = ["score", f"{code}:predict", "--on", str(suite), "--out", str(out)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("paper", "hard", "new-colors", "ambiguous"))
    facts = json.loads((out / "suite.json").read_text("utf-8"))
    assert [member["member"] for member in facts][:2] == ["paper", "easy"]
    right = score_suite(brightness, on=suite, worst=0)[1].score  # each has an order to find
    assert right is not None
    assert facts[1]["metrics"]["pairs_in_order"]["value"] == right.metrics["pairs_in_order"]
    assert "| paper |" in (out / "suite.md").read_text("utf-8")
