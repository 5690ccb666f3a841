"""Training runs: the same again, from anywhere, and stopped in one sentence."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402
from synthprobe_models.registry import NETWORKS, STRUCTURES, Network, structure  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from synthprobe_models.training.run import finished_run, train_run  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import DivergedError, Machine, Trainer, build_network  # noqa: E402
from tests.models.small_runs import CONFIG, small_file, small_settings  # noqa: E402

QUIET = Machine(progress=False)
CAREFUL = Machine(progress=False, checkpoint_every=1)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return open_source(small_file(tmp_path_factory.mktemp("train") / "rde.h5"))


def weights(folder) -> dict:
    return dict(load_checkpoint(RunFolder(folder).checkpoint).model)


def assert_equal(one: dict, other: dict) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def test_a_run_leaves_all_that_is_needed_to_know_it(source, tmp_path) -> None:
    result = train_run(small_settings(), source, tmp_path / "run", machine=QUIET, command="c")
    folder = RunFolder(tmp_path / "run")
    assert json.loads(folder.settings.read_text()) == small_settings().to_dict()
    assert folder.read_result() == json.loads(json.dumps(result))
    assert set(result["test"]) == {"loss", "ord", "delta", "rmse"}
    assert (result["test_samples"], result["train_samples"]) == (5, 5)
    assert result["data"]["content"] == source.facts.content
    with open(folder.log_file, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["epoch"], row["step"]) for row in rows] == [("1", "3"), ("2", "6")]
    assert [path.name for path in folder.pictures.iterdir()] == ["epoch-00002.png"]


def test_training_makes_the_loss_small(source, tmp_path) -> None:
    settings = small_settings(epochs=30, rate=1e-2)
    train_run(settings, source, tmp_path / "run", machine=QUIET, picture_every=0)
    rows = RunFolder(tmp_path / "run").read_log()
    assert float(rows[-1]["loss"]) < 0.2 * float(rows[0]["loss"])


def test_the_same_seed_gives_the_same_weights_and_another_one_others(source, tmp_path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train_run(small_settings(seed=seed), source, tmp_path / name, machine=QUIET)
    assert_equal(weights(tmp_path / "a"), weights(tmp_path / "b"))
    with pytest.raises(AssertionError):
        assert_equal(weights(tmp_path / "a"), weights(tmp_path / "c"))


@pytest.mark.parametrize("name", ["unet", "global-context"])
def test_the_bias_of_the_head_begins_as_it_is_set_and_all_else_as_it_was(source, name) -> None:
    plain, biased = (
        build_network(small_settings(name=name, head_bias=bias), source.facts).state_dict()
        for bias in (None, 0.25)
    )
    assert biased.pop("head.bias").tolist() == [0.25]
    assert plain.pop("head.bias").tolist() != [0.25]
    assert_equal(plain, biased)


def test_a_network_that_takes_no_structure_in_is_built_without_a_bias_of_its_head(source) -> None:
    settings = small_settings(name="deeplab-shared", width=4, head_bias=0.25)
    other = small_settings(name="deeplab-shared", width=4)
    assert_equal(
        build_network(settings, source.facts).state_dict(),
        build_network(other, source.facts).state_dict(),
    )


@pytest.mark.parametrize("optimizer", ["adamw", "paper"])
@pytest.mark.parametrize("stop", [1, 3, 4])
def test_a_run_that_was_stopped_goes_on_bit_for_bit(
    source, tmp_path, monkeypatch, stop: int, optimizer: str
) -> None:
    settings = small_settings(optimizer=optimizer)
    train_run(settings, source, tmp_path / "whole", machine=CAREFUL)
    step = Trainer._step
    done = iter(range(stop))

    def stopped(*arguments):
        if next(done, None) is None:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(Trainer, "_step", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_run(settings, source, tmp_path / "parts", machine=CAREFUL)
    monkeypatch.undo()
    saved = load_checkpoint(tmp_path / "parts" / "checkpoint.pt")
    assert (saved.epoch, saved.step) == divmod(stop, 3)
    train_run(settings, source, tmp_path / "parts", machine=CAREFUL, resume=True)
    whole, parts = (
        load_checkpoint(tmp_path / name / "checkpoint.pt") for name in ("whole", "parts")
    )
    assert_equal(dict(whole.model), dict(parts.model))
    for one, other in zip(
        whole.optimizer["state"].values(), parts.optimizer["state"].values(), strict=True
    ):
        for name, value in one.items():
            assert torch.equal(torch.as_tensor(value), torch.as_tensor(other[name]))
    logs = [
        [row["loss"] for row in RunFolder(tmp_path / name).read_log()]
        for name in ("whole", "parts")
    ]
    assert logs[0] == logs[1]


def test_a_run_that_was_killed_goes_on_bit_for_bit(tmp_path, start) -> None:
    file = small_file(tmp_path / "rde.h5")
    command = [
        *(sys.executable, "-m", "synthprobe_models.cli.main", "train", "unet", "--on", str(file)),
        *("--out", str(tmp_path / "parts"), "--epochs", "40", "--batch", "5", "--width", "3"),
        *("--down-samplings", "1", "--checkpoint-every", "1", "--picture-every", "0"),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = start(command, env=environment, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "parts" / "checkpoint.pt"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    begun = load_checkpoint(checkpoint)
    assert begun.epoch < 40
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in the process that was killed: sums are rounded alike
    try:
        for name in ("parts", "whole"):
            resume = name == "parts"
            source = open_source(file)
            train_run(begun.settings, source, tmp_path / name, machine=QUIET, resume=resume)
    finally:
        torch.set_num_threads(threads)
    assert_equal(weights(tmp_path / "whole"), weights(tmp_path / "parts"))


def test_other_settings_or_other_data_are_not_resumed(source, tmp_path) -> None:
    train_run(small_settings(), source, tmp_path / "run", machine=QUIET)
    other = open_source(small_file(tmp_path / "other.h5", seed=1))
    for settings, samples in ((small_settings(rate=0.5), source), (small_settings(), other)):
        with pytest.raises(SynthprobeError, match="begun with other settings or on other data"):
            train_run(settings, samples, tmp_path / "run", machine=QUIET, resume=True)


@pytest.mark.parametrize("left", ["checkpoint.pt", None])
def test_a_resume_that_is_refused_changes_nothing(source, tmp_path, left) -> None:
    out = tmp_path / "run"
    train_run(small_settings(), source, out, machine=QUIET, picture_every=0)
    if left is None:  # killed before the first checkpoint
        (out / "checkpoint.pt").unlink()
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    with pytest.raises(SynthprobeError, match="begun with other settings"):
        train_run(small_settings(rate=0.5), source, out, machine=QUIET, resume=True)
    if left is not None:
        (out / left).write_bytes(b"damaged")
        before[left] = b"damaged"
        with pytest.raises(SynthprobeError, match="is not a checkpoint of synthprobe"):
            train_run(small_settings(rate=0.5), source, out, machine=QUIET, resume=True)
    assert before == {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


@pytest.mark.parametrize("what", ["model", "optimizer"])
def test_a_checkpoint_of_a_structure_that_was_changed_is_refused(
    source, tmp_path, what: str
) -> None:
    train_run(small_settings(), source, tmp_path / "run", machine=QUIET, picture_every=0)
    path = tmp_path / "run" / "checkpoint.pt"
    saved = load_checkpoint(path)
    changed = {"model": {}, "optimizer": {"state": {}, "param_groups": []}}[what]
    dataclasses.replace(saved, **{what: changed}).save(path)
    with pytest.raises(SynthprobeError, match="the checkpoint does not fit unet as it is built"):
        train_run(small_settings(), source, tmp_path / "run", machine=QUIET, resume=True)


def test_a_folder_with_a_run_is_refused_and_untouched(source, tmp_path) -> None:
    train_run(small_settings(), source, tmp_path / "run", machine=QUIET)
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()}
    with pytest.raises(SynthprobeError, match="has a run already: take --resume"):
        train_run(small_settings(), source, tmp_path / "run", machine=QUIET)
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()}
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(SynthprobeError, match="is not empty and no run"):
        train_run(small_settings(), source, tmp_path / "full", machine=QUIET, force=True)


def test_a_complete_run_is_not_trained_again(source, tmp_path, monkeypatch) -> None:
    first = finished_run(small_settings(), source, tmp_path / "run", machine=QUIET)
    monkeypatch.setattr(Trainer, "run", None)
    again = finished_run(small_settings(), source, tmp_path / "run", machine=QUIET)
    assert again["test"] == first["test"]


def test_a_loss_that_is_no_number_stops_the_run(source, tmp_path) -> None:
    settings = small_settings(optimizer="sgd", rate=100.0, epochs=30)
    with pytest.raises(DivergedError, match=r"the loss is (nan|inf) at step \d+, at a learning ra"):
        train_run(settings, source, tmp_path / "run", machine=QUIET)


def test_a_share_of_the_positions_is_refused_where_it_makes_no_sense(source, tmp_path) -> None:
    with pytest.raises(SynthprobeError, match="unet cannot be trained on a share of the positions"):
        train_run(small_settings(queries=0.5), source, tmp_path / "run", machine=QUIET)


@pytest.mark.parametrize("where", ["__init__", "forward"])
def test_what_goes_wrong_in_a_structure_is_said(source, tmp_path, monkeypatch, where: str) -> None:
    class Wrong(torch.nn.Module):
        def __init__(self, channels: int, shape) -> None:
            super().__init__()
            if where == "__init__":
                raise ValueError("no such thing")

        def forward(self, x):
            raise ValueError("no such thing")

    structure("wrong")(Wrong)
    entry = STRUCTURES.pop("wrong")
    monkeypatch.setitem(STRUCTURES, "wrong", entry)  # for this test only
    with pytest.raises(SynthprobeError, match=r"wrong failed: ValueError \(no such thing\)"):
        train_run(small_settings(name="wrong"), source, tmp_path / "run", machine=QUIET)


def test_running_out_of_memory_is_said(source, tmp_path, monkeypatch) -> None:
    def allocate(self, x):
        return torch.empty(2**60)

    monkeypatch.setattr(UNet, "forward", allocate)
    with pytest.raises(SynthprobeError, match="not enough memory: try a smaller --batch"):
        train_run(small_settings(), source, tmp_path / "run", machine=QUIET)


def test_a_stream_can_be_trained_on(tmp_path) -> None:
    source = open_source("stream", probe="rde", config=CONFIG)
    result = train_run(small_settings(samples=9), source, tmp_path / "run", machine=QUIET)
    assert result["data"]["content"] == "stream with seed 0"
    assert result["test_samples"] == 2_000
    assert result["train_samples"] == 9


def test_a_stream_is_of_the_one_probe_that_a_network_fits(tmp_path, capsys) -> None:
    words = [
        "train",
        "adaptive-depth",
        "--on",
        "stream",
        "--data",
        "height=16",
        "width=16",
        "n_rectangles=2",
    ]
    words += ["n_vis=2", "n_gap=2", "n_par=2", "--width", "3", "--batch", "2", "--samples", "2"]
    assert (
        main([*words, "--epochs", "1", "--picture-every", "0", "--out", str(tmp_path / "r")]) == 0
    )
    assert load_checkpoint(tmp_path / "r" / "checkpoint.pt").data.dataset == "rde"


@pytest.mark.parametrize(
    ("probe", "sentence"),
    [
        (
            None,
            "a stream needs the name of a dataset, --probe: take one of rde, color-code, tw",
        ),
        ("centered-square", "centered-square is finite, so there is no stream of it"),
    ],
)
def test_a_stream_that_cannot_be_gets_one_sentence(tmp_path, capsys, probe, sentence) -> None:
    given = [] if probe is None else ["--probe", probe]
    out = ["--out", str(tmp_path / "run")]
    assert main(["train", "lambda", "--on", "stream", *given, *out]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="no C++ compiler")
def test_a_compiled_network_is_trained_as_it_is(source, tmp_path, monkeypatch) -> None:
    # One with little to compile, which takes long.
    small = Network(
        name="small",
        title="Small",
        source="",
        build=lambda inputs, outputs, shape, width: torch.nn.Conv2d(inputs, outputs, 1),
        probes=("rde",),
    )
    monkeypatch.setitem(NETWORKS, "small", small)
    settings = small_settings(name="small", epochs=1, batch=5, optimizer="sgd", rate=0.1)
    for name, compiled in (("plain", False), ("compiled", True)):
        machine = Machine(progress=False, compile=compiled)
        train_run(settings, source, tmp_path / name, machine=machine, picture_every=0)
    plain, fast = weights(tmp_path / "plain"), weights(tmp_path / "compiled")
    assert plain.keys() == fast.keys()
    for name, value in plain.items():
        assert torch.allclose(value, fast[name], rtol=1e-3, atol=1e-5), name


def test_bfloat16_trains(source, tmp_path) -> None:
    settings = small_settings(precision="bfloat16", epochs=10, rate=1e-2)
    train_run(settings, source, tmp_path / "run", machine=QUIET, picture_every=0)
    rows = RunFolder(tmp_path / "run").read_log()
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])


def test_two_processes_train_the_network_of_one(tmp_path) -> None:
    file = small_file(tmp_path / "rde.h5")  # 10 samples in batches of 4: shares of 2, and of 1
    words = [
        *("-m", "synthprobe_models.cli.main", "train", "unet", "--on", str(file), "--epochs", "3"),
        *("--batch", "4", "--width", "3", "--down-samplings", "1", "--optimizer", "sgd"),
        *("--rate", "0.1", "--loss", "mse", "--picture-every", "0"),
    ]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for start, name in (([sys.executable], "one"), (torchrun, "two")):
        done = subprocess.run(
            [*start, *words, "--out", str(tmp_path / name)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, value in one.items():
        assert torch.allclose(value, two[name], rtol=1e-4, atol=1e-6), name
