"""The paper's tables, made from tiny data."""

from __future__ import annotations

import csv
import dataclasses
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from joblib.externals.loky import get_reusable_executor  # noqa: E402

from synthprobe_data import RdeConfig, SynthprobeError, open_dataset  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.data.source import DataFacts  # noqa: E402
from synthprobe_models.data.torch_datasets import StreamDataset  # noqa: E402
from synthprobe_models.experiments import TABLES, make  # noqa: E402
from synthprobe_models.experiments.compared import ALIKE  # noqa: E402
from synthprobe_models.experiments.make import make_table  # noqa: E402
from synthprobe_models.experiments.render import with_spread  # noqa: E402
from synthprobe_models.experiments.samples import data_file  # noqa: E402
from synthprobe_models.experiments.solver_row import SolverNetwork  # noqa: E402
from synthprobe_models.experiments.table import Table, find_rows, find_table  # noqa: E402
from synthprobe_models.experiments.table_runs import TableRuns  # noqa: E402
from synthprobe_models.networks.counting import build_bare, count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.registry import STRUCTURES  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import Machine, Trainer, build_network  # noqa: E402

QUIET = Machine(progress=False)
TINY = {
    1: {"height": 16, "width": 16, "n_rectangles": 2, "n_vis": 2, "n_gap": 2, "n_par": 2},
    2: {"height": 8, "width": 8, "square": 3},
    3: {"positions": 32, "colors": 3},
}


@pytest.fixture(autouse=True)
def tiny(monkeypatch) -> None:
    sizes = {1: {"train": 4, "test": 2}, 2: {}, 3: {"train": 4, "test": 2}}

    def find_tiny(number: int) -> Table:
        table = find_table(number)
        data = {
            size: dataclasses.replace(
                given, config={**given.config, **TINY[number]}, sizes=sizes[number]
            )
            for size, given in table.data.items()
        }
        return dataclasses.replace(table, data=data)

    monkeypatch.setattr(make, "find_table", find_tiny)


def test_a_table_is_written_beside_the_papers_and_nothing_is_trained_twice(
    tmp_path, monkeypatch
) -> None:
    rows = ["lambda-pe", "lambda-local-7"]
    paths = make_table(2, "mini", tmp_path, seeds=2, rows=rows, epochs=1, machine=QUIET)
    text = paths.markdown.read_text(encoding="utf-8")
    assert "| Fourier + Decor. |" in text
    assert "| row | train IOU ↑, here | train IOU ↑, paper | test IOU ↑, here |" in text
    assert "| Lambda (R = 7); here window 3 |" in text
    assert "| 100.00 |" in text  # the paper's figures, and the bound of a window as wide as w
    (trained,) = [line for line in text.splitlines() if line.startswith("Trained with ")]
    assert trained.startswith("Trained with adamw (rate 0.005, schedule ranger21, weight decay 0),")
    assert "of the positions" not in trained  # but for the preset `paper`, all of them
    assert "forward passes" not in trained
    with open(paths.csv, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["name"], line["seed"]) for line in lines] == [
        (name, seed) for name in rows for seed in "01"
    ]
    result = RunFolder(tmp_path / "runs" / "lambda-pe-1").read_result()
    assert result is not None
    assert float(lines[1]["test_iou"]) == 100 * result["test"]["iou"]
    assert result["settings"]["seed"] == 1
    assert paths.plot.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(Trainer, "run", None)
    again = make_table(2, "mini", tmp_path, seeds=2, rows=rows, epochs=1, machine=QUIET)
    assert again.markdown.read_text(encoding="utf-8") == text


