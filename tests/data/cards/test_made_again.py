"""What a card says of the samples is known, or worded as what the files state."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    SynthprobeError,
    make_file,
)
from synthprobe_data.cards.write import write_cards
from synthprobe_data.cli.shards import main
from synthprobe_data.config import Config
from tests.data.shards import forged

SMALL: dict[str, Config] = {
    "rde": RdeConfig(height=40, width=32, n_rectangles=3, n_vis=3, n_gap=2, n_par=3),
    "centered-square": CenteredSquareConfig(height=33, width=33, square=9),
    "color-code": ColorCodeConfig(positions=32),
}
MAKES = "This command makes the same samples"
MADE_AGAIN = "every sample was made again from settings, seed, split and index"
STATED = "though nobody made the samples again to compare"
NOT_MADE_AGAIN = "the samples were not made again with the same bytes"


def make(name: str, path: Path) -> Path:
    make_file(name, path, train=6, test=3, seed=4, config=SMALL[name], workers=1, cards=False)
    return path


def assert_known(card: str) -> None:
    assert MAKES in card
    assert STATED not in card
    assert NOT_MADE_AGAIN not in card


def assert_stated(card: str) -> None:
    assert MAKES not in card
    assert MADE_AGAIN not in card
    assert STATED in card
    assert NOT_MADE_AGAIN in card


@pytest.mark.parametrize("name", SMALL)
def test_the_command_makes_all_samples_again_before_it_says_so(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(name, tmp_path / "a.h5")
    assert main(["verify", str(path)]) == 0  # compiles what is not compiled yet, and says so
    capsys.readouterr()
    assert main(["card", str(path)]) == 0
    card = path.with_suffix(".md").read_text("utf-8")
    assert_known(card)
    assert MADE_AGAIN in card
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "change",
    [
        forged.set_seed,
        forged.move_boundary,
        partial(forged.exchange, one=1, other=4),
        lambda file: file.attrs.update(version=np.bytes_("0.0.1")),
        lambda file: file["rank"].__setitem__((2, 0, 0), 9),
    ],
    ids=["seed", "boundary", "rows", "version", "broken rule"],
)
def test_what_is_not_so_is_worded_as_stated_and_said(
    tmp_path: Path, change: forged.Change, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make("rde", tmp_path / "a.h5")
    forged.forge(path, change)
    assert main(["card", str(path)]) == 0
    assert_stated(path.with_suffix(".md").read_text("utf-8"))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "not all of its samples could be made again" in said


def test_a_stale_card_is_no_reason_for_doubt(tmp_path: Path) -> None:
    path = make("rde", tmp_path / "a.h5")
    assert main(["card", str(path)]) == 0
    with h5py.File(path, "r+") as file:
        file.attrs["comment"] = np.bytes_("another hash than the Croissant file has")
    assert main(["card", str(path), "--force"]) == 0
    assert_known(path.with_suffix(".md").read_text("utf-8"))


def test_a_run_knows_what_it_made_and_an_edit_does_not(tmp_path: Path) -> None:
    name, path = "rde", tmp_path / "a.h5"
    make_file(name, path, train=6, test=3, seed=4, config=SMALL[name], workers=1)
    card = path.with_suffix(".md").read_text("utf-8")
    assert_known(card)
    assert MADE_AGAIN not in card
    folder = tmp_path / "folder"
    assert main(["split", str(path), "--out", str(folder), "--shards", "3"]) == 0
    assert_stated((folder / "README.md").read_text("utf-8"))
    assert main(["card", str(folder), "--force"]) == 0
    card = (folder / "README.md").read_text("utf-8")
    assert_known(card)
    assert MADE_AGAIN in card


def test_without_a_check_the_card_says_what_the_file_states(tmp_path: Path) -> None:
    path = make("rde", tmp_path / "a.h5")
    write_cards(path)
    assert_stated(path.with_suffix(".md").read_text("utf-8"))


def test_an_existing_card_is_refused_before_any_sample_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make("rde", tmp_path / "a.h5")
    path.with_suffix(".md").write_text("mine")

    def never(*_: object, **__: object) -> None:
        raise SynthprobeError("it was verified.")

    monkeypatch.setattr("synthprobe_data.verification.verify.verify", never)
    assert main(["card", str(path)]) == 2
    assert "exists and is left as it is" in capsys.readouterr().err


def test_what_is_no_dataset_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.h5").write_bytes(b"nonsense")
    for name in ("a.h5", "missing.h5"):
        assert main(["card", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]
