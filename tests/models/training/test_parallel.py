"""Runs side by side: their processes end with the command that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.children import Start

torch = pytest.importorskip("torch")


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")
def test_training_ends_when_the_command_is_killed(tmp_path: Path, start: Start) -> None:
    rows = ("lambda-pe", "lambda-local-7")
    words = ["table", "2", "--rows", *rows, "--jobs", "2", "--threads", "2", "--epochs", "5000"]
    process = start(
        [sys.executable, "-m", "synthprobe_models.cli.main", *words, "--out", str(tmp_path)],
        stderr=subprocess.DEVNULL,
    )
    begun = [tmp_path / "runs" / f"{row}-0" / "checkpoint.pt" for row in rows]
    while not all(path.exists() for path in begun):
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.wait()
    patience = time.monotonic() + 30
    while _is_group(process.pid):
        assert time.monotonic() < patience, "somebody goes on training"
        time.sleep(0.1)


def _is_group(number: int) -> bool:
    """Whether there is still a process of this group."""
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True
