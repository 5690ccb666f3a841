"""A finished file is hashed once and opened once, for its card."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import pytest

from synthprobe_data import DATASETS, RdeConfig
from synthprobe_data.cli.shards import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder

SMALL: dict[str, Any] = {
    "config": RdeConfig(height=40, width=40, n_rectangles=4, n_vis=3, n_gap=2, n_par=3),
    "splits": {"train": 9, "test": 4},
    "workers": 1,
}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counter[str]]:
    """How often each HDF5 file is opened for reading, and hashed."""
    found: dict[str, Counter[str]] = {"opened": Counter(), "hashed": Counter()}
    open_file, digest = h5py.File.__init__, hashlib.file_digest

    def opening(self: Any, name: Any, mode: str = "r", *rest: Any, **options: Any) -> None:
        if mode == "r" and isinstance(name, str | Path):  # not what h5py itself has open
            found["opened"][Path(name).name] += 1
        open_file(self, name, mode, *rest, **options)

    def hashing(file: Any, *rest: Any) -> Any:
        if file.name.endswith(".h5"):
            found["hashed"][Path(file.name).name] += 1
        return digest(file, *rest)

    monkeypatch.setattr(h5py.File, "__init__", opening)
    monkeypatch.setattr(hashlib, "file_digest", hashing)
    return found


def test_of_a_file(counts: dict[str, Counter[str]], tmp_path: Path) -> None:
    generate_file(tmp_path / "a.h5", DATASETS["rde"], **SMALL)
    assert counts == {"opened": {"a.h5": 1}, "hashed": {"a.h5": 1}}


def test_of_a_folder(counts: dict[str, Counter[str]], tmp_path: Path) -> None:
    generate_folder(tmp_path / "a", DATASETS["rde"], shards=3, **SMALL)
    once = {path.name: 1 for path in (tmp_path / "a").glob("*.h5")}
    assert len(once) == 3
    assert counts == {"opened": once, "hashed": once}


def test_of_a_file_that_is_taken_apart(counts: dict[str, Counter[str]], tmp_path: Path) -> None:
    generate_file(tmp_path / "a.h5", DATASETS["rde"], **SMALL, cards=False)
    words = ["split", tmp_path / "a.h5", "--out", tmp_path / "b", "--shards", 3]
    assert main([str(word) for word in words]) == 0
    once = {path.name: 1 for path in (tmp_path / "b").glob("*.h5")}
    assert len(once) == 3
    del counts["opened"]["a.h5"]  # which is read, and was not finished here
    assert counts == {"opened": once, "hashed": once}
