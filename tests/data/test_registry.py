"""Datasets are known by their declaration alone."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import synthprobe_data
from synthprobe_data import DATASETS, SynthprobeError, make_file, ready_path
from synthprobe_data.cli.gen import main as gen
from synthprobe_data.cli.shards import main as shards

HOUSE = Path(synthprobe_data.__file__).parent
LISTS = {"__init__.py", "registry.py"}
"""The public names, and where each dataset is."""


def test_nothing_else_names_a_dataset_in_code() -> None:
    rooms = [name.replace("-", "_") for name in DATASETS]
    names = re.compile(
        "|".join(
            [rf"(synthprobe_data\.|import ){room}\b" for room in rooms]
            + [rf"(==|!=|in|\[)\s*\(?[\"']{name}[\"']" for name in DATASETS]
            + [r"\b(RDE|COLOR_CODE|CENTERED_SQUARE)\b(\.\w|[,)])"]
        )
    )
    found = [
        f"{path.relative_to(HOUSE)}: {line.strip()}"
        for path in sorted(HOUSE.rglob("*.py"))
        if path.relative_to(HOUSE).parts[0] not in {*rooms, *LISTS}
        for line in path.read_text("utf-8").splitlines()
        if names.search(line) and "Scene" not in line  # the types of readings
    ]
    assert found == []


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("broken", "no_such_module_anywhere:DATASET", "synthprobe.datasets")
    monkeypatch.setattr(DATASETS, "_offered", {"broken": point})


def test_a_dataset_that_cannot_be_loaded_does_not_stop_the_others(
    broken: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.h5"
    words = ["color-code", "--out", str(out), "--train", "3", "--test", "0", "--workers", "1"]
    assert gen(words) == 0
    assert gen(["broken", "--out", str(tmp_path / "b.h5")]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "the dataset 'broken' of no_such_module_anywhere:DATASET cannot be loaded" in said


def test_only_datasets_with_a_small_file_are_ready(
    broken: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        shards(["ready", "broken"])
    assert "invalid choice: 'broken'" in capsys.readouterr().err
    with pytest.raises(SynthprobeError, match="cannot be loaded"):
        ready_path("broken")


def test_sizes_are_given_by_the_names_of_the_splits(tmp_path: Path) -> None:
    made = make_file(
        "color-code", tmp_path / "a.h5", splits={"train": 3, "test": 2}, workers=1, cards=False
    )
    assert made.rows == 5
    with pytest.raises(SynthprobeError, match="color-code has no split 'valid': it has train and"):
        make_file("color-code", tmp_path / "b.h5", splits={"valid": 3}, workers=1, cards=False)
