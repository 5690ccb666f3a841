"""The settings of a run: options of its parts, and runs that were begun before there were any."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from synthprobe_models.training.run import finished_run, train_run  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import Machine, Trainer  # noqa: E402
from tests.models.small_runs import small_file, small_settings  # noqa: E402

QUIET = Machine(progress=False)
LATER = ("optimizer_options", "schedule_options")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_file(tmp_path_factory.mktemp("settings") / "rde.h5")


def test_options_of_optimiser_and_schedule_are_used_and_saved(file, tmp_path) -> None:
    words = ["train", "unet", "--on", str(file), "--epochs", "1", "--width", "3", "--batch", "5"]
    chosen = ["--optimizer", "paper", "--optimizer-options", "lookahead=0", "belief=false"]
    chosen += ["betas=[0.8, 0.99]", "--schedule-options", "warm_up_share=0.5"]
    out = tmp_path / "run"
    assert main([*words, *chosen, "--out", str(out), "--picture-every", "0"]) == 0
    saved = load_checkpoint(out / "checkpoint.pt")
    options = {"lookahead": 0, "belief": False, "betas": [0.8, 0.99]}
    assert saved.settings.optimizer_options == options
    (group,) = saved.optimizer["param_groups"]
    assert {name: group[name] for name in options} == {**options, "betas": (0.8, 0.99)}
    result = RunFolder(out).read_result()
    assert result is not None
    assert result["settings"]["schedule_options"] == {"warm_up_share": 0.5}
    assert main([*words, *chosen, "--out", str(out), "--resume", "--picture-every", "0"]) == 0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--optimizer-options", "lr=1"], "lr is not one of the optimizer_options: it is the sett"),
        (["--optimizer-options", "clap=1"], "the optimiser adamw cannot be made"),
        (["--optimizer", "paper", "--optimizer-options", "clip=-1"], "clip is -1"),
        (
            ["--optimizer", "paper", "--optimizer-options", "belief=no"],
            "belief is 'no': it must be",
        ),
        (["--schedule-options", "steps=1"], "steps is not one of the schedule_options"),
        (["--schedule-options", "warm=1"], "the schedule ranger21 has no option 'warm'"),
        (["--schedule-options", "warm"], "--schedule-options warm is not of the form NAME=VALUE"),
    ],
)
def test_wrong_options_get_one_sentence(file, tmp_path, capsys, given, sentence) -> None:
    out = str(tmp_path / "run")
    assert main(["train", "unet", "--on", str(file), *given, "--out", out]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_run_from_before_there_were_these_options_is_complete_and_goes_on(
    file, tmp_path, monkeypatch
) -> None:
    source, out = open_source(file), tmp_path / "run"
    train_run(small_settings(), source, out, machine=QUIET, picture_every=0)
    for path, where in ((out / "settings.json", None), (out / "result.json", "settings")):
        content = json.loads(path.read_text())
        for name in LATER:
            del (content[where] if where else content)[name]
        path.write_text(json.dumps(content))
    saved = torch.load(out / "checkpoint.pt", weights_only=True)
    settings = {k: v for k, v in json.loads(saved["settings"]).items() if k not in LATER}
    torch.save({**saved, "settings": json.dumps(settings)}, out / "checkpoint.pt")
    assert load_checkpoint(out / "checkpoint.pt").settings == small_settings()
    monkeypatch.setattr(Trainer, "run", None)
    assert finished_run(small_settings(), source, out, machine=QUIET)["name"] == "unet"
    monkeypatch.undo()
    (out / "result.json").unlink()
    resumed = []
    run = Trainer.run
    monkeypatch.setattr(
        Trainer, "run", lambda self, *, resume: (resumed.append(resume), run(self, resume=resume))
    )
    finished_run(small_settings(), source, out, machine=QUIET, picture_every=0)
    assert resumed == [True]
    other = small_settings(optimizer_options={"betas": (0.8, 0.99)})
    assert not other.same_as(settings)
    assert other.same_as(json.loads(json.dumps(other.to_dict())))


def test_options_that_are_no_names_with_values_are_refused() -> None:
    for name in ("options", *LATER):
        with pytest.raises(SynthprobeError, match=f"{name} is 3: it must be names with values"):
            small_settings(**{name: 3})
