"""The twins probe: its frames, its loss, its batches, and networks evaluated on twins."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, SynthprobeError, TwinsConfig, make_file  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.feed import Feed, RunStep  # noqa: E402
from synthprobe_models.data.torch_datasets import ShardDataset  # noqa: E402
from synthprobe_models.evaluation.evaluate import evaluate  # noqa: E402
from synthprobe_models.losses import rank_cross_entropy  # noqa: E402
from synthprobe_models.networks.single_scale import SingleScale  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402
from synthprobe_models.probes import find_probe  # noqa: E402

CONFIG = TwinsConfig(height=8, width=48, min_distance=18)
REACH_OF_BLOCKS = 9


def small_twins(path: Path, config: TwinsConfig = CONFIG) -> Path:
    make_file("twins", path, train=12, validation=0, test=8, config=config, cards=False)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_twins(tmp_path_factory.mktemp("twins") / "twins.h5")


def test_without_a_structure_the_blocks_see_nine_pixels() -> None:
    torch.manual_seed(0)
    network = SingleScale(shape=(8, 64)).double()
    x = torch.rand(1, 3, 8, 64, dtype=torch.float64, requires_grad=True)
    network(x)[0, 0, 4, 30].backward()
    assert x.grad is not None
    seen = x.grad.abs().sum((0, 1, 2)).nonzero().flatten().tolist()
    assert seen == list(range(30 - REACH_OF_BLOCKS, 30 + REACH_OF_BLOCKS + 1))


def test_the_blocks_alone_are_right_in_exactly_half_beyond_what_they_see(file: Path) -> None:
    torch.manual_seed(1)
    network = SingleScale(shape=(8, 48))
    found = evaluate(network, ShardDataset(file, "test"), loss="mse", order=True)
    assert found.order is not None
    by_distance = found.order.to_dict()["by_distance"]
    assert by_distance["10 to 16"]["share"] == 0.5
    assert found.metrics["far_accuracy"] == 0.5
    assert by_distance["17 to 24"]["of"] > 0


def test_frames_are_chosen_by_name() -> None:
    probe = find_probe("twins")
    assert isinstance(probe.make("lambda"), SingleScale)
    assert isinstance(probe.make("lambda", frame="single-scale"), SingleScale)
    network = probe.make("lambda", frame="unet")
    assert isinstance(network, UNet)
    assert len(network.encoder) == 4  # halved three times
    assert len(probe.make("lambda", frame="unet", down_samplings=1).encoder) == 2
    assert len(probe.make("unet").encoder) == 4
    with pytest.raises(
        SynthprobeError, match="no frame 'u' for twins: take one of single-scale, s"
    ):
        probe.make("lambda", frame="u")
    with pytest.raises(SynthprobeError, match="no frame 'unet' for rde: it has only one"):
        find_probe("rde").make("lambda", frame="unet")
    with pytest.raises(SynthprobeError, match="unet is a whole network: it takes no frame"):
        probe.make("unet", frame="unet")


def test_the_loss_is_the_cross_entropy_over_pixels_of_rectangles() -> None:
    target = torch.tensor([[1 / 3, 2 / 3, 1.0], [1 / 3, 1 / 3, 2 / 3]]).reshape(2, 1, 1, 3)
    logits = torch.tensor([[9.0, 2.0, -1.0], [9.0, 9.0, 0.5]]).reshape(2, 1, 1, 3)
    plain = [
        (math.log1p(math.exp(2.0)) + math.log1p(math.exp(1.0))) / 2,  # said the wrong way round
        math.log1p(math.exp(0.5)),
    ]
    found = rank_cross_entropy(logits + 5 / 6, target)
    assert found.item() == pytest.approx(sum(plain) / 2, abs=1e-6)


def test_twins_stay_side_by_side_in_every_batch(file: Path) -> None:
    feed = Feed(ShardDataset(file, "train"), samples=None, batch=4, seed=3)
    orders = []
    for epoch in (0, 1):
        order = feed._order(epoch)
        assert sorted(order) == list(range(12))
        assert all(b == a + 1 and a % 2 == 0 for a, b in zip(order[::2], order[1::2], strict=True))
        orders.append(order)
    assert orders[0] != orders[1]
    for batch, _ in feed.epoch(RunStep()):
        assert torch.equal(batch["distance"][::2], batch["distance"][1::2])


def test_networks_are_evaluated_on_twins_of_other_lengths_and_over_seeds(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--on", str(file), "--preset", "quick", "--width", "4", "--picture-every", "0"]
    runs = [str(tmp_path / f"run-{seed}") for seed in (0, 1)]
    for seed, run in enumerate(runs):
        assert main(["train", "lambda", *words, "--seed", str(seed), "--out", run]) == 0
    longer = str(small_twins(tmp_path / "long.h5", TwinsConfig(height=8, width=64)))
    capsys.readouterr()
    plot = tmp_path / "plots" / "a.png"
    assert main(["eval", *runs, "--on", longer, "--plot", str(plot)]) == 0
    said = capsys.readouterr().out
    assert said.count("pixels from the difference") == 2
    assert "over 2 checkpoints, with the 95% t-interval of the mean\n" in said
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert main(["eval", *runs, "--on", longer, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [one["order"].keys() for one in facts] == [
        {"by_distance", "near", "far", "reach"} for _ in runs
    ]
    assert main(["eval", *runs, "--on", longer, "--pictures", str(tmp_path / "p.png")]) == 2
    assert "name only one" in capsys.readouterr().err
    tied = str(tmp_path / "tied")
    assert main(["train", "mlp-mixer", *words, "--out", tied]) == 0
    capsys.readouterr()
    assert main(["eval", tied, "--on", longer]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "mlp-mixer" in line
    assert "8 x 48" in line


def test_a_network_of_plain_rde_is_evaluated_on_twins_of_its_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = {"height": 8, "width": 48, "n_rectangles": 2, "n_vis": 2, "n_gap": 2, "n_par": 2}
    path = tmp_path / "rde.h5"
    make_file("rde", path, train=8, test=4, config=RdeConfig(**scene, min_size=0.3), cards=False)
    run = str(tmp_path / "run")
    words = ["train", "unet", "--on", str(path), "--width", "3", "--epochs", "1"]
    assert main([*words, "--picture-every", "0", "--out", run]) == 0
    twins = str(small_twins(tmp_path / "twins.h5"))
    assert main(["eval", run, "--on", twins]) == 0
    assert "pixels from the difference" in capsys.readouterr().out
    more = TwinsConfig(height=24, width=48, n_rectangles=3, min_distance=10)
    other = str(small_twins(tmp_path / "more.h5", more))
    assert main(["eval", run, "--on", other]) == 2
    assert "has 3 rectangles in a band: the network was trained with 2" in capsys.readouterr().err
    assert main(["eval", run, "--on", str(path), "--plot", str(tmp_path / "p.png")]) == 2
    assert "has no twins" in capsys.readouterr().err


def test_any_prediction_is_scored_on_twins_by_the_order_of_the_two(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "blind.py"
    code.write_text("def predict(x):\n    return 100 * x.mean(1, keepdim=True) ** 3\n", "utf-8")
    out = tmp_path / "score"
    assert main(["score", f"{code}:predict", "--on", str(file), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "far_order" in said
    assert "0.5000 to 0.5000" in said
    facts = json.loads((out / "score.json").read_text("utf-8"))
    assert facts["order"]["far"]["share"] == 0.5
    assert "Twins in order" in (out / "score.md").read_text("utf-8")
    aligned = ["score", f"{code}:predict", "--on", str(file), "--align", "scale-shift"]
    assert main(aligned) == 2  # a fit to each picture would tell twins apart
    assert "take --align none" in capsys.readouterr().err
