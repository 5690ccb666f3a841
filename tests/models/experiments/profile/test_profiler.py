"""Profiles and their matrix, made from tiny data."""

from __future__ import annotations

import csv
import dataclasses
import json
from functools import partial
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import ColorCodeConfig  # noqa: E402
from synthprobe_data.color_code import ceiling  # noqa: E402
from synthprobe_models.cli import train_actions  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.experiments.profile import profiler as profiles  # noqa: E402
from synthprobe_models.inspection.inspect import inspect  # noqa: E402
from synthprobe_models.probes import PROBES, ability_of  # noqa: E402
from synthprobe_models.probes.probe import PresetData  # noqa: E402
from synthprobe_models.registry import STRUCTURES, structure  # noqa: E402
from synthprobe_models.training.trainer import Trainer  # noqa: E402

MINE = r"""
from torch import nn
from synthprobe_models import structure

@structure("mine")
class Mine(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        self.join = nn.Linear(channels, channels)
    def forward(self, x):
        return self.join(x.movedim(1, -1)).movedim(-1, 1)

@structure("mine-broken", dimensions=[2])
class Broken(Mine):
    def forward(self, x):
        raise ValueError("a | b $\\frac{1$")
"""
TINY = {
    "twins": PresetData(
        config={"height": 8, "width": 40, "min_distance": 18},
        sizes={"train": 6, "validation": 0, "test": 4},
        further={"8 x 48": {"width": 48}},
    ),
    "centered-square": PresetData(config={"height": 8, "width": 8, "square": 3}),
    "color-code": PresetData(config={"positions": 8, "colors": 2}, sizes={"train": 4, "test": 2}),
}


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, unchanged_registry) -> None:
    for name, data in TINY.items():
        few = dataclasses.replace(ability_of(name), seeds=2 if name == "twins" else 1)
        data_of = {**PROBES[name].data, "quick": data}
        tiny = dataclasses.replace(PROBES[name], ability=few, data=data_of)
        monkeypatch.setitem(PROBES._loaded, name, tiny)
    monkeypatch.setattr(profiles, "inspect", partial(inspect, shape=(8, 8), width=4))
    monkeypatch.setattr(train_actions, "cores", lambda: 1)  # what is patched stays in this process


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my_structures.py"
    path.write_text(MINE, encoding="utf-8")
    return path


