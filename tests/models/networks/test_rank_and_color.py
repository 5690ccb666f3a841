"""Training on depth and colour at once, and what is said of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError, open_dataset  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.data.torch_datasets import ShardDataset  # noqa: E402
from synthprobe_models.evaluation.evaluate import evaluate  # noqa: E402
from synthprobe_models.networks.heads import TwoTaskNetwork, TwoTasks  # noqa: E402
from synthprobe_models.training.run import train_run  # noqa: E402
from synthprobe_models.training.trainer import Machine, build_network  # noqa: E402
from tests.models.small_runs import CONFIG, small_file, small_settings  # noqa: E402
from tests.models.test_losses import plain_cross_entropy, plain_silog  # noqa: E402

QUIET = Machine(progress=False)
CLASSES = CONFIG.palette_size + 1


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_file(tmp_path_factory.mktemp("two-task") / "rde.h5")


class Both(TwoTaskNetwork):
    """Depth and scores by fixed weights."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Conv2d(3, CLASSES, 1)

    def both(self, x):
        return TwoTasks(x[:, :1].clamp(min=0.1), self.scores(x))


def plain_classes(file, split: str) -> np.ndarray:
    """The class of every pixel: 0 for the background, k + 1 for row k of the palette."""
    with open_dataset(file) as data:
        rows = data[split].read(range(len(data[split])), ("label", "color"))
    classes = np.zeros(rows["label"].shape, int)
    for n, y, x in np.ndindex(classes.shape):
        if label := rows["label"][n, y, x]:
            classes[n, y, x] = rows["color"][n, label - 1] + 1
    return classes


def test_the_figures_of_both_tasks_are_those_of_plain_numpy(file) -> None:
    torch.manual_seed(0)
    network, samples = Both(), ShardDataset(file, "train")
    found = evaluate(network, samples, loss="two-task", worst=2, order=True)
    parts = evaluate(network, samples, loss="two-task", batch=3)
    assert found.metrics == pytest.approx(parts.metrics, rel=1e-6)
    images, depth = (np.stack([s[k].numpy() for s in iter(samples)]) for k in ("image", "target"))
    with torch.no_grad():
        scores = network.scores(torch.from_numpy(images)).numpy()
    classes = plain_classes(file, "train")
    right = np.mean([np.mean(s.argmax(0) == c) for s, c in zip(scores, classes, strict=True)])
    assert found.metrics["segmentation_accuracy"] == pytest.approx(right, rel=1e-12)
    loss = 0.5 * plain_cross_entropy(scores, classes)
    loss += 0.5 * plain_silog(np.maximum(images[:, :1], 0.1), depth, 0.15)
    assert found.metrics["loss"] == pytest.approx(loss, rel=1e-5)
    alone = evaluate(network, samples, loss="mse")
    for name in ("ord", "delta", "rmse"):
        assert found.metrics[name] == alone.metrics[name]
    assert "segmentation_accuracy" not in alone.metrics


@pytest.mark.parametrize("name", ["deeplab-shared", "deeplab-branched", "two-task-attention"])
def test_a_network_for_two_tasks_learns_both(file, tmp_path, name: str) -> None:
    options = {"bins": 4, "layers": 1, "heads": 1} if name == "two-task-attention" else {}
    settings = small_settings(name=name, width=2, loss="two-task", options=options)
    source = open_source(file)
    before = build_network(settings, source.facts).state_dict()
    result = train_run(settings, source, tmp_path / "run", machine=QUIET, picture_every=1)
    of_two = {"silog_rmse", "segmentation_accuracy", "mean_iou"}
    assert set(result["test"]) == {"loss", "ord", "delta", "rmse"} | of_two
    pixels = np.asarray(result["confusion"]).sum()
    assert pixels == result["test_samples"] * CONFIG.height * CONFIG.width
    after = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)["model"]
    part = "branch.head" if name == "deeplab-shared" else "segmentation"
    learnt = [key for key, value in before.items() if not torch.equal(value, after[key])]
    assert any(key.startswith(part) and key.endswith("weight") for key in learnt)
    assert any(key.startswith("encoder") and key.endswith("weight") for key in learnt)


def test_the_weight_of_the_tasks_is_that_of_training_and_of_evaluation(file, tmp_path) -> None:
    source = open_source(file)
    torch.manual_seed(0)
    network, samples = Both(), ShardDataset(file, "train")
    by_weight = {
        weight: evaluate(network, samples, loss="two-task", loss_options={"weight": weight})
        for weight in (0.0, 0.25, 1.0)
    }
    losses = {weight: found.metrics["loss"] for weight, found in by_weight.items()}
    assert losses[0.25] == pytest.approx(0.75 * losses[0.0] + 0.25 * losses[1.0], rel=1e-12)
    results = []
    for weight in (0.0, 1.0):
        settings = small_settings(
            name="deeplab-branched", width=2, loss="two-task", loss_options={"weight": weight}
        )
        out = tmp_path / str(weight)
        train_run(settings, source, out, machine=QUIET, picture_every=0)
        results.append(torch.load(out / "checkpoint.pt", weights_only=True)["model"])
    start = build_network(settings, source.facts).state_dict()
    for part, untouched in (("depth.head", 0), ("segmentation.head", 1)):
        name = f"{part}.weight"
        decayed = torch.allclose(results[untouched][name], start[name], rtol=1e-2)
        assert decayed, "only the weight decay moves what the loss does not see"
        assert not torch.allclose(results[1 - untouched][name], start[name], rtol=1e-2)


def test_the_classes_of_a_network_are_those_of_the_samples(file, tmp_path) -> None:
    facts = open_source(file).facts
    settings = small_settings(name="deeplab-shared", width=2, loss="two-task")
    x = torch.rand(1, *facts.input_shape)
    assert build_network(settings, facts).eval().both(x).classes.shape[1] == CLASSES


def test_the_command_trains_two_tasks_and_evaluates_them(file, tmp_path, capsys) -> None:
    words = ["train", "deeplab-shared", "--on", str(file), "--loss", "two-task", "--epochs", "1"]
    run = str(tmp_path / "run")
    assert main([*words, "--width", "2", "--out", run]) == 0
    assert "segmentation_accuracy" in capsys.readouterr().out
    assert main(["eval", run, "--on", str(file), "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)["metrics"]
    assert metrics == json.loads((tmp_path / "run" / "result.json").read_text())["test"]


@pytest.mark.parametrize("name", ["unet", "lambda", "adaptive-depth"])
def test_networks_with_one_task_are_refused_in_one_sentence(file, tmp_path, name, capsys) -> None:
    out = str(tmp_path / "run")
    assert main(["train", name, "--on", str(file), "--loss", "two-task", "--out", out]) == 2
    error = capsys.readouterr().err
    assert f"{name} has one task, so it cannot be trained with the loss two-task: take" in error
    assert "deeplab-shared" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_network_with_one_task_has_no_two_task_loss(file) -> None:
    with pytest.raises(SynthprobeError, match="has one task"):
        evaluate(nn.Conv2d(3, 1, 1), ShardDataset(file, "test"), loss="two-task")
