"""The committed tables follow from the committed results of their runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from synthprobe_models.experiments.make import remake_table
from synthprobe_models.experiments.records import WITHOUT, has_records

ROOT = Path(__file__).parents[3] / "results"
TABLES = sorted(path.parent.name for path in ROOT.glob("table-*/table.md"))


@pytest.mark.parametrize("name", TABLES)
def test_a_committed_table_is_that_of_its_runs_or_says_that_it_has_none(
    name: str, tmp_path: Path
) -> None:
    page = (ROOT / name / "table.md").read_text(encoding="utf-8")
    if not has_records(ROOT / name / "runs"):
        assert WITHOUT in page
        return
    _, number, size, *_ = name.split("-")
    (tmp_path / "runs").mkdir()
    for path in (ROOT / name / "runs").glob("*.json"):
        shutil.copy(path, tmp_path / "runs")
    made = remake_table(int(number), size, tmp_path)
    assert made.markdown.read_text(encoding="utf-8") == page
    table = (ROOT / name / "table.csv").read_bytes()
    assert made.csv.read_bytes() == table
