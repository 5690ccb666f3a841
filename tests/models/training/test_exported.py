"""Exported weights: the same predictions, a true card, and nothing that strangers could do."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import re
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import yaml  # noqa: E402

from synthprobe_data import SynthprobeError, open_dataset  # noqa: E402
from synthprobe_models import ShardDataset, export_run, load_exported  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from synthprobe_models.training.restore import restored  # noqa: E402
from synthprobe_models.training.run import evaluate_checkpoint, train_run  # noqa: E402
from synthprobe_models.training.trainer import Machine, build_network  # noqa: E402
from tests.models.small_runs import small_file, small_settings  # noqa: E402

QUIET = Machine(progress=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A file, a run on it, and what was exported from that."""
    path = tmp_path_factory.mktemp("exported")
    file = small_file(path / "rde.h5")
    words = ["train", "lambda-pe", "--on", str(file), "--out", str(path / "run"), "--epochs", "1"]
    words += ["--width", "4", "--down-samplings", "1", "--picture-every", "0", "--options"]
    assert main([*words, "heads=2", "keys=2", "--export", "safetensors"]) == 0
    return path


@pytest.fixture
def copy(home, tmp_path):
    return Path(shutil.copytree(home / "run" / "safetensors", tmp_path / "copy"))


def refused(path: Path, file: Path, capsys) -> str:
    """The one sentence that a folder is refused with."""
    capsys.readouterr()
    assert main(["eval", str(path), "--on", str(file)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def changed(folder: Path, **others: object) -> None:
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **others}))


