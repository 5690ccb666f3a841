"""Loggers are told a run and cannot harm it; stand-ins have the parts of packages that we use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from synthprobe_models.training.loggers import LOGGERS, make_logger  # noqa: E402
from synthprobe_models.training.run import train_run  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402
from tests.models.small_runs import small_file, small_settings  # noqa: E402

QUIET = Machine(progress=False)
VARIABLES = ("WANDB_PROJECT", "TRACKIO_PROJECT", "MLFLOW_EXPERIMENT_NAME")


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return small_file(tmp_path_factory.mktemp("told") / "rde.h5")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


class Told:
    """What stand-ins of all four packages were told, by figure: (step, value)."""

    def __init__(self) -> None:
        self.figures: dict[str, list[tuple[int, float]]] = {}
        self.begun: dict[str, Any] = {}
        self.ended: list[Any] = []

    def begin(self, **given: Any) -> Told:
        self.begun = given
        return self

    def log(self, figures: dict[str, float], *, step: int) -> None:
        assert isinstance(figures, dict)
        for name, value in figures.items():
            self.add(name, value, step)

    def add(self, name: str, value: float, step: int) -> None:
        assert isinstance(value, float | int)
        self.figures.setdefault(name, []).append((step, value))

    def add_text(self, tag: str, text: str, step: int) -> None:
        assert tag == "settings"
        self.begun["config"] = json.loads(text[3:-3])

    add_scalar = add

    def flush(self) -> None:
        """Of TensorBoard."""

    def close(self) -> None:
        self.finish()

    def finish(self, exit_code: int | None = None) -> None:
        self.ended.append(exit_code)


def stand_in(name: str, told: Told) -> ModuleType:
    """The parts of a package that we use."""
    module: Any = ModuleType(name)
    if name == "tensorboard":
        module.SummaryWriter = lambda folder, purge_step: told.begin(
            project=folder, purge_step=purge_step
        )
    elif name == "trackio":
        module.init = lambda project, name, config, embed: told.begin(
            project=project, name=name, config=config
        )
        module.log, module.finish = told.log, told.finish
    elif name == "wandb":
        module.init = lambda project, name, dir, config: told.begin(
            project=project, name=name, config=config, dir=dir
        )
    else:
        module.set_experiment = lambda project: (
            told.begin(project=project) and SimpleNamespace(experiment_id="7")
        )
        module.MlflowClient = lambda: SimpleNamespace(
            create_run=lambda number, run_name: (
                told.begun.update(number=number, name=run_name, config={})
                or SimpleNamespace(info=SimpleNamespace(run_id="r"))
            ),
            log_param=lambda run, key, value: told.begun["config"].update({key: value}),
            log_metric=lambda run, key, value, step: told.add(key, value, step),
            set_terminated=lambda run, status: told.ended.append(status),
        )
    return module


@pytest.fixture
def told(monkeypatch) -> dict[str, Told]:
    found = {}
    for name in LOGGERS:
        found[name] = Told()
        module = "torch.utils.tensorboard" if name == "tensorboard" else name
        monkeypatch.setitem(sys.modules, module, stand_in(name, found[name]))
    return found


def train(file: Path, out: Path, *words: str) -> int:
    small = ["--width", "3", "--down-samplings", "1", "--batch", "4", "--picture-every", "0"]
    return main(["train", "unet", "--on", str(file), "--out", str(out), *small, *words])


def test_each_is_told_the_epochs_and_the_end(file, tmp_path, told, capsys) -> None:
    words = ["--epochs", "2", "--json", "--log-to", *LOGGERS]
    assert train(file, tmp_path / "run", *words) == 0
    result = json.loads(capsys.readouterr().out)
    rows = RunFolder(tmp_path / "run").read_log()
    assert [row["step"] for row in rows] == ["3", "6"]
    expected = {
        name: [(int(row["step"]), pytest.approx(float(row[name]))) for row in rows]
        for name in ("epoch", "loss", "rate", "seconds")
    }
    for split in ("test", "train"):
        for name, value in result[split].items():
            expected[f"{split}/{name}"] = [(6, value)]
    for name, found in told.items():
        assert found.figures == expected, name
        assert found.begun["config"]["batch"] in (4, "4")
        assert found.begun["config"]["content"] == result["data"]["content"]
    ends = {name: found.ended for name, found in told.items()}
    assert ends == {"tensorboard": [None], "trackio": [None], "wandb": [0], "mlflow": ["FINISHED"]}
    assert told["tensorboard"].begun["project"] == str(tmp_path / "run" / "tensorboard")
    for name in ("trackio", "wandb", "mlflow"):
        assert (told[name].begun["project"], told[name].begun["name"]) == ("synthprobe", "run")


def test_the_variables_of_a_service_say_what_runs_are_filed_under(
    file, tmp_path, told, monkeypatch
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "mine")
    assert train(file, tmp_path / "run", "--epochs", "1", "--log-to", *LOGGERS) == 0
    for name in ("trackio", "wandb", "mlflow"):
        assert told[name].begun["project"] == "mine"


def test_a_resumed_run_goes_on_at_its_step(file, tmp_path, told, monkeypatch) -> None:
    log = RunFolder.log

    def stopped(folder, row) -> None:
        log(folder, row)
        if row["epoch"] == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "log", stopped)
    settings, source = small_settings(epochs=3), open_source(file)
    loggers = [make_logger(name) for name in LOGGERS]
    with pytest.raises(KeyboardInterrupt):
        train_run(settings, source, tmp_path / "run", machine=QUIET, loggers=loggers)
    assert told["wandb"].ended == [1]
    assert told["mlflow"].ended == ["FAILED"]
    assert told["tensorboard"].begun["purge_step"] == 1
    monkeypatch.undo()
    tensorboard = told["tensorboard"]
    tensorboard.figures.clear()
    train_run(settings, source, tmp_path / "run", machine=QUIET, resume=True, loggers=loggers[:1])
    assert tensorboard.begun["purge_step"] == 4
    assert [step for step, _ in tensorboard.figures["loss"]] == [6, 9]


@pytest.mark.parametrize("name", LOGGERS)
def test_a_package_that_is_missing_is_said_before_anything_is_done(
    file, tmp_path, monkeypatch, capsys, name
) -> None:
    module = "torch.utils.tensorboard" if name == "tensorboard" else name
    monkeypatch.setitem(sys.modules, module, None)
    assert train(file, tmp_path / "run", "--log-to", name) == 2
    said = capsys.readouterr()
    assert said.err == (
        f"synthprobe-probe: --log-to {name} needs the package: pip install {name}.\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_package_that_is_broken_is_said_too(file, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "wandb.py").write_text("print('hello')\n1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    assert train(file, tmp_path / "run", "--log-to", "wandb") == 2
    said = capsys.readouterr()
    assert "could not be imported: ZeroDivisionError (division by zero)." in said.err
    assert said.out == ""
    with pytest.raises(SynthprobeError, match="there is no logger 'clearml': take one of tensorb"):
        make_logger("clearml")


class Faulty:
    """Draws, prints, and fails when it is told to."""

    name = "faulty"

    def __init__(self, at: str) -> None:
        self.at = at
        self.heard: list[str] = []

    def _hear(self, what: str) -> None:
        self.heard.append(what)
        torch.rand(7)
        print("hello")
        if what == self.at:
            raise RuntimeError("no connection\nand more")

    def begin(self, folder: Path, settings: Any, step: int) -> None:
        self._hear("begin")

    def log(self, step: int, figures: Any) -> None:
        self._hear("log")

    def end(self, *, complete: bool) -> None:
        self._hear("end")


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize(
    ("at", "heard"),
    [
        ("begin", ["begin"]),
        ("log", ["begin", "log"]),
        ("end", ["begin", "log", "log", "log", "end"]),
        ("never", ["begin", "log", "log", "log", "end"]),
    ],
)
def test_one_that_fails_changes_nothing_of_the_run(
    file, tmp_path, capsys, monkeypatch, at, heard, quiet
) -> None:
    from synthprobe_models.training import loggers

    monkeypatch.setattr(loggers, "is_quiet", lambda: quiet)
    # A network that draws in training: what loggers draw must not be missed there.
    settings = small_settings(name="reformer", width=4, options={"heads": 2, "bucket": 4})
    source = open_source(file)
    faulty = Faulty(at)
    results = []
    for name, given in (("alone", []), ("told", [faulty])):
        results.append(train_run(settings, source, tmp_path / name, machine=QUIET, loggers=given))
    said = capsys.readouterr()
    assert said.out == ""
    failures = [line for line in said.err.splitlines() if "failed" in line]
    sentence = "faulty failed and is told no more of this run: RuntimeError (no connection)"
    assert failures == ([] if at == "never" else [sentence])
    assert faulty.heard == heard
    assert results[0]["test"] == results[1]["test"]
    one, other = (
        load_checkpoint(tmp_path / name / "checkpoint.pt").model for name in ("alone", "told")
    )
    assert all(torch.equal(value, other[name]) for name, value in one.items())


def test_without_the_option_nobody_is_told(file, tmp_path, told) -> None:
    assert train(file, tmp_path / "run", "--epochs", "1") == 0
    assert all(found.begun == {} for found in told.values())
    assert not (tmp_path / "run" / "tensorboard").exists()


NOTES = """
import os
def _note(*words):
    with open(os.environ["NOTES"], "a") as file:
        file.write(" ".join(map(str, words)) + "\\n")
