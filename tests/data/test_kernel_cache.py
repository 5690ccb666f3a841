"""Compiled kernels are kept outside the package, and nothing depends on that they can be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import synthprobe_data
from synthprobe_data import kernel_cache

SMALL = """
import numpy as np
from synthprobe_data import kernel_cache
kernel_cache.announce = print
from synthprobe_data.kernel import highest_bit
print(highest_bit(np.uint64(40)))
"""
"""Compiles one small kernel, and says what is announced."""

DIGESTS = """
import json, warnings
warnings.simplefilter("error")
from synthprobe_data import DATASETS
from synthprobe_data.shards.digest import content_digest
digests = {}
for name, dataset in DATASETS.items():
    block = dataset.generate_block(dataset.config(), 7, "test", 0, 2)
    digests[name] = content_digest(block)
print(json.dumps(digests))
"""


def python(code: str, **environment: Any) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_kernels_are_kept_in_the_folder_that_numba_is_given(tmp_path: Path) -> None:
    before = set(Path(synthprobe_data.__file__).parent.rglob("*.nb[ic]"))
    first = python(SMALL, NUMBA_CACHE_DIR=tmp_path)
    assert first == ["compiling kernels, about 10 s, once for this version", "6"]
    assert list(tmp_path.rglob("*.nbi"))
    assert python(SMALL, NUMBA_CACHE_DIR=tmp_path) == ["6"]
    assert set(Path(synthprobe_data.__file__).parent.rglob("*.nb[ic]")) <= before


def test_without_a_place_for_kernels_they_are_compiled_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    line, result = python(SMALL, NUMBA_CACHE_DIR=tmp_path / "file")
    assert "in every run" in line
    assert result == "6"


def test_a_place_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    python(SMALL, NUMBA_CACHE_DIR=tmp_path)
    for index in tmp_path.rglob("*.nbi"):  # a folder in place of the file cannot be replaced
        index.unlink()
        index.mkdir()
    assert python(SMALL, NUMBA_CACHE_DIR=tmp_path)[-1] == "6"


def test_a_folder_that_can_only_be_read_is_not_promised_to_keep_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(kernel_cache, "announce", said.append)
    monkeypatch.setattr(kernel_cache, "_announced", False)
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: tmp_path)
    # As it is for a user without the right to write there; root has it everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (tmp_path, os.W_OK))
    kernel_cache.announce_compiling()
    assert len(said) == 1
    assert "cannot be written to, so this happens in every run" in said[0]


def test_damaged_kernels_are_compiled_again(tmp_path: Path) -> None:
    python(SMALL, NUMBA_CACHE_DIR=tmp_path)
    for file in tmp_path.rglob("*.nb[ic]"):
        file.write_bytes(b"")
    assert python(SMALL, NUMBA_CACHE_DIR=tmp_path)[-1] == "6"


def test_kernels_of_other_sources_go_when_nobody_has_used_them_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernels = tmp_path / "synthprobe" / "kernels"
    for name, seconds in (("old", 1), ("new", None)):
        (kernels / name).mkdir(parents=True)
        if seconds:
            os.utime(kernels / name, (seconds, seconds))
    folder = kernel_cache.cache_folder.__wrapped__()
    assert folder is not None
    assert sorted(path.name for path in kernels.iterdir()) == sorted(["new", folder.name])


def test_plain_python_makes_the_same_samples() -> None:
    plain = python(DIGESTS, NUMBA_DISABLE_JIT=1)[-1]
    assert json.loads(plain) == json.loads(python(DIGESTS)[-1])
