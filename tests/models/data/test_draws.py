"""Networks that draw random numbers: the same draws whatever is read, drawn or stopped between."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import make_file  # noqa: E402
from synthprobe_models.data.draws import apart  # noqa: E402
from synthprobe_models.data.feed import Feed, RunStep  # noqa: E402
from synthprobe_models.data.source import Source, open_source  # noqa: E402
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset  # noqa: E402
from synthprobe_models.evaluation.evaluate import evaluate, predictions  # noqa: E402
from synthprobe_models.registry import STRUCTURES, structure  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from synthprobe_models.training.run import evaluate_checkpoint, train_run  # noqa: E402
from synthprobe_models.training.settings import TrainSettings  # noqa: E402
from synthprobe_models.training.trainer import Machine, Trainer  # noqa: E402

STEPS = 3
"""Of an epoch: 10 samples in batches of 4."""
FEW = ("validation", "test")
"""What a stream has a thousand samples of and more, which take longer than the training."""


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Workers are forked beside the threads of torch: more of them than cores take minutes."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("draws") / "cc.h5"
    make_file("color-code", path, train=10, test=5, workers=1, cards=False)
    return path


@pytest.fixture
def noisy(unchanged_registry) -> str:
    """A structure that draws in training and in evaluation."""

    @structure("noisy", dimensions=[1])
    class Noisy(nn.Module):
        def __init__(self, channels: int, shape) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(channels, 1))

        def forward(self, x):
            return self.weight * (x + torch.randn_like(x))

    assert STRUCTURES["noisy"].name == "noisy"
    return "noisy"


def source_of(kind: str, file: Path) -> Source:
    if kind == "file":
        return open_source(file)
    source = open_source("stream", probe="color-code")
    assert source.validation is not None
    few = {name: StreamDataset("color-code", split=name, length=5) for name in FEW}
    return dataclasses.replace(source, **few)


def settings_of(name: str, **options: Any) -> TrainSettings:
    return TrainSettings(
        name=name,
        probe="color-code",
        epochs=2,
        batch=4,
        samples=10,
        optimizer="adamw",
        width=8,
        options=options,
    )


def machine_of(workers: int = 0) -> Machine:
    return Machine(progress=False, checkpoint_every=1, workers=workers)


def weights(folder: Path) -> dict[str, Any]:
    return dict(load_checkpoint(folder / "checkpoint.pt").model)


def assert_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


class StoppedError(Exception):
    """The run was ended before a step."""


@pytest.fixture
def stop_before(monkeypatch) -> Any:
    """Let training do so many steps and no more."""
    step = Trainer._step

    def install(stop: int) -> None:
        done = iter(range(stop))

        def stopped(*arguments):
            if next(done, None) is None:
                raise StoppedError
            return step(*arguments)

        monkeypatch.setattr(Trainer, "_step", stopped)

    return install


DRAWING = [("reformer", {}), ("transformer", {"dropout": 0.3})]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize(("name", "options"), DRAWING)
def test_a_run_that_draws_and_was_stopped_goes_on_bit_for_bit(
    file, tmp_path, monkeypatch, stop_before, name, options, kind, workers
) -> None:
    settings, source = settings_of(name, **options), source_of(kind, file)
    train_run(settings, source, tmp_path / "whole", machine=machine_of())
    for stop in (1, STEPS, STEPS + 2):
        parts = tmp_path / f"parts-{stop}"
        stop_before(stop)
        with pytest.raises(StoppedError):
            train_run(settings, source, parts, machine=machine_of(workers))
        monkeypatch.undo()
        saved = load_checkpoint(parts / "checkpoint.pt")
        assert (saved.epoch, saved.step) == divmod(stop, STEPS)
        train_run(settings, source, parts, machine=machine_of(workers), resume=True)
        assert_equal(weights(tmp_path / "whole"), weights(parts))


def test_a_run_that_draws_and_was_killed_goes_on_bit_for_bit(tmp_path) -> None:
    words = [
        *("reformer", "--on", "stream", "--probe", "color-code", "--samples", "12"),
        *("--data", "positions=32", "colors=3", "min_distance=8"),
        *("--epochs", "12", "--batch", "4", "--width", "8", "--checkpoint-every", "1"),
        *("--picture-every", "5"),
    ]

    def start(out: Path, *others: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "synthprobe_models.cli.main", "train", *words, *others),
                *("--out", str(out)),
            ],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    log = tmp_path / "parts" / "log.csv"
    process = start(tmp_path / "parts")
    try:
        while process.poll() is None and not (log.exists() and log.read_text().count("\n") > 2):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    assert load_checkpoint(tmp_path / "parts" / "checkpoint.pt").epoch < 12
    for out, resume in ((tmp_path / "parts", ["--resume"]), (tmp_path / "whole", [])):
        process = start(out, *resume)
        _, said = process.communicate()
        assert process.returncode == 0, said
    assert_equal(weights(tmp_path / "whole"), weights(tmp_path / "parts"))


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_pictures_do_not_change_the_weights(file, tmp_path, noisy, kind) -> None:
    source = source_of(kind, file)
    for name, options in ((noisy, {}), *DRAWING):
        for every in (0, 1):
            out = tmp_path / f"{name}-{every}"
            settings = settings_of(name, **options)
            train_run(settings, source, out, machine=machine_of(), picture_every=every)
        assert list((tmp_path / f"{name}-1" / "pictures").iterdir())
        assert_equal(weights(tmp_path / f"{name}-0"), weights(tmp_path / f"{name}-1"))


@pytest.mark.parametrize("workers", [0, 2])
def test_reading_leaves_the_draws_of_torch_alone(file, workers) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    for samples in (ShardDataset(file, "train"), StreamDataset("color-code")):
        feed = Feed(samples, samples=10, batch=4, seed=0, workers=workers)
        assert len(list(feed.epoch(RunStep()))) == STEPS
        assert len(list(feed.epoch(RunStep(1, 2)))) == 1
    assert torch.equal(torch.get_rng_state(), before)


class Guess(nn.Module):
    """Takes a random code for the answer, in evaluation, too."""

    def forward(self, x):
        return torch.randn(len(x), 3, x.shape[-1])


class Constant(nn.Module):
    def forward(self, x):
        return x[:, 3:]


def test_evaluation_leaves_the_draws_of_torch_alone_and_repeats_its_own(file) -> None:
    samples = ShardDataset(file, "test")
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = evaluate(Guess(), samples, loss="mse")
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert evaluate(Guess(), samples, loss="mse") == first


def test_predictions_leave_the_draws_of_torch_alone(file) -> None:
    before = torch.get_rng_state()
    found: Iterator[Any] = predictions(
        Constant(), ShardDataset(file, "test"), dataset="color-code", batch=2
    )
    assert len(list(islice(found, 2))) == 2
    assert torch.equal(torch.get_rng_state(), before)


def test_the_figures_of_a_run_that_draws_in_evaluation_are_those_of_its_checkpoint(
    file, tmp_path, noisy
) -> None:
    source = open_source(file)
    result = train_run(settings_of(noisy), source, tmp_path / "run", machine=machine_of())
    torch.manual_seed(99)
    _, scores = evaluate_checkpoint(tmp_path / "run" / "checkpoint.pt", file)
    assert scores.metrics == result["test"]


def test_what_is_drawn_apart_is_the_same_each_time_and_leaves_the_rest_alone() -> None:
    torch.manual_seed(3)
    with apart("cpu"):
        first = torch.rand(2)
    between = torch.rand(2)
    with apart("cpu"):
        assert torch.equal(torch.rand(2), first)
    torch.manual_seed(3)
    assert torch.equal(torch.rand(2), between)