def test_a_structure_of_ones_own_is_profiled_and_nothing_is_trained_twice(
    tmp_path: Path, mine: Path, monkeypatch, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    assert main(words) == 0
    page = (out / "mine.md").read_text(encoding="utf-8")
    said = capsys.readouterr()
    assert page in said.out
    runs = [line.partition(", loss ")[0] for line in said.err.splitlines() if ": epoch " in line]
    assert runs == [  # in the order in which the page has the abilities
        "centered-square, mine, seed 1 of 1, 1 of 4: epoch 1 of 1",
        "color-code, mine, seed 1 of 1, 2 of 4: epoch 1 of 1",
        "twins, mine, seed 1 of 2, 3 of 4: epoch 1 of 1",
        "twins, mine, seed 2 of 2, 4 of 4: epoch 1 of 1",
    ]
    assert "mine: checks without training" in said.err.splitlines()
    facts = json.loads((out / "mine.json").read_text(encoding="utf-8"))
    assert facts["abilities"].keys() == TINY.keys()
    for probe in TINY:
        ability = ability_of(probe)
        found = facts["abilities"][probe]
        assert f"| {ability.name} | {probe} | **{found['answer']}** |" in page
        assert ability.rule in page
        assert not found["lower_is_better"]
        assert f"| {ability.title} ↑ |" in page
        run = json.loads((out / "runs" / probe / "mine-0" / "result.json").read_text())
        assert found["evidence"]["test"][0] == run["test"][ability.measure]
    reached = facts["abilities"]["twins"]
    assert len(reached["evidence"]["more"]["near_accuracy"]) == 2
    # Each position by itself: blind beyond the local blocks, whatever it has learnt.
    assert reached["evidence"]["test"] == [0.5, 0.5]
    assert [r["further"]["8 x 48"]["test"]["far_accuracy"] for r in reached["results"]] == [0.5] * 2
    assert {found["answer"] for found in facts["abilities"].values()} == {"too few seeds"}
    assert facts["inspection"]["sights"][0]["permutation_equivariant"]
    assert (out / "mine.png").read_bytes().startswith(b"\x89PNG")
    for name in ("mine", "mine-broken"):
        del STRUCTURES[name]
    monkeypatch.setattr(Trainer, "run", None)
    monkeypatch.setattr(profiles, "inspect", None)
    assert main(words) == 0
    assert (out / "mine.md").read_text(encoding="utf-8") == page
    # From the records alone, without run folders and data.
    for name in ("mine", "mine-broken"):
        del STRUCTURES[name]
    monkeypatch.setattr(profiles, "inspect", partial(inspect, shape=(8, 8), width=4))
    again = tmp_path / "again"
    for path in (out / "runs").glob("*/*.json"):
        (again / "runs" / path.parent.name).mkdir(parents=True, exist_ok=True)
        (again / "runs" / path.parent.name / path.name).write_bytes(path.read_bytes())
    load = ["--load", str(mine), "--out", str(again)]
    assert main(["profile", "mine", "--pages", *load]) == 0
    assert (again / "mine.md").read_text(encoding="utf-8") == page
    assert not (again / "data").exists()
    capsys.readouterr()
    assert main(["profile", "lambda", "--pages", "--out", str(again)]) == 2
    assert "has no results of these structures." in capsys.readouterr().err


def test_the_matrix_says_what_failed_and_what_does_not_fit_and_goes_on(
    tmp_path: Path, mine: Path, capsys
) -> None:
    out = tmp_path / "out"
    for name in list(STRUCTURES):
        if name != "global-average-pooling":
            del STRUCTURES[name]
    words = ["profile", "--all", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    assert main([*words, "--probes", "color-code", "centered-square", "--seeds", "2"]) == 0
    with open(out / "matrix.csv", newline="", encoding="utf-8") as file:
        rows = {(row["structure"], row["probe"]): row for row in csv.DictReader(file)}
    assert len(rows) == 6
    assert rows["mine-broken", "color-code"]["because"].startswith("does not fit")
    assert "ValueError (a | b $\\frac{1$)" in rows["mine-broken", "centered-square"]["because"]
    assert rows["mine", "centered-square"]["seeds"] == "2"
    assert rows["mine", "centered-square"]["answer"] == "too few seeds"
    text = (out / "matrix.md").read_text(encoding="utf-8")
    # What was trained and what was not are never called alike.
    assert " | paints anywhere (IOU ↑, where trained / elsewhere ± half of its 95% " in text
    assert " | translation covariant, untrained | " in text
    assert "ranslation covariance" not in text
    assert "| mine-broken | does not fit | failed |" in text
    (line,) = [line for line in text.splitlines() if line.startswith("- mine-broken, ")]
    assert line.startswith("- mine-broken, centered-square: failed: ")
    assert "ValueError (a \\| b $\\frac{1$)" in line
    assert "| global-average-pooling | **" in text
    assert (out / "matrix.png").read_bytes().startswith(b"\x89PNG")
    assert "could not be inspected" in (out / "mine-broken.md").read_text(encoding="utf-8")
    assert "mine-broken: color-code not tried" in capsys.readouterr().out


def test_every_code_of_a_profile_can_be_found(tmp_path: Path) -> None:
    for size in ("quick", "mini"):
        data = PROBES["color-code"].samples(size)
        assert ceiling(ColorCodeConfig.from_dict(dict(data.config))) == 1


def test_structures_of_a_kind_are_built_alike_with_the_preset_mini(tmp_path: Path) -> None:
    profiler = profiles.Profiler(out=tmp_path, size="mini")
    kinds = [name for name in STRUCTURES if name.startswith("lambda")]
    options = {name: profiler.options(name, "twins") for name in STRUCTURES}
    assert {(options[name]["heads"], options[name]["keys"]) for name in kinds} == {(2, 32)}
    assert options["transformer"] == {"heads": 2}
    assert options["lambda-local-7"] == {"heads": 2, "keys": 32, "window": 3}
    assert options["mlp-mixer"] == {}


def test_a_structure_that_says_its_heads_needs_no_other_place(tmp_path: Path) -> None:
    build = STRUCTURES["transformer"].build
    structure("new-attention", options={"rde": {"heads": 4}})(build)
    options = profiles.Profiler(out=tmp_path).options("new-attention", "twins")
    assert options == {"heads": 2}


def test_a_damaged_folder_is_not_put_down_to_the_structure(
    tmp_path: Path, mine: Path, monkeypatch, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--out", str(out), "--probes", "centered-square", "--epochs", "1"]
    assert main([*words, "--load", str(mine)]) == 0
    run = out / "runs" / "centered-square" / "mine-0"
    (run / "result.json").unlink()
    (run / "checkpoint.pt").write_bytes((run / "checkpoint.pt").read_bytes()[:100])
    assert main(words) == 2
    assert "is not a checkpoint of synthprobe, or it is damaged" in capsys.readouterr().err
    assert main([*words[:-1], "2"]) == 2
    assert "mine-0 has a run with other settings" in capsys.readouterr().err


def test_a_run_with_other_settings_is_neither_kept_nor_gone_on_with(
    tmp_path: Path, mine: Path, capsys
) -> None:
    words = ["profile", "mine", "--load", str(mine), "--out", str(tmp_path / "out")]
    words += ["--probes", "centered-square", "--epochs"]
    assert main([*words, "1"]) == 0
    page = (tmp_path / "out" / "mine.md").read_bytes()
    for name in ("mine", "mine-broken"):
        del STRUCTURES[name]
    capsys.readouterr()
    assert main([*words, "2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "mine-0 has a run with other settings: remove it, or take another folder." in line
    assert (tmp_path / "out" / "mine.md").read_bytes() == page


def test_force_trains_again(tmp_path: Path, mine: Path, monkeypatch) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--out", str(out), "--probes", "centered-square", "--epochs", "1"]
    assert main([*words, "--load", str(mine)]) == 0
    trained = []
    run = Trainer.run

    def note(self: Trainer, *, resume: bool = False) -> None:
        trained.append(self.settings.name)
        run(self, resume=resume)

    monkeypatch.setattr(Trainer, "run", note)
    assert main([*words, "--force"]) == 0
    assert trained == ["mine"]


def test_runs_side_by_side_give_the_same_profile_and_say_what_failed(
    tmp_path: Path, mine: Path, monkeypatch, capfd
) -> None:
    words = ["profile", "mine", "mine-broken", "--load", str(mine), "--epochs", "1", "--seeds", "2"]
    words += ["--probes", "centered-square", "color-code"]
    found = []
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        assert main([*words, "--jobs", jobs, "--out", str(out)]) == 0
        for name in ("mine", "mine-broken"):
            del STRUCTURES[name]
        found.append([json.loads((out / f"{name}.json").read_text()) for name in words[1:3]])
    said = capfd.readouterr().err
    assert said.count("color-code, mine, seed 2 of 2, 4 of 6: complete, test loss") == 1
    # Only the runs that fail are tried again in this process, which says why.
    one, two = found
    failed = "ValueError (a | b $\\frac{1$)"
    for profile in one, two:
        assert failed in profile[1]["abilities"]["centered-square"]["because"]
    for probe, cell in one[0]["abilities"].items():
        beside = two[0]["abilities"][probe]
        assert {name: cell[name] for name in cell if name != "results"} == {
            name: beside[name] for name in beside if name != "results"
        }
        for left, right in zip(cell["results"], beside["results"], strict=True):
            assert left["train"] == right["train"]
            assert left["test"] == right["test"]
    monkeypatch.setattr(Trainer, "run", None)
    out = tmp_path / "2"
    complete = [*words[:2], *words[3:], "--jobs", "2", "--out", str(out)]
    assert main(complete) == 0
    assert not (out / "runs" / "color-code" / "mine-0" / "pictures").exists()


def load_again(mine: Path, **edits: tuple[str, str]) -> None:
    """Edit a file of structures as its author would, so that the next command loads it anew."""
    text = mine.read_text(encoding="utf-8")
    for before, after in edits.values():
        assert before in text
        text = text.replace(before, after)
    mine.write_text(text, encoding="utf-8")
    for name in ("mine", "mine-broken"):
        STRUCTURES.pop(name, None)


@pytest.fixture
def trained(monkeypatch) -> list[tuple[str, str]]:
    """Every run that is trained: its name and its probe."""
    found: list[tuple[str, str]] = []
    run = Trainer.run

    def note(self: Trainer, *, resume: bool = False) -> None:
        found.append((self.settings.name, self.settings.probe))
        run(self, resume=resume)

    monkeypatch.setattr(Trainer, "run", note)
    return found


EDIT = ("return self.join(", "return 2 * self.join(")


def test_an_edited_structure_is_trained_and_inspected_again_and_that_is_said(
    tmp_path: Path, mine: Path, trained, monkeypatch, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    words += ["--probes", "twins", "color-code"]
    assert main(words) == 0
    assert "kept" not in capsys.readouterr().err
    before = json.loads((out / "mine.json").read_text())["abilities"]
    trained.clear()
    load_again(mine, edit=EDIT)
    looks = []
    monkeypatch.setattr(
        profiles, "inspect", lambda name: looks.append(name) or inspect(name, shape=(8, 8), width=4)
    )
    assert main(words) == 0
    said = capsys.readouterr().err
    assert (
        "mine was edited since: trained again: twins, mine (seed 0, 1); color-code, mine (" in said
    )
    assert trained == [("mine", "twins"), ("mine", "twins"), ("mine", "color-code")]
    assert looks == ["mine"]
    after = json.loads((out / "mine.json").read_text())["abilities"]
    assert after["twins"]["results"][0]["test"] != before["twins"]["results"][0]["test"]
    aside = out / "runs" / "twins" / "mine-0.earlier-1" / "result.json"
    assert json.loads(aside.read_text()) == before["twins"]["results"][0]
    trained.clear()
    load_again(mine)
    assert main(words) == 0
    assert trained == []
    assert "kept, 3 of 3" in capsys.readouterr().err


def test_a_run_that_was_interrupted_before_an_edit_is_begun_anew(
    tmp_path: Path, mine: Path, trained, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    words += ["--probes", "color-code"]
    assert main(words) == 0
    (out / "runs" / "color-code" / "mine-0" / "result.json").unlink()
    load_again(mine)
    assert main(words) == 0
    assert "goes on: color-code, mine (seed 0)" in capsys.readouterr().err
    (out / "runs" / "color-code" / "mine-0" / "result.json").unlink()
    load_again(mine, edit=EDIT)
    assert main(words) == 0
    assert "mine was edited since: trained again" in capsys.readouterr().err
    assert (out / "runs" / "color-code" / "mine-0.earlier-1" / "checkpoint.pt").exists()


def test_runs_that_do_not_say_what_they_are_made_from_are_trained_again(
    tmp_path: Path, mine: Path, trained, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    words += ["--probes", "color-code"]
    assert main(words) == 0
    result = out / "runs" / "color-code" / "mine-0" / "result.json"
    facts = json.loads(result.read_text())
    for key, said in (
        (None, "it does not say which source it was made from: trained again"),
        ({**facts["key"], "version": "0.0.9"}, "it was made by synthprobe 0.0.9"),
    ):
        result.write_text(json.dumps({**facts, "key": key}))
        trained.clear()
        load_again(mine)
        assert main(words) == 0
        assert said in capsys.readouterr().err
        assert trained == [("mine", "color-code")]


def test_probes_that_are_not_asked_for_stay_on_the_page_and_in_the_matrix(
    tmp_path: Path, mine: Path, trained, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    few = ["--probes", "color-code", "centered-square"]
    assert main([*words, "--seeds", "2", "mine", "global-average-pooling", *few]) == 0
    page = (out / "mine.md").read_text(encoding="utf-8")
    matrix = (out / "matrix.md").read_text(encoding="utf-8")
    trained.clear()
    load_again(mine)
    assert main([*words, "mine", "--probes", "color-code"]) == 0
    assert trained == []
    assert (out / "mine.md").read_text(encoding="utf-8") == page  # with both seeds
    assert (out / "matrix.md").read_text(encoding="utf-8") == matrix
    load_again(mine, edit=EDIT)
    assert main([*words, "mine", "--probes", "color-code"]) == 0
    page = (out / "mine.md").read_text(encoding="utf-8")
    assert "| centered-square | **too few seeds** † |" in page
    assert "- † mine was edited since, and not tried again: mine on centered-square" in page
    found = json.loads((out / "mine.json").read_text())["abilities"]
    assert found["centered-square"]["outdated"] == "mine was edited since"
    assert found["color-code"]["outdated"] is None
    assert "mine on centered-square" in (out / "matrix.md").read_text(encoding="utf-8")
    load_again(mine)
    assert main([*words, "mine"]) == 0
    assert "†" not in (out / "mine.md").read_text(encoding="utf-8")
    text = (out / "matrix.md").read_text(encoding="utf-8")
    assert "| global-average-pooling | **" in text
    assert "| not tried |" in text  # on twins, which only one was asked for


def test_pages_written_again_say_of_which_runs_the_structure_was_edited_since(
    tmp_path: Path, mine: Path, trained, capsys
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    few = ["--probes", "color-code", "centered-square"]
    assert main([*words, *few]) == 0
    page = (out / "mine.md").read_text(encoding="utf-8")
    load_again(mine)
    assert main([*words, "--pages"]) == 0
    assert "†" not in (out / "mine.md").read_text(encoding="utf-8")
    assert "edited since" not in page
    load_again(mine, edit=EDIT)
    assert main([*words, "--probes", "color-code"]) == 0
    for more in ([], ["--probes", "centered-square"]):
        load_again(mine)
        assert main([*words, "--pages", *more]) == 0
        text = (out / "mine.md").read_text(encoding="utf-8")
        assert "- † mine was edited since, and not tried again: mine on centered-square\n" in text
        found = json.loads((out / "mine.json").read_text())["abilities"]
        assert found["centered-square"]["outdated"] == "mine was edited since"
        assert found["centered-square"]["structure"] != found["color-code"]["structure"]
        assert found["color-code"]["outdated"] is None


def test_a_page_that_cannot_be_read_again_is_written_anew(
    tmp_path: Path, mine: Path, trained
) -> None:
    out = tmp_path / "out"
    words = ["profile", "mine", "--load", str(mine), "--out", str(out), "--epochs", "1"]
    words += ["--probes", "color-code"]
    assert main(words) == 0
    facts = json.loads((out / "mine.json").read_text())
    cell = facts["abilities"]["color-code"]
    for damaged in (
        "[",
        "[]",
        "{}",
        json.dumps({**facts, "abilities": {"centered-square": {**cell, "answer": "maybe"}}}),
        json.dumps({**facts, "abilities": {"centered-square": {**cell, "results": [{}]}}}),
        json.dumps({**facts, "abilities": {"centered-square": {**cell, "evidence": {"x": 1}}}}),
        json.dumps({**facts, "preset": "mini"}),
    ):
        (out / "mine.json").write_text(damaged)
        load_again(mine)
        assert main(words) == 0
        assert json.loads((out / "mine.json").read_text())["abilities"].keys() == {"color-code"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name the structures to profile, or take --all"),
        (["lambda", "--all"], "name the structures to profile, or take --all"),
        (["lambda-ep"], "did you mean lambda-pe"),
        (["unet"], "unet is a whole network"),
        (["lambda", "--seeds", "0"], "seeds is 0"),
        (["lambda", "--probes", "cs"], "there is no probe 'cs'"),
        (["lambda", "--probes", "rde"], "profiles do not ask rde: take of twins, "),
        (["lambda", "--threads", "0"], "threads is 0"),
        (["lambda", "--jobs", "0"], "jobs is 0"),
        (["lambda", "--epochs", "-1"], "epochs is -1"),
    ],
)
def test_bad_input_is_said_in_a_sentence(
    tmp_path: Path, words: list[str], said: str, capsys
) -> None:
    assert main(["profile", "--out", str(tmp_path / "out"), *words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
