"""How far a run is, in a log, and the word before kernels are compiled."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from synthprobe_data import kernel_cache, progress
from synthprobe_data.cli.compiling import compiling_announced
from synthprobe_data.progress import Lines, progress_bar


def test_a_long_run_says_now_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    with Lines(1000, clock=lambda: now) as lines:
        for _ in range(100):  # a hundredth each second
            now += 1
            lines.update(10)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "100 of 1000 samples (10%), 10 s, about 90 s left"
    assert len(said) == 10
    assert said[-1] == "1000 of 1000 samples (100%), 100 s, about 0 s left"


def test_lines_are_some_seconds_apart(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    with Lines(10, clock=lambda: now) as lines:
        for _ in range(10):
            now += 2
            lines.update()
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[0] for line in said] == ["3", "6", "9"]


def test_a_short_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(10, True) as bar:
        bar.update(10)
    assert capsys.readouterr().err == ""


def test_only_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda terminal=terminal: terminal  # type: ignore[method-assign, misc]
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "SECONDS", 0.0)
        with progress_bar(10, True) as bar:
            bar.update(10)
        assert ("10/10" in stream.getvalue()) == terminal
        assert ("10 of 10 samples (100%)" in stream.getvalue()) == (not terminal)
        with progress_bar(10, False) as bar:
            bar.update(10)
        assert stream.getvalue().count("10") <= 4


def command(*words: object, cache: Path) -> list[str]:
    """What a command says on its error output, with this cache of kernels."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    # On a machine that is busy, a line on how far it is may come, too.
    return [line for line in done.stderr.splitlines() if " s left" not in line]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_compiling_is_announced_once_and_not_when_it_is_done(tmp_path: Path, workers: str) -> None:
    cache = tmp_path / "cache"
    small = ("--positions", "8", "--colors", "2", "--train", "6", "--test", "2")
    make = ("synthprobe_data.cli.gen", "color-code", *small, "--workers", workers, "--out")
    said = command(*make, tmp_path / "a.h5", cache=cache)
    assert said == ["synthprobe-gen: compiling kernels, about 10 s, once for this version."]
    assert command(*make, tmp_path / "b.h5", cache=cache) == []


def test_it_is_said_only_while_somebody_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "_announced", False)
    kernel_cache.announce_compiling()
    assert capsys.readouterr().err == ""
    with compiling_announced("x"):
        assert capsys.readouterr().err == ""
        kernel_cache.announce_compiling()
        kernel_cache.announce_compiling()
    said = capsys.readouterr().err
    assert said.startswith("x: compiling kernels, ")
    assert said.count("compiling") == 1


def test_generating_and_verifying_say_how_far_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from synthprobe_data.cli.gen import main as generate
    from synthprobe_data.cli.shards import main as shards

    monkeypatch.setattr(progress, "SECONDS", 0.0)
    words = ["color-code", "--positions", "8", "--colors", "2", "--train", "60", "--test", "2"]
    for options in ([], ["--shards", "4"]):
        out = tmp_path / f"out{len(options)}.h5"
        assert generate([*words, *options, "--out", str(out), "--workers", "1"]) == 0
        assert " of 62 samples (" in capsys.readouterr().err
        assert shards(["verify", str(out), "--workers", "1"]) == 0
        assert " of 62 samples (" in capsys.readouterr().err
