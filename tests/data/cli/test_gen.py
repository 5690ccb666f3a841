"""The command: what it makes, and one clear sentence with exit code 2 for what it cannot make."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import pytest

from synthprobe_data import open_dataset
from synthprobe_data.cli.gen import main

QUICK = (
    *("--height", "24", "--width", "24", "--n-rectangles", "3", "--train", "4", "--test", "2"),
    *("--n-vis", "3", "--n-gap", "3", "--n-par", "3"),
)


def test_the_command_writes_the_file_and_says_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rde.h5"
    assert main(["rde", "--out", str(path), *QUICK]) == 0
    with h5py.File(path) as file:
        assert file["image"].shape == (6, 24, 24, 3)
        digest = file.attrs["content_digest"].decode()
    said = capsys.readouterr().out
    assert said.startswith(f"{path}: 6 samples")
    assert digest in said


@pytest.mark.parametrize(
    ("options", "mode"),
    [((), "certified"), (("--no-certify",), "rules"), (("--ambiguous",), "ambiguous")],
)
def test_the_flags_choose_the_mode(tmp_path: Path, options: tuple[str, ...], mode: str) -> None:
    assert main(["rde", "--out", str(tmp_path / "a.h5"), *QUICK, *options]) == 0
    with h5py.File(tmp_path / "a.h5") as file:
        assert f'"mode": "{mode}"' in file.attrs["config"].decode()


def test_the_difficulty_is_stored_when_asked_for(tmp_path: Path) -> None:
    for name, options in (("a.h5", ()), ("b.h5", ("--difficulty",))):
        assert main(["rde", "--out", str(tmp_path / name), *QUICK, *options]) == 0
    with open_dataset(tmp_path / "a.h5") as plain, open_dataset(tmp_path / "b.h5") as data:
        columns = set(data["train"][0]) - set(plain["train"][0])
        assert columns == {"convexity_only", "cue_distance", "depth", "pieces"}
        for i in range(len(data["train"])):
            difficulty = plain["train"].difficulty(i)
            stored = data["train"][i]
            assert stored["cue_distance"] == difficulty.cue_distance
            n = int(stored["n_rectangles"])
            assert (stored["pieces"][:n] == difficulty.pieces).all()


BAD = {
    "a picture too small": ("--width", "7"),
    "a picture too large": ("--height", "1025"),
    "no rectangles": ("--n-rectangles", "0"),
    "too many rectangles": ("--n-rectangles", "64", "--n-colors", "63"),
    "more rectangles than colours": ("--n-rectangles", "9", "--n-colors", "8"),
    "a negative n_vis": ("--n-vis", "-1"),
    "an n_gap that leaves no room": ("--n-gap", "24"),
    "a negative n_par": ("--n-par", "-1"),
    "a minimum size that leaves no room": ("--min-size", "0.8"),
    "a minimum size that is no number": ("--min-size", "nan"),
    "no trials": ("--trials", "0"),
    "a negative blur": ("--blur", "-0.1"),
    "an endless blur": ("--blur", "inf"),
    "a negative seed": ("--seed", "-1"),
    "a seed beyond 64 bits": ("--seed", str(2**64)),
    "a seed that is no number": ("--seed", "seven"),
    "a negative number of samples": ("--train", "-1"),
    "no samples at all": ("--train", "0", "--test", "0"),
    "no workers": ("--workers", "0"),
    "an unknown option": ("--colour", "red"),
    "two modes": ("--ambiguous", "--no-certify"),
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    try:
        code: object = main(["rde", "--out", str(tmp_path / "a.h5"), *QUICK, *options])
    except SystemExit as stop:  # what argparse finds by itself
        code = stop.code
    assert code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert said.startswith("synthprobe-gen")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("missing/a.h5", "does not exist: make it first."),
        (".", "is a folder: name a file in it"),
        ("old.h5", "exists and is left as it is: --force replaces it."),
    ],
)
def test_a_bad_place_for_the_file_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str, sentence: str
) -> None:
    (tmp_path / "old.h5").write_bytes(b"precious")
    assert main(["rde", "--out", str(tmp_path / out), *QUICK]) == 2
    assert sentence in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["old.h5"]
    assert (tmp_path / "old.h5").read_bytes() == b"precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o500)
    assert main(["rde", "--out", str(tmp_path / "a.h5"), *QUICK]) == 2
    assert "cannot be written to" in capsys.readouterr().err


def test_settings_that_no_scene_meets_are_given_up_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # One candidate a scene, and hardly any is nearly as large as the picture.
    options = ("--trials", "1", "--n-vis", "22", "--width", "24", "--height", "24")
    assert main(["rde", "--out", str(tmp_path / "a.h5"), *QUICK, *options]) == 2
    said = capsys.readouterr().err
    assert "could be kept" in said
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("arguments", [["--help"], ["rde", "--help"]])
def test_help_explains_the_command(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    said = capsys.readouterr().out
    assert "usage: synthprobe-gen" in said
    if "rde" in arguments:
        for word in ("--n-vis", "--no-certify", "(50000)", "examples:"):
            assert word in said


@pytest.mark.parametrize("options", [(), ("--force",), ("--resume",), ("--shards", "2")])
@pytest.mark.parametrize("out", [".", "", "..", "/"])
def test_a_target_without_a_name_of_its_own_gets_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    out: str,
    options: tuple[str, ...],
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert main(["rde", "--out", out, *QUICK, *options]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "name a" in said or "is left as it is" in said or "cannot be written to" in said
    assert os.listdir() == []
    assert os.listdir("..") == ["empty"]
