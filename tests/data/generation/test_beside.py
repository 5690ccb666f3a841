"""What is compiled beside the generator is found by the run, and the process ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from synthprobe_data import kernel_cache
from synthprobe_data.cli.compiling import compiling_announced
from synthprobe_data.generation import beside


def run(*words: str, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_what_is_compiled_beside_a_run_is_all_but_its_generator(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run("-m", "synthprobe_data.generation.beside", "rde", cache=cache) == ""
    before = {path.name for path in cache.rglob("*.nbi")}
    assert before
    words = ("rde", "--train", "2", "--test", "0", "--out", str(tmp_path / "few.h5"))
    run("-m", "synthprobe_data.cli.gen", *words, cache=cache)
    whole = {path.name for path in cache.rglob("*.nbi") if not path.name.startswith("part-")}
    assert [name for name in whole - before if "_fill_block" not in name] == []


def test_a_process_beside_needs_a_second_core_and_a_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(beside, "cores", lambda: 1)
    assert beside.start_beside("rde") is None
    monkeypatch.setattr(beside, "cores", lambda: 2)
    monkeypatch.setattr(beside, "has_writable_cache", lambda: False)
    assert beside.start_beside("rde") is None


def test_a_process_beside_is_started_once_and_ends_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_cache, "_announced", False)
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        return started[-1]

    with compiling_announced("x", beside=start):
        assert started == []
        kernel_cache.announce_compiling()
        kernel_cache.announce_compiling()
        (process,) = started
        assert process.poll() is None
    assert process.returncode is not None


def test_a_process_beside_runs_no_code_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("numpy", "h5py", "synthprobe_data"):
        (tmp_path / f"{name}.py").write_text("open('run', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(beside, "cores", lambda: 2)
    process = beside.start_beside("color-code")
    assert process is not None
    assert process.wait(timeout=200) == 0
    assert not (tmp_path / "run").exists()
