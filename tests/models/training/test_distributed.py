"""Runs on two processes, started as `torchrun` does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from tests.models.small_runs import small_file  # noqa: E402

NOISY = """
import os, signal, torch
from torch import nn
from synthprobe_models import structure

@structure("noisy", dimensions=[2])
class Noisy(nn.Module):
    calls = 0
    def __init__(self, channels, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))
        self.idle = nn.Parameter(torch.ones(3))
    def forward(self, x):
        if self.training:
            Noisy.calls += 1
            if Noisy.calls == int(os.environ.get("DIES_AT", "0")):
                os.kill(os.getpid(), signal.SIGKILL)
            x = x + 0.1 * torch.randn_like(x)
        if os.environ.get("RANK") == os.environ.get("DIVERGES"):
            x = x * torch.nan
        return self.weight * x
"""
COMMAND = """
import sys
from pathlib import Path
from synthprobe_models.cli.main import main

code = main(sys.argv[1:])
threads = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]  # of Linux only
if any("gloo" in name for name in threads):
    sys.exit(f"still running: {threads}")
sys.exit(code)
"""
"""The command, which fails if a thread of the process group is alive when it is done."""
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
STEP_CALLS = 3
"""A U-Net with one down-sampling has three scales."""


def train(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:  # torchrun leaves its logs there
        program = Path(folder, "program.py")
        program.write_text(COMMAND)
        start = [*TORCHRUN, str(program), "train"]
        return subprocess.run(
            [*start, *map(str, words), "--picture-every", "0"],
            env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": folder, **environment},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return small_file(tmp_path_factory.mktemp("processes") / "rde.h5")


def test_a_killed_run_with_random_draws_and_idle_parameters_goes_on_bit_for_bit(
    file, tmp_path
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(NOISY)
    words = ["noisy", "--load", mine, "--on", file, "--epochs", 3, "--batch", 4, "--width", 2]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    done = train(*words, "--out", whole)
    assert done.returncode == 0, done.stderr
    # 10 samples are 3 steps, and before them a twin is tried: so in the second step of epoch 2, for
    # which the process that saves must have come to the first one.
    killed = train(*words, "--out", parts, DIES_AT=str((1 + 3 + 1) * STEP_CALLS + 1))
    assert killed.returncode != 0
    saved = load_checkpoint(parts / "checkpoint.pt")
    assert (saved.epoch, saved.step) == (1, 0)
    assert set(saved.random) == {"cpu", "cpu-1"}
    done = train(*words, "--out", parts, "--resume")
    assert done.returncode == 0, done.stderr
    one, other = (load_checkpoint(folder / "checkpoint.pt") for folder in (whole, parts))
    for name, value in one.model.items():
        assert torch.equal(value, other.model[name]), name
    for name, state in one.random.items():
        assert torch.equal(state, other.random[name]), name


def test_a_network_whose_other_task_is_idle_is_trained_on_two_processes(file, tmp_path) -> None:
    words = ["two-task-attention", "--on", file, "--epochs", 1, "--batch", 5, "--width", 2]
    options = ["--options", "bins=4", "layers=1", "heads=1"]
    done = train(*words, *options, "--loss", "mse", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "find_unused_parameters" not in done.stderr


def test_a_process_that_fails_ends_the_others_with_a_sentence(file, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(NOISY)
    words = ["noisy", "--load", tmp_path / "mine.py", "--on", file, "--epochs", 1, "--batch", 5]
    done = train(*words, "--width", 2, "--out", tmp_path / "run", DIVERGES="0")
    assert done.returncode != 0
    assert "the loss is nan at step 0" in done.stderr
    assert "]: Traceback" not in done.stderr
    assert "terminate called" not in done.stderr
    assert "still running" not in done.stderr
