"""Evaluation, and the checkpoints and files that do not go together."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import (  # noqa: E402
    CenteredSquareConfig,
    ColorCodeConfig,
    SynthprobeError,
    make_file,
)
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.data.torch_datasets import ShardDataset  # noqa: E402
from synthprobe_models.evaluation.evaluate import evaluate  # noqa: E402
from synthprobe_models.evaluation.rde.missed import check_explainable  # noqa: E402
from synthprobe_models.files import plain_json  # noqa: E402
from synthprobe_models.losses import find_loss  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from synthprobe_models.training.restore import restored, tied_to_positions  # noqa: E402
from synthprobe_models.training.run import evaluate_checkpoint, train_run  # noqa: E402
from synthprobe_models.training.settings import TrainSettings  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402
from tests.models.small_runs import CONFIG, small_file, small_settings  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file, and a run on it."""
    path = tmp_path_factory.mktemp("evaluate")
    source = open_source(small_file(path / "rde.h5"))
    train_run(small_settings(), source, path / "run", machine=Machine(progress=False))
    return path


class Red(nn.Module):
    """Takes the red channel for the answer."""

    def forward(self, x):
        return x[:, :1]


def test_figures_do_not_depend_on_the_batches_and_the_worst_come_first(folder) -> None:
    samples = ShardDataset(folder / "rde.h5", "train")
    whole = evaluate(Red(), samples, loss="mse", worst=4, batch=10)
    parts = evaluate(Red(), samples, loss="mse", worst=4, batch=3)
    assert whole == parts
    measure = find_loss("mse")
    losses = {
        i: float(measure(s["image"][None, :1], s["target"][None])) for i, s in enumerate(samples)
    }
    order = sorted(losses, key=lambda i: -losses[i])
    assert [index for index, _ in whole.worst] == order[:4]
    assert whole.metrics["loss"] == pytest.approx(sum(losses.values()) / len(losses))


class Blind(nn.Module):
    """Gives what is not a number wherever it looks into a corner that is not black."""

    def forward(self, x):
        seen = x[:, :, :3, :3].amax((1, 2, 3)) > 0
        return x[:, :1] + torch.where(seen, math.nan, 0)[:, None, None, None]


def test_what_is_not_a_number_is_the_worst_and_no_number_in_json(folder) -> None:
    samples = ShardDataset(folder / "rde.h5", "train")
    found = evaluate(Blind(), samples, loss="mse", worst=len(samples), order=True)
    blind = [math.isnan(loss) for _, loss in found.worst]
    assert 0 < sum(blind) < len(samples)
    assert blind == sorted(blind, reverse=True)
    facts = {"metrics": found.metrics, "worst": found.worst}
    read = json.loads(plain_json(facts, indent=2), parse_constant=pytest.fail)
    assert read["metrics"]["loss"] is None
    assert [loss is None for _, loss in read["worst"]] == blind


def test_a_limit_counts_samples(folder) -> None:
    samples = ShardDataset(folder / "rde.h5", "train")
    assert evaluate(Red(), samples, loss="mse", limit=7, batch=3).samples == 7


