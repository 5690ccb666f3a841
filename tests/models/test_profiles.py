"""Profiles and their matrix, made from tiny data."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import ColorCodeConfig  # noqa: E402
from synthprobe_data.color_code import ceiling  # noqa: E402
from synthprobe_models import profiles  # noqa: E402
from synthprobe_models.abilities import ABILITIES  # noqa: E402
from synthprobe_models.cli import main  # noqa: E402
from synthprobe_models.inspection import inspect  # noqa: E402
from synthprobe_models.registry import STRUCTURES  # noqa: E402
from synthprobe_models.tables import TableData  # noqa: E402
from synthprobe_models.train import Trainer  # noqa: E402

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
    "rde": TableData(
        config={"height": 16, "width": 16, "n_rectangles": 2, "n_vis": 2, "n_gap": 2, "n_par": 2},
        sizes={"train": 4, "test": 2},
    ),
    "centered-square": TableData(config={"height": 8, "width": 8, "square": 3}),
    "color-code": TableData(config={"positions": 8, "colors": 2}, sizes={"train": 4, "test": 2}),
}


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, unchanged_registry) -> None:
    monkeypatch.setattr(profiles, "QUICK", TINY)
    monkeypatch.setattr(profiles, "BASELINE_SEEDS", 2)
    monkeypatch.setattr(profiles, "inspect", partial(inspect, shape=(8, 8), width=4))


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
    assert page in capsys.readouterr().out
    facts = json.loads((out / "mine.json").read_text(encoding="utf-8"))
    for probe, ability in ABILITIES.items():
        found = facts["abilities"][probe]
        assert f"| {ability.name} | {probe} | **{found['answer']}** |" in page
        assert ability.rule in page
        run = json.loads((out / "runs" / probe / "mine-0" / "result.json").read_text())
        assert found["evidence"]["test"] == [run["test"][ability.measure]]
    assert len(facts["abilities"]["rde"]["evidence"]["baseline"]) == 2
    assert facts["abilities"]["centered-square"]["answer"] == "no"  # each position by itself
    assert facts["inspection"]["sights"][0]["permutation_equivariant"]
    assert (out / "mine.png").read_bytes().startswith(b"\x89PNG")
    for name in ("mine", "mine-broken"):
        del STRUCTURES[name]
    monkeypatch.setattr(Trainer, "run", None)
    monkeypatch.setattr(profiles, "inspect", None)
    assert main(words) == 0
    assert (out / "mine.md").read_text(encoding="utf-8") == page


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
    assert rows["mine", "centered-square"]["answer"] == "no"
    text = (out / "matrix.md").read_text(encoding="utf-8")
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
        data = profiles.Profiler(out=tmp_path, size=size).data("color-code")
        assert ceiling(ColorCodeConfig.from_dict(dict(data.config))) == 1


def test_structures_of_a_kind_are_built_alike_with_the_preset_mini(tmp_path: Path) -> None:
    options = profiles.Profiler(out=tmp_path, size="mini").data("rde").options
    kinds = [name for name in STRUCTURES if name.startswith("lambda")]
    assert {(options[name]["heads"], options[name]["keys"]) for name in kinds} == {(2, 32)}


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name the structures to profile, or take --all"),
        (["lambda", "--all"], "name the structures to profile, or take --all"),
        (["lambda-ep"], "did you mean lambda-pe"),
        (["unet"], "unet is a whole network"),
        (["lambda", "--seeds", "0"], "seeds is 0"),
        (["lambda", "--probes", "cs"], "there is no probe 'cs'"),
        (["lambda", "--threads", "0"], "threads is 0"),
        (["lambda", "--epochs", "-1"], "epochs is -1"),
    ],
)
def test_bad_input_is_said_in_a_sentence(
    tmp_path: Path, words: list[str], said: str, capsys
) -> None:
    assert main(["profile", "--out", str(tmp_path / "out"), *words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