def test_a_table_is_made_again_from_the_records_of_its_runs_alone(tmp_path, capsys) -> None:
    words = ["table", "2", "--out", str(tmp_path / "table"), "--jobs", "1"]
    rows = ["lambda-pe", "lambda-local-7", "mlp-mixer"]
    assert main([*words, "--seeds", "2", "--epochs", "1", "--rows", *rows]) == 0
    files = [tmp_path / "table" / f"table.{kind}" for kind in ("md", "csv", "png")]
    made = [path.read_bytes() for path in files]
    again = tmp_path / "again"
    (again / "runs").mkdir(parents=True)
    records = sorted((tmp_path / "table" / "runs").glob("*.json"))
    assert [path.name for path in records] == sorted(f"{n}-{s}.json" for n in rows for s in (0, 1))
    for path in records:
        (again / "runs" / path.name).write_bytes(path.read_bytes())
    capsys.readouterr()
    assert main(["table", "2", "--out", str(again), "--pages"]) == 0
    assert [(again / path.name).read_bytes() for path in files] == made
    text = made[0].decode()
    assert text in capsys.readouterr().out
    assert "too few seeds (5 needed)" in text
    assert "Not as many parameters as Fourier + Decor. within 2%" in text
    # A run whose record is there is complete, though its folder is gone.
    again_words = ["table", "2", "--out", str(again), "--jobs", "1", "--epochs", "1"]
    assert main([*again_words, "--rows", "lambda-pe", "--seeds", "2"]) == 0
    assert "kept, 2 of 2: centered-square, lambda-pe (seed 0, 1)" in capsys.readouterr().err
    assert main(["table", "2", "--out", str(tmp_path / "none"), "--pages"]) == 2
    assert "runs has no results of runs of table 2." in capsys.readouterr().err


def test_a_table_says_in_which_precision_it_was_trained(tmp_path) -> None:
    training = {"precision": "bfloat16", "epochs": 1}
    paths = make_table(3, "mini", tmp_path, rows=["lambda"], training=training, machine=QUIET)
    text = paths.markdown.read_text(encoding="utf-8")
    assert "batches of 32, forward passes in bfloat16, on 4 samples with" in text


def test_a_table_says_at_how_many_positions_the_loss_was_computed(tmp_path) -> None:
    paths = make_table(2, "paper", tmp_path, rows=["lambda-pe"], epochs=1, machine=QUIET)
    text = paths.markdown.read_text(encoding="utf-8")
    assert (
        "batches of 32, the loss at 0.0625 of the positions, drawn anew in every step, on" in text
    )