def test_a_checkpoint_is_evaluated_as_its_run_was(folder, tmp_path, capsys) -> None:
    result = json.loads((folder / "run" / "result.json").read_text())
    command = ["eval", str(folder / "run"), "--on", str(folder / "rde.h5"), "--worst", "2"]
    picture = tmp_path / "worst.png"
    assert main([*command, "--json", "--pictures", str(picture)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["metrics"] == result["test"]
    assert len(facts["worst"]) == 2
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert facts["lower_is_better"] == dict.fromkeys(facts["metrics"], True)
    assert result["lower_is_better"] == {**facts["lower_is_better"], "gap": True}
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "unet after 2 epochs, 5 samples" in out
    (line,) = [line for line in out.splitlines() if line.startswith("  delta ")]
    assert line.endswith(
        "lower is better: share of pixels that are off by a factor of more than 1.25"
    )


def test_the_worst_samples_are_explained_in_figures_of_their_own(folder, tmp_path, capsys) -> None:
    result = json.loads((folder / "run" / "result.json").read_text())
    command = ["eval", str(folder / "run"), "--on", str(folder / "rde.h5"), "--worst", "2"]
    figures = tmp_path / "new" / "figures"
    assert main([*command, "--json", "--explain", str(figures)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["order"] == result["order"]
    explained = facts["explained"]
    assert [sample["index"] for sample in explained] == [row["index"] for row in facts["worst"]]
    assert sorted(figures.iterdir()) == sorted(Path(sample["figure"]) for sample in explained)
    for sample in explained:
        figure = Path(sample["figure"])
        assert figure.name == f"test-{sample['index']}.png"
        assert figure.read_bytes().startswith(b"\x89PNG")
    assert main([*command, "--explain", str(figures)]) == 0
    said = capsys.readouterr().out
    order = facts["order"]["pairs"]
    assert re.search(rf"^all +{order['share']:.1%} +{order['of']}$", said, re.MULTILINE)
    for sample in explained:
        assert f"{sample['index']}: {len(sample['missed'])} of {sample['pairs']} pairs" in said
        assert all(pair["sentence"] in said for pair in sample["missed"])


def test_what_cannot_be_explained_gets_one_sentence_and_no_file(folder, tmp_path, capsys) -> None:
    config = CenteredSquareConfig(height=8, width=8, square=3)
    make_file("centered-square", tmp_path / "cs.h5", config=config, cards=False)
    (tmp_path / "taken").write_text("kept")
    run, rde = str(folder / "run"), str(folder / "rde.h5")
    out = tmp_path / "figures"
    with pytest.raises(SynthprobeError, match="only samples of rde can be explained, not those of"):
        check_explainable(ShardDataset(tmp_path / "cs.h5", "test"), out)
    for words, sentence in (
        ([run, "--on", rde, "--explain", str(tmp_path / "taken")], "is a file: name a folder"),
        ([run, "--on", rde, "--explain", str(tmp_path / "taken" / "in")], "could not be made"),
        ([run, "--on", rde, "--worst", "0", "--explain", str(out)], "take --worst 1 or more"),
        ([run, "--on", rde, "--worst", "0", "--pictures", str(out)], "take --worst 1 or more"),
        ([run, "--on", rde, "--pictures", str(tmp_path / "taken" / "x.png")], "could not be made"),
        ([run, "--on", rde, "--device", "cpu:3"], "there is no device 'cpu:3' here"),
    ):
        assert main(["eval", *words]) == 2, words
        error = capsys.readouterr().err
        assert sentence in error
        assert error.count("\n") == 1
    assert not out.exists()
    assert (tmp_path / "taken").read_text() == "kept"


def test_a_network_is_evaluated_beyond_its_settings(folder, tmp_path, capsys) -> None:
    larger = dataclasses.replace(CONFIG, height=24, width=32)
    more = dataclasses.replace(CONFIG, n_rectangles=5, height=32, width=32)
    make_file("rde", tmp_path / "large.h5", config=larger, train=1, test=3, cards=False)
    make_file("rde", tmp_path / "more.h5", config=more, train=1, test=3, cards=False)
    checkpoint = folder / "run" / "checkpoint.pt"
    _, scores = evaluate_checkpoint(checkpoint, tmp_path / "large.h5")
    assert (scores.samples, scores.aligned) == (3, None)
    saved, scores = evaluate_checkpoint(checkpoint, tmp_path / "more.h5")
    assert "has up to 5 rectangles: the network was trained with 2" in str(scores.aligned)
    # Against the plain formula: each picture with the scale and the shift of least squares.
    network = restored(saved).eval()
    errors = []
    for sample in (ShardDataset(tmp_path / "more.h5", "test")[i] for i in range(3)):
        with torch.no_grad():
            p = network(sample["image"][None]).double().flatten().numpy()
        y = sample["target"].double().flatten().numpy()
        fit, *_ = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), y, rcond=None)
        errors.append(np.sqrt(np.mean((fit[0] * p + fit[1] - y) ** 2)))
    assert scores.metrics["rmse"] == pytest.approx(np.mean(errors), rel=1e-5)
    assert main(["eval", str(folder / "run"), "--on", str(tmp_path / "more.h5")]) == 0
    assert "aligned by a scale and a shift for each picture, as the file" in capsys.readouterr().out
    words = ["eval", str(folder / "run"), "--on", str(tmp_path / "more.h5"), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["aligned"] == scores.aligned


def test_a_network_that_is_tied_to_its_positions_says_so(tmp_path) -> None:
    config = ColorCodeConfig(positions=16)
    longer = dataclasses.replace(config, positions=24)
    make_file("color-code", tmp_path / "a.h5", config=config, train=8, test=4, cards=False)
    make_file("color-code", tmp_path / "b.h5", config=longer, train=8, test=4, cards=False)
    for name, fits in (("mlp-mixer", False), ("transformer", True)):
        settings = TrainSettings(
            name=name, probe="color-code", epochs=1, batch=4, width=16, optimizer="adamw"
        )
        train_run(settings, open_source(tmp_path / "a.h5"), tmp_path / name)
        checkpoint = tmp_path / name / "checkpoint.pt"
        if fits:
            assert evaluate_checkpoint(checkpoint, tmp_path / "b.h5")[1].samples == 4
            continue
        with pytest.raises(SynthprobeError, match="24 positions: mlp-mixer is tied to the 16"):
            evaluate_checkpoint(checkpoint, tmp_path / "b.h5")
        saved, samples = load_checkpoint(checkpoint), ShardDataset(tmp_path / "b.h5", "test")
        with (
            pytest.raises(SynthprobeError, match="is tied to"),
            tied_to_positions(saved, samples, "b.h5"),
        ):
            raise AssertionError("as networks of timm say it")


def test_files_that_do_not_fit_the_checkpoint_get_one_sentence(folder, tmp_path, capsys) -> None:
    config = CenteredSquareConfig(height=8, width=8, square=3)
    make_file("centered-square", tmp_path / "cs.h5", config=config, cards=False)
    checkpoint = folder / "run" / "checkpoint.pt"
    with pytest.raises(SynthprobeError, match="is a centered-square dataset: the network was"):
        evaluate_checkpoint(checkpoint, tmp_path / "cs.h5")
    for words in (
        ["eval", str(tmp_path / "none.pt"), "--on", str(folder / "rde.h5")],
        ["eval", str(folder / "run" / "log.csv"), "--on", str(folder / "rde.h5")],
        ["train", "unet", "--on", str(tmp_path / "cs.h5")],
        ["train", "unet", "--on", str(tmp_path / "none.h5")],
        ["train", "no-such", "--on", str(folder / "rde.h5")],
        ["train", "lambda", "--on", "stream"],
        ["train", "lambda", "--on", "stream", "--probe", "centered-square"],
        ["train", "unet", "--on", "stream"],
        ["train", "unet", "--on", str(folder / "rde.h5"), "--rate", "-1"],
        ["train", "unet", "--on", str(folder / "rde.h5"), "--loss", "none"],
        ["train", "unet", "--on", str(folder / "rde.h5"), "--optimizer", "none"],
        ["train", "unet", "--on", str(folder / "rde.h5"), "--device", "tpu"],
        ["train", "lambda", "--on", str(folder / "rde.h5"), "--options", "heads"],
        ["train", "lambda", "--on", str(folder / "rde.h5"), "--options", "far=1"],
    ):
        where = ["--out", str(tmp_path / "run")] if words[0] == "train" else []
        assert main([*words, *where]) == 2, words
        error = capsys.readouterr().err
        assert error.startswith("synthprobe-probe: ")
        assert error.count("\n") == 1, error
    assert not (tmp_path / "run").exists()
