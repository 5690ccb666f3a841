"""A TOML file of settings: options over file over defaults, and what is printed makes the same."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from synthprobe_data import open_dataset
from synthprobe_data.cli.gen import main

QUICK = (
    *("--height", "24", "--width", "24", "--n-rectangles", "2..3", "--train", "4", "--test", "2"),
    *("--n-vis", "3", "--n-gap", "3", "--n-par", "3", "--palette", "random", "--ambiguous"),
    *("--seed", "5"),
)


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*words, "--print-config"]) == 0
    return capsys.readouterr().out


def digest_of(path: Path) -> str:
    with open_dataset(path) as data:
        return data.content_digest


def test_what_is_printed_makes_the_same_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(["rde", *QUICK], capsys)
    config = tmp_path / "rde.toml"
    config.write_text(text, "utf-8")
    assert main(["rde", *QUICK, "--out", str(tmp_path / "a.h5")]) == 0
    assert main(["rde", "--config", str(config), "--out", str(tmp_path / "b.h5")]) == 0
    assert digest_of(tmp_path / "a.h5") == digest_of(tmp_path / "b.h5")
    capsys.readouterr()
    assert printed(["rde", "--config", str(config)], capsys) == text
    of_dataset = printed(["rde", "--config", str(tmp_path / "a.h5")], capsys)
    assert of_dataset == text


def test_options_are_over_the_file_and_the_file_over_the_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "rde.toml"
    config.write_text("seed = 3\n[samples]\ntrain = 9\n[settings]\nheight = 64\nwidth = 80\n")
    table = tomllib.loads(
        printed(["rde", "--config", str(config), "--width", "72", "--seed", "4"], capsys)
    )
    assert table["seed"] == 4
    assert table["samples"] == {"train": 9, "validation": 0, "test": 0}
    assert table["settings"]["height"] == 64
    assert table["settings"]["width"] == 72
    assert table["settings"]["n_vis"] == 5


@pytest.mark.parametrize("dataset", ["rde", "twins"])
@pytest.mark.parametrize("before", ["easy", "paper", "hard"])
@pytest.mark.parametrize("level", ["easy", "paper", "hard"])
def test_a_level_is_over_all_that_levels_set_in_the_file_and_options_are_over_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dataset: str, before: str, level: str
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(printed([dataset, "--level", before, "--blur", "0.5"], capsys), "utf-8")
    options = ["--blur", "0.5", "--level", level]
    found = printed([dataset, "--config", str(config), "--level", level], capsys)
    assert found == printed([dataset, *options], capsys)
    found = printed([dataset, "--config", str(config), "--level", level, "--n-vis", "7"], capsys)
    assert found == printed([dataset, *options, "--n-vis", "7"], capsys)


def test_every_dataset_prints_a_config_that_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rde", "centered-square", "color-code", "twins"):
        text = printed([name], capsys)
        config = tmp_path / f"{name}.toml"
        config.write_text(text, "utf-8")
        assert printed([name, "--config", str(config)], capsys) == text


BAD = {
    "of another dataset": ('dataset = "twins"', "settings of twins"),
    "of another version": ('version = "0.0.1"', "version 0.0.1"),
    "an unknown part": ("colour = 1", "'colour'"),
    "an unknown setting": ("[settings]\ncolour = 1", "'colour'"),
    "an unknown split": ("[samples]\nval = 1", "'val'"),
    "a number that is none": ("[samples]\ntrain = 1.5", "1.5"),
    "a seed that is none": ('seed = "a"', "seed"),
    "a truth for a seed": ("seed = true", "seed"),
    "a setting of another type": ('[settings]\nheight = "a"', "height"),
    "a setting out of range": ("[settings]\nheight = 1", "height"),
    "a palette that is none": ("[settings]\npalette = 3", "palette"),
    "a negative number": ("[samples]\ntrain = -1", "train"),
    "no TOML": ("[", "TOML"),
}


@pytest.mark.parametrize(("text", "named"), BAD.values(), ids=BAD.keys())
def test_a_wrong_config_is_said_in_one_sentence(
    text: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "rde.toml"
    config.write_text(text, "utf-8")
    out = tmp_path / "a.h5"
    assert main(["rde", "--config", str(config), "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert named in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_some_samples_of_a_dataset_are_no_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from synthprobe_data import select

    assert main(["rde", *QUICK, "--out", str(tmp_path / "a.h5")]) == 0
    select(tmp_path / "a.h5", tmp_path / "some.h5", rows="1")
    assert main(["rde", "--config", str(tmp_path / "some.h5"), "--print-config"]) == 2
    assert "larger dataset" in capsys.readouterr().err


def test_the_file_to_write_is_needed_but_for_printing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["rde"])
    assert "required: --out" in capsys.readouterr().err
