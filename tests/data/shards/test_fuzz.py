"""Damaged files and folders, more than a thousand: refused, right, or told by ``verify``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    TwinsConfig,
    make_file,
)
from synthprobe_data.config import Config
from synthprobe_data.convert.merge_split import split

SMALL: dict[str, Config] = {
    "rde": RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3),
    "centered-square": CenteredSquareConfig(height=33, width=33, square=9),
    "color-code": ColorCodeConfig(positions=32),
    "twins": TwinsConfig(height=12, width=40, min_distance=8),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small file of each dataset, as it is written, and shards of one of them."""
    folder = tmp_path_factory.mktemp("good")
    for name, config in SMALL.items():
        sizes = {"train": 6, "validation": 0} if name == "twins" else {"train": 5}
        sizes |= {"test": 2}
        make_file(name, folder / f"{name}.h5", splits=sizes, config=config, cards=False)
    split(folder / "rde.h5", folder / "folder", 4)
    return folder


def fuzz(good: Path, work: Path, first: int, last: int) -> dict[str, int]:
    """How many mutations ended in which way."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.data.shards.fuzz", good, work, str(first), str(last)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    counts: dict[str, int] = json.loads(run.stdout)
    assert sum(counts.values()) == last - first
    return counts


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        *(("rde", first, first + 200) for first in range(0, 600, 200)),
        *(("centered-square", first, first + 150) for first in range(0, 300, 150)),
        *(("color-code", first, first + 150) for first in range(0, 300, 150)),
        ("twins", 0, 150),
    ],
)
def test_mutated_files_are_refused_or_right_or_told_by_verify(
    tmp_path: Path, good: Path, name: str, first: int, last: int
) -> None:
    counts = fuzz(good / f"{name}.h5", tmp_path / "m.h5", first, last)
    assert all(counts.values())


def test_mutated_folders_are_refused_or_right_or_told_by_verify(tmp_path: Path, good: Path) -> None:
    counts = fuzz(good / "folder", tmp_path / "m", 0, 150)
    assert all(counts.values())
