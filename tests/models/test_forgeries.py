"""Forged checkpoints: one sentence, no code run, nothing changed."""

from __future__ import annotations

import json
import zipfile

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.cli import main  # noqa: E402
from tests.models.training import small_file  # noqa: E402

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("forged")
    words = ["train", "unet", "--on", str(small_file(path / "rde.h5")), "--out", str(path / "run")]
    words += ["--epochs", "1", "--width", "3", "--down-samplings", "1", "--picture-every", "0"]
    assert main(words) == 0
    return path, words


def changed(text: str, **others: object) -> str:
    return json.dumps({**json.loads(text), **others})


FORGERIES = {
    "deep settings": lambda c: {"settings": DEEP},
    "deep data": lambda c: {"data": DEEP},
    "deep origin": lambda c: {"made_by": DEEP},
    "settings are a list": lambda c: {"settings": "[]"},
    "rate is no number": lambda c: {"settings": changed(c["settings"], rate=float("nan"))},
    "odd setting": lambda c: {"settings": changed(c["settings"], colour=3)},
    "odd key": lambda c: {"colour": 3},
    "odd dataset": lambda c: {"data": changed(c["data"], dataset=[])},
    "odd shape": lambda c: {"data": changed(c["data"], input_shape=3)},
    "step far below": lambda c: {"step": -(10**18)},
    "step far above": lambda c: {"step": 10**18},
    "epoch beyond": lambda c: {"epoch": 10**6},
    "seconds": lambda c: {"seconds": float("nan")},
    "random state": lambda c: {"random": {"cpu": torch.zeros(3)}},
    "random text": lambda c: {"random": {"cpu": "x"}},
    "optimizer": lambda c: {"optimizer": {"state": 3, "param_groups": [3]}},
    "schedule": lambda c: {"schedule": {3: 3}},
    "model": lambda c: {"model": {3: "x"}},
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_checkpoint_gets_one_sentence(run, capsys, name) -> None:
    path, words = run
    checkpoint = path / "run" / "checkpoint.pt"
    whole = checkpoint.read_bytes()
    content = torch.load(checkpoint, weights_only=True)
    torch.save({**content, **FORGERIES[name](content)}, checkpoint)
    forged = checkpoint.read_bytes()
    capsys.readouterr()
    try:
        assert main([*words, "--resume"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        assert checkpoint.read_bytes() == forged
    finally:
        checkpoint.write_bytes(whole)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, run, capsys) -> None:
    path, _ = run
    with zipfile.ZipFile(tmp_path / "c.pt", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("c/data.pkl", bytes(10**7))
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "c.pt"), "--on", str(path / "rde.h5")]) == 2
    assert "is not a checkpoint of synthprobe" in capsys.readouterr().err
