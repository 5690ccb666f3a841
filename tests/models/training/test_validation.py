"""Choices are made on validation samples, and the test samples are seen once, at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import make_file  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset  # noqa: E402
from synthprobe_models.evaluation.evaluate import evaluate  # noqa: E402
from synthprobe_models.training import run  # noqa: E402
from synthprobe_models.training.run import choice_loss, finished_run  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402
from tests.models.small_runs import CONFIG, small_file, small_settings  # noqa: E402

QUIET = Machine(progress=False)
SMALL = ["--width", "3", "--down-samplings", "1", "--epochs", "1", "--batch", "4"]


@pytest.fixture
def seen(monkeypatch) -> list[int]:
    """How many samples networks are evaluated on, one after another: that tells the splits."""
    found: list[int] = []

    def note(network, samples, **given):
        found.append(len(samples))
        return evaluate(network, samples, **given)

    monkeypatch.setattr(run, "evaluate", note)
    return found


TRAIN, VALIDATION, TEST = 8, 3, 4


def file_with_validation(path: Path) -> Path:
    sizes = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
    make_file("rde", path, config=CONFIG, **sizes, workers=1, cards=False)
    return path


def test_train_reports_on_validation_and_tests_once_at_the_end(
    tmp_path: Path, seen: list[int], capsys
) -> None:
    on = file_with_validation(tmp_path / "a.h5")
    words = ["train", "unet", "--on", str(on), "--out", str(tmp_path / "run"), *SMALL]
    assert main([*words, "--picture-every", "0"]) == 0
    assert seen == [VALIDATION, TEST, TRAIN]
    said = capsys.readouterr().out
    assert "on 3 validation samples" in said
    assert "on 4 test samples" in said


def test_a_sweep_leaves_the_test_samples_alone(tmp_path: Path, seen: list[int], capsys) -> None:
    on = file_with_validation(tmp_path / "a.h5")
    words = ["sweep", "unet", "--on", str(on), "--out", str(tmp_path / "runs"), *SMALL]
    assert main(words) == 0
    assert set(seen) == {VALIDATION, TRAIN}
    lines = capsys.readouterr().out.splitlines()
    assert all(" validation: loss " in line or "nan" in line for line in lines)
    assert len(lines) == 9


def test_validation_samples_come_from_the_stream_of_the_file(tmp_path: Path) -> None:
    source = open_source(small_file(tmp_path / "a.h5", seed=7))
    assert source.validation is None
    drawn = source.for_choices().validation
    assert isinstance(drawn, StreamDataset)
    make_file(
        "rde", tmp_path / "b.h5", config=CONFIG, seed=7, train=0, validation=3, test=0, cards=False
    )
    stored = ShardDataset(tmp_path / "b.h5", "validation")
    for one, other in zip(drawn.at(range(3)), stored.__getitems__(range(3)), strict=True):
        assert torch.equal(one["image"], other["image"])


def test_what_cannot_be_drawn_is_chosen_by_training_samples(tmp_path: Path, seen) -> None:
    path = tmp_path / "a.h5"
    make_file("centered-square", path, workers=1, cards=False)
    source = open_source(path).for_choices()
    settings = small_settings(
        name="lambda", probe="centered-square", down_samplings=None, epochs=1, samples=8, width=8
    )
    result = finished_run(settings, source, tmp_path / "run", machine=QUIET, picture_every=0)
    assert len(seen) == 1
    assert result["test"] == {}
    assert choice_loss(result) == result["train"]["loss"]


def test_a_run_to_choose_from_is_tested_when_it_is_asked_for(tmp_path: Path, seen) -> None:
    source = open_source(file_with_validation(tmp_path / "a.h5"))
    run_of: dict[str, Any] = {
        "settings": small_settings(),
        "out": tmp_path / "run",
        "machine": QUIET,
    }
    chosen = finished_run(source=source.for_choices(), **run_of, picture_every=0)
    assert choice_loss(chosen) == chosen["validation"]["loss"]
    assert TEST not in seen
    tested = finished_run(source=source, **run_of, picture_every=0)
    assert tested["test"]["loss"] > 0
    assert tested["validation"] == chosen["validation"]  # the weights are the same
    assert finished_run(source=source.for_choices(), **run_of)["test"] == tested["test"]