def put_weights(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    changed(folder, weights_sha256=hashlib.sha256(content).hexdigest())


NETWORKS = {
    "unet": {},
    "reformer": {"options": {"heads": 2, "bucket": 4, "rounds": 1}},  # draws, shares weights
    "resnet-18": {"width": 4, "down_samplings": None},  # batch statistics and counters
}


@pytest.mark.parametrize("name", NETWORKS)
def test_it_predicts_what_the_run_predicts(home, tmp_path, name) -> None:
    settings = small_settings(name=name, epochs=1, **{"width": 4, **NETWORKS[name]})
    train_run(settings, open_source(home / "rde.h5"), tmp_path / "run", machine=QUIET)
    assert export_run(tmp_path / "run", tmp_path / "out") == tmp_path / "out"
    inputs = ShardDataset(home / "rde.h5", "test").all()["image"]
    before = restored(load_checkpoint(tmp_path / "run" / "checkpoint.pt")).eval()
    after = load_exported(tmp_path / "out")
    assert not after.training
    found = []
    source = open_source(home / "rde.h5")
    untrained = build_network(settings, source.facts).eval()
    for network in (before, after, untrained):
        torch.manual_seed(1)
        with torch.no_grad():
            found.append(network(inputs))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_eval_and_score_take_it_as_they_take_the_run(home, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    exported = home / "run" / "safetensors"
    for path in (home / "run", exported, exported / "model.safetensors"):
        assert main(["eval", str(path), "--on", str(home / "rde.h5"), "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert Path(facts.pop("checkpoint")).name in ("checkpoint.pt", "model.safetensors")
        found.append(facts)
    assert found[0] == found[1] == found[2]
    result = json.loads((home / "run" / "result.json").read_text())
    assert found[0]["metrics"] == pytest.approx(result["test"])
    scores = []
    for path in (home / "run", exported):
        assert main(["score", str(path), "--on", str(home / "rde.h5"), "--json"]) == 0
        scores.append(json.loads(capsys.readouterr().out)["metrics"])
    assert scores[0] == scores[1]


def test_nothing_is_unpickled(home, monkeypatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("unpickled")

    for where, name in (
        (torch, "load"),
        (pickle, "loads"),
        (pickle, "load"),
        (pickle, "Unpickler"),
    ):
        monkeypatch.setattr(where, name, never)
    load_exported(home / "run" / "safetensors")


def test_the_card_says_what_it_is_and_its_python_and_its_settings_work(
    home, tmp_path, monkeypatch, capsys
) -> None:
    exported = home / "run" / "safetensors"
    card = (exported / "README.md").read_text("utf-8")
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["license"] == "mit"
    assert front["tags"] == ["synthprobe", "rde", "lambda-pe"]
    with open_dataset(home / "rde.h5") as data:
        assert data.content_digest in card
    result = json.loads((home / "run" / "result.json").read_text())
    for name, value in result["test"].items():
        assert f"| {name} | {value:.6g} | {result['train'][name]:.6g} |" in card
    assert f"{result['parameters']:,} parameters" in card
    assert "`height = 16`, `width = 16`" in card
    (snippet,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    how_to = (Path(__file__).parents[3] / "docs" / "how-to" / "train.md").read_text("utf-8")
    (of_docs,) = re.findall(r"```python\n(.*?)```", how_to, re.DOTALL)
    for text in (snippet, of_docs.replace("for-others", "FOLDER")):
        names: dict[str, Any] = {}
        text = re.sub(r"[\w-]+\.h5", str(home / "rde.h5"), text.replace("FOLDER", str(exported)))
        exec(text, names)
        assert names["prediction"].shape == (1, 1, 16, 16)
    (toml,) = re.findall(r"```toml\n(.*?)```", card, re.DOTALL)
    (tmp_path / "this.toml").write_text(toml)
    capsys.readouterr()
    words = ["train", "--config", str(tmp_path / "this.toml"), "--on", str(home / "rde.h5")]
    assert main([*words, "--out", str(tmp_path / "again"), "--picture-every", "0"]) == 0
    again = json.loads((tmp_path / "again" / "result.json").read_text())
    assert again["settings"] == result["settings"]
    assert again["test"] == pytest.approx(result["test"])


OWN = """
from torch import nn
from synthprobe_models import structure


@structure("of-mine", title="Of | mine `x`")
class OfMine(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        self.join = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return self.join(x)
"""


@pytest.mark.usefixtures("unchanged_registry")
def test_of_a_structure_of_ones_own_it_says_what_is_needed_and_no_folder_of_the_machine(
    home, tmp_path, capsys
) -> None:
    from synthprobe_models.registry import STRUCTURES

    mine = tmp_path / "mine.py"
    mine.write_text(OWN)
    words = ["train", "of-mine", "--on", str(home / "rde.h5"), "--out", str(tmp_path / "run")]
    words += ["--width", "4", "--down-samplings", "1", "--epochs", "1", "--picture-every", "0"]
    assert main([*words, "--load", str(mine), "--export", "safetensors"]) == 0
    exported = tmp_path / "run" / "safetensors"
    for path in exported.iterdir():
        assert str(tmp_path).encode() not in path.read_bytes()
    card = (exported / "README.md").read_text("utf-8")
    assert "Of _ mine _x_" in card
    assert "--load mine.py" in card
    assert hashlib.sha256(mine.read_bytes()).hexdigest() in card
    del STRUCTURES["of-mine"]
    said = refused(exported, home / "rde.h5", capsys)
    assert "'of-mine' was loaded from 'mine.py'" in said
    words = ["eval", str(exported), "--on", str(home / "rde.h5")]
    assert main([*words, "--load", str(mine)]) == 0


def test_a_run_that_is_not_complete_has_a_card_without_figures(home, tmp_path) -> None:
    (tmp_path / "run").mkdir()
    shutil.copy(home / "run" / "checkpoint.pt", tmp_path / "run")
    export_run(tmp_path / "run", tmp_path / "out", license_name="cc-by-4.0")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "Nothing is known: the run is not complete." in card
    assert "license: cc-by-4.0\n" in card
    assert "| loss |" not in card
    facts = json.loads((home / "run" / "result.json").read_text())
    facts["settings"]["seed"] = 5  # of another run
    (tmp_path / "run" / "result.json").write_text(json.dumps(facts))
    export_run(tmp_path / "run", tmp_path / "out", force=True)
    assert "Nothing is known" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_what_is_there_is_left_as_it_is(home, tmp_path, capsys) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    words = ["export", str(home / "run"), "--out"]
    for name, options, sentence in (
        ("full", ["--force"], "is not empty and no export: take another folder."),
        ("file", [], "is a file: name a folder."),
        ("new", ["--license", "my own"], "license is 'my own': it must be an identifier"),
    ):
        assert main([*words, str(tmp_path / name), *options]) == 2
        assert sentence in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main([*words, str(tmp_path / "new"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts["files"]) == {"README.md", "config.json", "model.safetensors"}
    assert main([*words, str(tmp_path / "new")]) == 2
    assert "exists and is left as it is: --force replaces it." in capsys.readouterr().err
    assert main([*words, str(tmp_path / "new"), "--force"]) == 0
    capsys.readouterr()
    assert main(["export", str(tmp_path / "new"), "--out", str(tmp_path / "twice")]) == 2
    assert "is exported already" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "none"), "--out", str(tmp_path / "twice")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_without_safetensors_it_says_what_to_install(home, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    said = refused(home / "run" / "safetensors", home / "rde.h5", capsys)
    assert said.endswith("pip install safetensors.\n")
    assert main(["export", str(home / "run"), "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


CONFIGS = {
    "deep": "[" * 100_000 + "]" * 100_000,
    "a list": "[]",
    "no JSON": "{",
    "nothing": "{}",
    "large": json.dumps({"synthprobe_export": 1, "more": "x" * 1_000_000}),
    "no text": "\udce4",
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_that_is_none_is_refused(home, copy, name, capsys) -> None:
    (copy / "config.json").write_bytes(CONFIGS[name].encode("utf-8", "surrogateescape"))
    # As a folder it is a run without a checkpoint; as a file it is weights without a config.
    assert "there is no file" in refused(copy, home / "rde.h5", capsys)
    said = refused(copy / "model.safetensors", home / "rde.h5", capsys)
    assert "has no config.json of synthprobe, or it is damaged." in said


CHANGES = {
    "another version": {"synthprobe_export": 2},
    "version is true": {"synthprobe_export": "1"},
    "settings are a list": {"settings": []},
    "an odd setting": {"settings": {"name": "unet", "probe": "rde", "colour": 3}},
    "no name": {"settings": {"probe": "rde"}},
    "a network that is none": {"settings": {"name": "no-such", "probe": "rde"}},
    "another network": {"settings": {"name": "unet", "probe": "rde", "width": 4}},
    "no such probe": {"settings": {"name": "unet", "probe": "no-such"}},
    "no such dataset": {"data": {"dataset": []}},
    "epoch": {"epoch": -1},
    "a lifetime": {"seconds": 1e300},
    "made by a list": {"made_by": []},
    "hash is a number": {"weights_sha256": 0},
    "another hash": {"weights_sha256": "0" * 64},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_config_that_says_something_else_is_refused(home, copy, name, capsys) -> None:
    changed(copy, **CHANGES[name])
    refused(copy, home / "rde.h5", capsys)


def test_a_network_that_would_take_all_memory_is_not_built(home, copy, monkeypatch, capsys) -> None:
    settings = json.loads((copy / "config.json").read_text())["settings"]
    changed(copy, settings={**settings, "width": 4096})
    built = []
    create = torch.nn.Conv2d.__init__

    def noted(layer, *args, **kwargs) -> None:
        create(layer, *args, **kwargs)
        built.append(layer.weight.device.type)

    monkeypatch.setattr(torch.nn.Conv2d, "__init__", noted)
    assert "does not fit" in refused(copy, home / "rde.h5", capsys)
    assert set(built) == {"meta"}


def header(facts: object, rest: bytes = b"") -> bytes:
    text = json.dumps(facts).encode()
    return struct.pack("<Q", len(text)) + text + rest


TENSOR = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
WEIGHTS = {
    "nothing": b"",
    "a pickle": pickle.dumps({"a": 1}),
    "a long header": struct.pack("<Q", 2**62) + b"{}",
    "a header of no JSON": struct.pack("<Q", 2) + b"[[",
    "a deep header": struct.pack("<Q", 200_000) + b"[" * 100_000 + b"]" * 100_000,
    "no tensors": header({}),
    "larger than stored": header({"a": {**TENSOR, "shape": [2**40]}}, bytes(8)),
    "beyond the end": header({"a": {**TENSOR, "data_offsets": [0, 2**50]}}, bytes(8)),
    "below the beginning": header({"a": {**TENSOR, "data_offsets": [-8, 0]}}, bytes(8)),
    "overflowing": header({"a": {**TENSOR, "shape": [2**33, 2**33]}}, bytes(8)),
    "of an odd type": header({"a": {**TENSOR, "dtype": "F4"}}, bytes(8)),
    "of no type": header({"a": {**TENSOR, "dtype": "object"}}, bytes(8)),
    "one tensor of another network": header({"a": TENSOR}, bytes(8)),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_are_none_are_refused(home, copy, name, capsys) -> None:
    put_weights(copy, WEIGHTS[name])
    refused(copy, home / "rde.h5", capsys)


def test_damaged_weights_end_in_one_sentence_or_load(home, copy) -> None:
    whole = (copy / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", whole[:8])
    draw = random.Random(0)
    sentences = []
    for _ in range(150):
        damaged = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.randrange(1, 4)):
            if damaged:
                damaged[draw.randrange(min(len(damaged), size + 20))] ^= 1 << draw.randrange(8)
        put_weights(copy, bytes(damaged))
        try:
            load_exported(copy)
        except SynthprobeError as error:
            sentences.append(str(error))
    assert len(sentences) > 100
    assert not any("\n" in sentence for sentence in sentences)


def test_figures_are_those_of_the_python_call_too(home) -> None:
    saved, scores = evaluate_checkpoint(home / "run" / "safetensors", home / "rde.h5")
    result = json.loads((home / "run" / "result.json").read_text())
    assert scores.metrics == pytest.approx(result["test"])
    assert (saved.epoch, saved.settings.name) == (1, "lambda-pe")
