"""The settings of a run as TOML: options over file over preset, and results as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("torch")

from synthprobe_models.cli.main import main
from tests.models.small_runs import small_file

SMALL = ("--width", "3", "--down-samplings", "1", "--epochs", "1", "--batch", "4", "-q")


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["train", *words, "--print-config"]) == 0
    return capsys.readouterr().out


def test_what_is_printed_trains_the_same_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(small_file(tmp_path / "a.h5"))
    text = printed(["unet", "--on", data, *SMALL], capsys)
    config = tmp_path / "run.toml"
    config.write_text(text, "utf-8")
    results = []
    for name, words in (
        ("a", ["unet", "--on", data, *SMALL]),
        ("b", ["--config", str(config), "-q"]),
    ):
        assert main(["train", *words, "--json", "--out", str(tmp_path / name)]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        results.append(json.loads(said.out))
    assert results[0]["settings"] == results[1]["settings"]
    assert results[0]["test"] == results[1]["test"]
    assert results[1]["out"] == str(tmp_path / "b")
    again = printed(["--config", str(tmp_path / "a"), "--on", data], capsys)
    assert again == text


def test_options_are_over_the_file_and_the_file_over_the_preset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(small_file(tmp_path / "a.h5"))
    config = tmp_path / "run.toml"
    config.write_text(
        f'name = "unet"\non = "{data}"\n[settings]\nepochs = 7\nrate = 0.25\n'
        "[settings.schedule_options]\nfloor = 0.5\n"
    )
    table = tomllib.loads(printed(["--config", str(config), "--epochs", "3"], capsys))
    settings = table["settings"]
    assert (table["name"], table["on"]) == ("unet", data)
    assert (settings["epochs"], settings["rate"]) == (3, 0.25)
    assert settings["schedule_options"] == {"floor": 0.5}
    preset = tomllib.loads(printed(["unet", "--on", data], capsys))["settings"]
    assert settings["batch"] == preset["batch"]
    words = ["--config", str(config), "--preset", "paper"]  # one that is named gives way, too
    named = tomllib.loads(printed(words, capsys))["settings"]
    assert (named["epochs"], named["rate"]) == (7, 0.25)


def test_a_stream_has_its_settings_in_the_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["transformer", "--on", "stream", "--probe", "color-code", "--data", "positions=12"]
    text = printed(words, capsys)
    assert tomllib.loads(text)["data"]["positions"] == 12
    config = tmp_path / "run.toml"
    config.write_text(text, "utf-8")
    assert printed(["--config", str(config)], capsys) == text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("colour = 1", "'colour'"),
        ("name = 1", "name"),
        ("[settings]\ncolour = 1", "'colour'"),
        ("[settings]\nepochs = 0", "epochs"),
        ("[settings]\noptimizer_options = 3", "optimizer_options"),
    ],
)
def test_a_wrong_config_is_said_in_one_sentence(
    text: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "run.toml"
    config.write_text(text, "utf-8")
    data = str(small_file(tmp_path / "a.h5"))
    words = ["unet", "--on", data, "--config", str(config), "--out", str(tmp_path / "run")]
    assert main(["train", *words]) == 2
    said = capsys.readouterr().err
    assert named in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("words", "named"), [(["--on", "a.h5"], "NAME"), (["unet"], "--on")])
def test_what_to_train_and_on_what_is_needed(
    words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["train", *words])
    assert f"required: {named}" in capsys.readouterr().err


def test_the_package_runs_as_a_module() -> None:
    words = [sys.executable, "-m", "synthprobe_models", "--version"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.startswith("synthprobe-probe 0.")
