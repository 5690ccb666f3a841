"""Forged checkpoints: one sentence, no code run, nothing changed."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.experiments.profile import profiler as profiles  # noqa: E402
from synthprobe_models.experiments.profile.facts import read_profile  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from tests.models.small_runs import small_file  # noqa: E402

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


def with_group(content, **others):
    """An optimiser with other options."""
    groups = [{**group, **others} for group in content["optimizer"]["param_groups"]]
    return {"optimizer": {**content["optimizer"], "param_groups": groups}}


def with_state(content, change):
    """An optimiser with another state of every weight, in the midst of the run."""
    states = {key: change(state) for key, state in content["optimizer"]["state"].items()}
    return {"epoch": 0, "step": 1, "optimizer": {**content["optimizer"], "state": states}}


def many(depth: int) -> list:
    """A list of as many lists as two to the power of its depth, in a few bytes."""
    found: list = []
    for _ in range(depth):
        found = [found, found]
    return found


class Made:
    """What a file lets PyTorch call."""

    def __init__(self, call, *arguments) -> None:
        self.made = call, arguments

    def __reduce__(self):
        return self.made


FORGERIES |= {
    "rate is a text": lambda c: with_group(c, lr="x"),
    "last step is a text": lambda c: {
        "epoch": 0,
        "step": 1,
        "schedule": {**c["schedule"], "last_epoch": "x"},
    },
    "state of half a step": lambda c: with_state(c, lambda s: {"step": s["step"]}),
    "state far below": lambda c: with_state(c, lambda s: {**s, "step": torch.tensor(-1e18)}),
    "state of another shape": lambda c: with_state(c, lambda s: {**s, "exp_avg": torch.zeros(7)}),
    "losses": lambda c: {"loss_sum": float("inf")},
    "a lifetime": lambda c: {"seconds": 1e300},
}

LARGE = {
    "one number a million times": lambda c: {
        "optimizer": {**c["optimizer"], "more": torch.zeros(1).expand(2**20)}
    },
    "a list of many lists": lambda c: {"schedule": {**c["schedule"], "more": many(40)}},
    "a state of many lists": lambda c: {"random": {**c["random"], "more": many(40)}},
    "bytes that are not stored": lambda c: {"schedule": {"more": Made(bytearray, 2**24)}},
    "a tensor that is not stored": lambda c: {"schedule": {"more": Made(torch.Tensor, 2, 3)}},
    "a tensor of nothing": lambda c: {"random": {"cpu": torch.zeros(3, device="meta")}},
    "name is no text": lambda c: {"settings": changed(c["settings"], name={})},
    "probe is no text": lambda c: {"settings": changed(c["settings"], probe=[1])},
    "outputs": lambda c: {"data": changed(c["data"], outputs=2**39)},
    "no outputs": lambda c: {"data": changed(c["data"], outputs=-1)},
    "other weights": lambda c: {"model": {k: v.cdouble() for k, v in c["model"].items()}},
}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_take_more_than_is_stored_is_not_evaluated(tmp_path, run, capsys, name) -> None:
    path, _ = run
    content = torch.load(path / "run" / "checkpoint.pt", weights_only=True)
    torch.save({**content, **LARGE[name](content)}, tmp_path / "c.pt")
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "c.pt"), "--on", str(path / "rde.h5")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_network_that_does_not_fit_is_not_built(tmp_path, run, monkeypatch, capsys) -> None:
    path, _ = run
    content = torch.load(path / "run" / "checkpoint.pt", weights_only=True)
    content["settings"] = changed(content["settings"], width=4096)
    torch.save(content, tmp_path / "c.pt")
    built = []
    create = torch.nn.Conv2d.__init__

    def noted(layer, *args, **kwargs) -> None:
        create(layer, *args, **kwargs)
        built.append(layer.weight.device.type)

    monkeypatch.setattr(torch.nn.Conv2d, "__init__", noted)
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "c.pt"), "--on", str(path / "rde.h5")]) == 2
    assert "does not fit unet as it is built now" in capsys.readouterr().err
    assert set(built) == {"meta"}


def test_a_count_of_layers_that_never_ends_is_refused(tmp_path, run, capsys) -> None:
    path, _ = run
    content = torch.load(path / "run" / "checkpoint.pt", weights_only=True)
    content["settings"] = changed(content["settings"], options={"layers": 10**9})
    torch.save(content, tmp_path / "c.pt")
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "c.pt"), "--on", str(path / "rde.h5")]) == 2
    assert "does not fit unet as it is built now" in capsys.readouterr().err


def test_the_older_form_of_files_is_refused(tmp_path, run, capsys) -> None:
    path, _ = run
    content = torch.load(path / "run" / "checkpoint.pt", weights_only=True)
    torch.save(content, tmp_path / "c.pt", _use_new_zipfile_serialization=False)
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "c.pt"), "--on", str(path / "rde.h5")]) == 2
    assert "is not a checkpoint of synthprobe" in capsys.readouterr().err


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


FORGED_FILES = {
    "settings": ("settings.json", DEEP),
    "key": ("key.json", DEEP),
    "result": ("result.json", DEEP),
    "log without epochs": ("log.csv", "step,epoch,loss,rate,seconds\n3\n"),
    "log of many digits": ("log.csv", f"epoch,step,loss,rate,seconds\n{'9' * 5000},1,1,1,1\n"),
    "log of bytes": ("log.csv", "\0" * 1000),
}


@pytest.mark.parametrize("name", FORGED_FILES)
def test_forged_files_beside_a_checkpoint_are_written_again(run, tmp_path, name) -> None:
    path, words = run
    shutil.copytree(path / "run", tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    file, text = FORGED_FILES[name]
    (tmp_path / "run" / file).write_text(text)
    words = [str(tmp_path / "run") if word == str(path / "run") else word for word in words]
    assert main([*words, "--resume"]) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["test"] == json.loads((path / "run" / "result.json").read_text())["test"]


@pytest.mark.parametrize(
    "change",
    [
        {"test": None},
        {"test": {}},
        {"test": {"loss": "1"}},
        {"train": {"loss": []}},
        {"settings": 3},
        {"parameters": "many"},
        {"gap": {}},
        {"name": ["unet"]},
    ],
)
def test_a_result_with_odd_values_is_none(run, tmp_path, change) -> None:
    path, _ = run
    whole = json.loads((path / "run" / "result.json").read_text())
    folder = RunFolder(tmp_path)
    folder.result.write_text(json.dumps(whole))
    assert folder.read_result() == whole
    folder.result.write_text(json.dumps({**whole, **change}))
    assert folder.read_result() is None


def test_deep_json_is_no_profile_and_no_inspection(tmp_path, monkeypatch) -> None:
    (tmp_path / "lambda-pe.json").write_text(DEEP)
    assert read_profile(tmp_path, "lambda-pe", "quick") is None
    (tmp_path / "inspections").mkdir()
    (tmp_path / "inspections" / "lambda-pe.json").write_text(DEEP)

    def looked(name):
        raise SynthprobeError("looked again")

    monkeypatch.setattr(profiles, "inspect", looked)
    profiler = profiles.Profiler(out=tmp_path, probes=("color-code",))
    assert profiler._inspection("lambda-pe") == (None, "looked again")


def test_deep_json_as_an_option_is_a_text(run, capsys) -> None:
    _, words = run
    capsys.readouterr()
    assert main([*words, "--force", "--options", f"heads={DEEP}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