def test_a_table_has_all_runs_of_its_folder_and_says_which_are_not_finished(
    tmp_path, monkeypatch
) -> None:
    make_table(2, "mini", tmp_path, rows=["lambda-pe"], seeds=2, epochs=1, machine=QUIET)
    # Of other epochs, so another row than this table's.
    make_table(2, "mini", tmp_path, rows=["lambda-local-7"], epochs=2, machine=QUIET)
    begun = tmp_path / "runs" / "lambda-coordconv-0"
    make_table(2, "mini", tmp_path, rows=["lambda-coordconv"], epochs=1, machine=QUIET)
    (begun / "result.json").unlink()
    monkeypatch.setattr(Trainer, "run", lambda self, **_: None)
    rows = ["lambda-cosine-decor"]
    paths = make_table(2, "mini", tmp_path, rows=rows, epochs=1, machine=QUIET)
    with open(paths.csv, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    found = [(line["name"], line["seed"]) for line in lines]
    assert found == [("lambda-cosine-decor", "0"), ("lambda-pe", "0"), ("lambda-pe", "1")]
    text = paths.markdown.read_text(encoding="utf-8")
    assert "Not finished: CoordConv, seed 0 (1 of 1 epochs)." in text


def test_runs_side_by_side_are_those_of_one_after_another(tmp_path) -> None:
    rows = ["lambda-pe", "lambda-local-7"]
    figures = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        paths = make_table(2, "mini", out, rows=rows, epochs=1, jobs=jobs, machine=QUIET)
        with open(paths.csv, newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        figures.append([(line["name"], line["train_iou"], line["test_iou"]) for line in lines])
    assert figures[0] == figures[1]
    with pytest.raises(SynthprobeError, match="jobs is 0: it must be a whole number from 1"):
        make_table(2, "mini", tmp_path / "1", rows=rows, epochs=1, jobs=0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_run_of_a_table_says_which_one_it_is_and_how_far(tmp_path, jobs: int, capfd) -> None:
    # Workers of an earlier test would write to where the error output was then.
    get_reusable_executor().shutdown(wait=True)
    rows = ["lambda-pe", "lambda-local-7"]
    make_table(2, "mini", tmp_path, rows=rows, seeds=2, epochs=2, jobs=jobs)
    said = capfd.readouterr().err.splitlines()
    epochs = [line.partition(", loss ")[0] for line in said if ": epoch " in line]
    places = [("lambda-pe", 1), ("lambda-pe", 2), ("lambda-local-7", 1), ("lambda-local-7", 2)]
    assert sorted(epochs) == sorted(
        f"centered-square, {name}, seed {seed} of 2, {i} of 4: epoch {epoch} of 2"
        for i, (name, seed) in enumerate(places, 1)
        for epoch in (1, 2)
    )
    complete = [line for line in said if ": complete, test loss " in line]
    assert len(complete) == (4 if jobs == 2 else 0)
    make_table(2, "mini", tmp_path / "quiet", rows=rows[:1], epochs=2, machine=QUIET)
    assert "epoch" not in capfd.readouterr().err


def told(text: str) -> list[tuple[str, str, str]]:
    """The rows that a table tells apart by their training, and how it tells it."""
    lines = (line.partition(": trained with ") for line in text.splitlines())
    return [parts for parts in lines if parts[1]]


def test_the_row_with_an_asterisk_is_trained_on_ambiguous_samples(tmp_path) -> None:
    make_table(1, "mini", tmp_path, rows=["unet", "unet-ambiguous"], epochs=1, machine=QUIET)
    results = {
        name: RunFolder(tmp_path / "runs" / f"{name}-0").read_result()
        for name in ("unet", "unet-ambiguous")
    }
    modes = [result["data"]["config"]["mode"] for result in results.values() if result]
    assert modes == ["certified", "ambiguous"]
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    told = [
        line.partition(": trained with ")[0] for line in text.splitlines() if "trained w" in line
    ]
    assert told == ["Baseline*", "Baseline"]
    with open_dataset(tmp_path / "data" / "rde-ambiguous.h5") as data:
        assert data.config.to_dict()["mode"] == "ambiguous"
    assert {result["test_samples"] for result in results.values() if result} == {2}


def test_the_solver_is_a_row_that_scores_perfectly_without_training(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Trainer, "run", None)
    paths = make_table(1, "mini", tmp_path, rows=["solver"], seeds=2, machine=QUIET)
    with open(paths.csv, newline="", encoding="utf-8") as file:
        (line,) = csv.DictReader(file)
    assert [float(line[name]) for name in ("loss", "gap", "ord", "delta_1.25", "rmse")] == [0] * 5
    assert line["lower_is_better"] == "loss gap ord delta_1.25 rmse"
    text = paths.markdown.read_text(encoding="utf-8")
    assert "| Reference solver | 0.00 | - |" in text
    assert "| pixels off by > 1.25 ↓, here | pixels off by > 1.25 ↓, paper |" in text
    result = RunFolder(tmp_path / "runs" / "solver-0").read_result()
    assert result is not None
    assert (result["test_samples"], result["test"]["rmse"]) == (2, 0.0)


def test_the_solver_is_asked_for_pictures_and_gives_what_is_in_the_file() -> None:
    config = RdeConfig(height=24, width=40, n_rectangles=4, n_vis=2, n_gap=2, n_par=2, blur=0.5)
    samples = StreamDataset("rde", config=config).at(range(5))
    pictures, targets = (torch.stack([s[name] for s in samples]) for name in ("image", "target"))
    assert torch.equal(SolverNetwork(config)(pictures), targets)
    with pytest.raises(SynthprobeError):
        SolverNetwork(config)(pictures.flip(1) * 0.5)


@pytest.mark.parametrize("size", ["mini", "midi"])
def test_networks_of_table_1_have_the_parameters_of_the_baseline_within_two_percent(
    tmp_path, size: str
) -> None:
    table = find_table(1)
    data = table.samples(size)
    runs = TableRuns(table=table, size=size, out=tmp_path, data=data, training={})
    counts = {}
    for row in table.published:
        settings = runs.settings(row, 0)
        shape = PROBES["rde"].positions(runs.config(row))
        facts = DataFacts(
            dataset="rde", config=runs.config(row), content="", input_shape=(3, *shape), outputs=1
        )
        counts[row.key] = count_parameters(build_bare(partial(build_network, settings, facts)))
    assert all(abs(count / counts["unet"] - 1) < ALIKE for count in counts.values())


def test_every_table_is_found_by_its_number_and_no_other() -> None:
    assert TABLES == (1, 2, 3)
    assert [find_table(number).number for number in TABLES] == [1, 2, 3]
    with pytest.raises(SynthprobeError, match="there is no table 4: take one of 1, 2, 3"):
        find_table(4)
    with pytest.raises(SynthprobeError, match="no preset 'quick' for table 2: take one of paper"):
        find_table(2).samples("quick")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_row_of_every_table_can_be_trained(tmp_path, number: int, monkeypatch) -> None:
    built = []
    monkeypatch.setattr(Trainer, "run", lambda self, **_: built.append(self.settings.name))
    make_table(number, "mini", tmp_path, machine=QUIET)
    assert built == [row.name for row in find_rows(number)]


@pytest.mark.parametrize("size", ["mini", "paper"])
def test_the_ceiling_of_the_codes_is_that_of_their_settings(
    tmp_path, monkeypatch, size: str
) -> None:
    monkeypatch.setattr(Trainer, "run", lambda self, **_: None)
    paths = make_table(3, size, tmp_path, rows=["lambda"], machine=QUIET)
    with open(paths.csv, newline="", encoding="utf-8") as file:
        (line,) = csv.DictReader(file)
    lost = (1 - 0.5 / 3) ** 31  # the colour is revealed at none of the other positions
    assert abs(float(line["bound"]) - 100 * (1 - lost * 7 / 8)) < 0.2
    text = paths.markdown.read_text(encoding="utf-8")
    assert f"best possible solver is expected to find {float(line['bound']):.2f}% of" in text
    assert "in the mode `paper`" in text


def test_the_data_and_the_training_of_a_table_can_be_chosen(tmp_path, monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(Trainer, "run", lambda self, **_: seen.append(self.settings))
    monkeypatch.chdir(tmp_path)
    chosen = ["--data", "mode=well-posed", "positions=24", "--settings", "batch=2", "rate=0.5"]
    assert main(["table", "3", "--rows", "lambda", *chosen]) == 0
    folder = tmp_path / "table-3-mini-well-posed-24"
    with open_dataset(folder / "data" / "color-code.h5") as data:
        config: Any = data.config
        assert (config.mode, config.positions, config.colors) == (
            "well-posed",
            24,
            TINY[3]["colors"],
        )
    text = (folder / "table.md").read_text(encoding="utf-8")
    assert "24 positions and 3 colours" in text
    assert "in the mode `well-posed`: all masked codes can be found." in text
    assert "| 100.00 |" in text
    assert [(settings.batch, settings.rate) for settings in seen] == [(2, 0.5)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--data", "mode=other"], "mode is 'other'"),
        (["--data", "side=3"], "'side' is not a setting"),
        (["--data", "mode"], "--data mode is not of the form NAME=VALUE"),
        (["--settings", "speed=3"], "'speed' is not a setting"),
        (["--settings", "seed=3"], "seed is decided by the table"),
        (["--settings", "width=abc"], "width is 'abc'"),
        (["--settings", "width=0"], "width is 0"),
        (["--settings", "width=[1]"], "width is [1]"),
        (["--jobs", "0"], "jobs is 0"),
    ],
)
def test_other_data_and_settings_of_a_table_are_refused(
    tmp_path, monkeypatch, capsys, given: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["table", "3", "--rows", "lambda", *given]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("setting", ["width=-4", "down_samplings=x", "down_samplings=-1"])
def test_sizes_that_no_u_net_has_are_refused(tmp_path, monkeypatch, capsys, setting: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["table", "1", "--rows", "lambda-pe", "--settings", setting]) == 2
    assert f"{setting.partition('=')[0]} is " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_trained_in_another_way_is_not_lost(tmp_path, monkeypatch) -> None:
    rows = ["lambda-pe", "lambda-local-7"]
    make_table(2, "mini", tmp_path, rows=rows[1:], epochs=2, machine=QUIET)
    kept = tmp_path / "runs" / "lambda-local-7-0"
    before = {path.name: path.read_bytes() for path in kept.iterdir() if path.is_file()}
    monkeypatch.setattr(Trainer, "run", None)  # nor is another row trained
    with pytest.raises(SynthprobeError, match="7-0 has a run with other settings: remove it, or"):
        make_table(2, "mini", tmp_path, rows=rows, epochs=1, machine=QUIET)
    (kept / "result.json").unlink()
    del before["result.json"]
    with pytest.raises(SynthprobeError, match="7-0 has a run with other settings: remove it, or"):
        make_table(2, "mini", tmp_path, rows=rows, epochs=1, machine=QUIET)
    assert before == {path.name: path.read_bytes() for path in kept.iterdir() if path.is_file()}


def test_a_table_has_only_what_was_trained_on_its_data(tmp_path) -> None:
    make_table(3, "mini", tmp_path, rows=["lambda"], epochs=1, machine=QUIET)
    (tmp_path / "data" / "color-code.h5").unlink()
    posed = {"mode": "well-posed"}
    rows = ["lambda-tt"]
    paths = make_table(3, "mini", tmp_path, rows=rows, epochs=1, config=posed, machine=QUIET)
    with open(paths.csv, newline="", encoding="utf-8") as file:
        assert [line["name"] for line in csv.DictReader(file)] == rows
    with pytest.raises(SynthprobeError, match="lambda-0 has a run on other data: remove it, or"):
        make_table(3, "mini", tmp_path, rows=["lambda"], epochs=1, config=posed, machine=QUIET)


def test_a_complete_run_counts_whatever_else_of_its_folder_is_damaged(tmp_path) -> None:
    make = partial(make_table, 3, "mini", tmp_path, rows=["lambda"], epochs=1, machine=QUIET)
    text = make().markdown.read_text(encoding="utf-8")
    run = tmp_path / "runs" / "lambda-0"
    (run / "settings.json").write_text('{"name": "la')
    (run / "log.csv").write_bytes(b"\xff\xfe a,b\n1,2\n")
    assert make().markdown.read_text(encoding="utf-8") == text
    for damaged in ("{}", '{"name": "lambda"}', "[", "3"):
        (run / "result.json").write_text(damaged)
        again = make().markdown.read_text(encoding="utf-8")  # the checkpoint is still there
        assert again.partition("| Lambda;")[2].split("|")[1] in text


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_row_that_diverges_does_not_cost_the_others(tmp_path, capsys, jobs: int) -> None:
    words = ["--settings", "optimizer=sgd", "rate=100", "weight_decay=0", "--epochs", "60"]
    words += ["--rows", "lambda-pe", "mlp-mixer", "--jobs", str(jobs), "--out", str(tmp_path)]
    assert main(["table", "2", *words]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "lambda-pe, seed 0: the loss is" in error
    assert "mlp-mixer, seed 0: the loss is" in error
    assert "Not finished: " in (tmp_path / "table.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [["table", "2"], ["profile", "lambda"]])
def test_a_folder_that_cannot_be_made_gets_one_sentence(tmp_path, capsys, command) -> None:
    (tmp_path / "taken").write_text("kept")
    for out in (tmp_path / "taken", tmp_path / "taken" / "in"):
        assert main([*command, "--out", str(out)]) == 2
        error = capsys.readouterr().err
        assert f"the folder {out} could not be made" in error
        assert error.count("\n") == 1
    assert (tmp_path / "taken").read_text() == "kept"


def test_a_row_that_is_not_in_the_table_and_data_of_others_are_refused(tmp_path) -> None:
    with pytest.raises(SynthprobeError, match="table 2 has no row 'unet': take of lambda-cosine"):
        make_table(2, "mini", tmp_path, rows=["unet"])
    make_table(2, "mini", tmp_path, rows=["lambda-pe"], epochs=1, machine=QUIET)
    with pytest.raises(SynthprobeError, match="other settings than are needed here"):
        data_file("centered-square", find_table(2).data["paper"], tmp_path / "data")


MINE = """
from torch import nn
from synthprobe_models import structure

@structure("{name}", title="Mine", dimensions=[2])
class Mine(nn.Conv2d):
    def __init__(self, channels, shape):
        super().__init__(channels, channels, 3, padding=1)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_structure_of_ones_own_is_a_further_row_and_is_found_again(
    tmp_path, monkeypatch, jobs: int
) -> None:
    name = f"mine{jobs}"
    (tmp_path / "mine.py").write_text(MINE.format(name=name))
    out = tmp_path / "table"
    words = ["table", "2", "--epochs", "1", "--out", str(out), "--jobs", str(jobs)]
    load = ["--load", str(tmp_path / "mine.py")]
    try:
        assert main([*words, *load, "--rows", name, "transformer"]) == 0
        monkeypatch.setattr(Trainer, "run", None)
        paths = make_table(2, "mini", out, rows=[name], epochs=1, machine=QUIET)
        with open(paths.csv, newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        assert [line["name"] for line in lines] == ["transformer", name]
        assert {line["paper_test_iou"] + line["paper_parameters"] for line in lines} == {""}
        text = paths.markdown.read_text(encoding="utf-8")
        (row,) = [line.split(" | ") for line in text.splitlines() if line.startswith("| Mine")]
        assert [row[2], row[4], row[6]] == ["-", "-", "-"]
        (out / "runs" / f"{name}-0" / "result.json").unlink()
        monkeypatch.setattr(Trainer, "run", lambda self, **_: None)
        paths = make_table(2, "mini", out, rows=["lambda-pe"], epochs=1, machine=QUIET)
        assert "Not finished: Mine, seed 0 (1 of 1 epochs)." in paths.markdown.read_text()
    finally:
        STRUCTURES.pop(name, None)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_row_whose_structure_was_edited_is_trained_again_if_it_is_asked_for(
    tmp_path, capsys, jobs: int
) -> None:
    name = f"edited{jobs}"
    file, out = tmp_path / f"{name}.py", tmp_path / "table"
    file.write_text(MINE.format(name=name))
    words = ["table", "2", "--epochs", "1", "--out", str(out), "--jobs", str(jobs)]
    words += ["--load", str(file)]
    try:
        assert main([*words, "--rows", name, "lambda-pe", "--seeds", "2"]) == 0
        before = RunFolder(out / "runs" / f"{name}-0").read_result()
        assert before is not None
        # A worker that has loaded the file before would not load it anew.
        name = f"again{jobs}"
        for run in ("-0", "-1"):
            (out / "runs" / f"edited{jobs}{run}").rename(out / "runs" / f"{name}{run}")
        for path in (out / "runs").glob(f"{name}-*/*.json"):
            path.write_text(path.read_text().replace(f"edited{jobs}", name))
        STRUCTURES.pop(f"edited{jobs}")
        file.write_text(MINE.format(name=name))
        capsys.readouterr()
        assert main([*words, "--rows", "lambda-pe"]) == 0
        assert "kept, 1 of 1: centered-square, lambda-pe (seed 0)" in capsys.readouterr().err
        text = (out / "table.md").read_text(encoding="utf-8")
        assert "| Mine † |" in text
        assert f"† Mine: {name} was edited since, and not trained again." in text
        STRUCTURES.pop(name)
        assert main([*words, "--rows", name, "lambda-pe"]) == 0
        said = capsys.readouterr().err
        assert f"{name} was edited since: trained again: centered-square, {name} (seed 0)" in said
        text = (out / "table.md").read_text(encoding="utf-8")
        assert "†" not in text
        after = RunFolder(out / "runs" / f"{name}-0").read_result()
        assert after is not None
        assert after["key"] != before["key"]
        # Seed 1 was not asked for again, and is not mixed with what was trained now.
        (row,) = [line.split(" | ") for line in text.splitlines() if line.startswith("| Mine")]
        assert row[-2] == "0"
        assert RunFolder(out / "runs" / f"{name}-0.earlier-1").read_result() is not None
    finally:
        STRUCTURES.pop(name, None)


def test_a_further_row_of_the_codes_has_their_ceiling(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Trainer, "run", lambda self, **_: None)
    paths = make_table(3, "mini", tmp_path, rows=["encoder-pre-norm"], machine=QUIET)
    assert "the best possible solver is expected" in paths.markdown.read_text(encoding="utf-8")


def test_a_table_without_runs_is_refused(tmp_path) -> None:
    with pytest.raises(SynthprobeError, match="seeds is 0: it must be 1 or more"):
        make_table(2, "mini", tmp_path, seeds=0)


def test_rows_have_keys_of_their_own() -> None:
    for number in (1, 2, 3):
        keys = [row.key for row in find_rows(number)]
        assert len(set(keys)) == len(keys)


def test_the_spread_is_shown_when_there_are_several_seeds() -> None:
    assert with_spread([1.0]) == "1.00"
    assert with_spread([1.0, 2.0]) == "1.50 ± 6.35 (1.00 to 2.00)"