def init(**_):
    _note("begin", os.environ["RANK"])
def log(figures, step):
    _note("log", os.environ["RANK"], step)
def finish():
    _note("end", os.environ["RANK"])
"""


def test_of_several_processes_the_first_one_tells(file, tmp_path) -> None:
    (tmp_path / "trackio.py").write_text(NOTES)
    root = Path(__file__).parents[3]
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    words += ["-m", "synthprobe_models", "train", "unet", "--on", str(file), "--epochs", "1"]
    words += ["--width", "3", "--down-samplings", "1", "--batch", "4", "--picture-every", "0"]
    done = subprocess.run(
        [*words, "--out", str(tmp_path / "run"), "--log-to", "trackio"],
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root)]),
            "NOTES": str(tmp_path / "notes"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "notes").read_text().splitlines() == [
        "begin 0",
        "log 0 3",
        "log 0 3",
        "end 0",
    ]


def test_tensorboard_reads_what_was_written(file, tmp_path) -> None:
    pytest.importorskip("tensorboard")
    files = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

    assert train(file, tmp_path / "run", "--epochs", "2", "--log-to", "tensorboard") == 0
    found = files.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    found.Reload()
    rows = RunFolder(tmp_path / "run").read_log()
    losses = [(event.step, event.value) for event in found.Scalars("loss")]
    assert losses == [(int(row["step"]), pytest.approx(float(row["loss"]))) for row in rows]
    assert "test/loss" in found.Tags()["scalars"]
