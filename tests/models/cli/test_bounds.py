"""Counts that would take all memory, and variables that no torchrun sets, get one sentence."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.cli.main import main  # noqa: E402
from tests.models.small_runs import small_file  # noqa: E402

HUGE = "2147483647"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return small_file(tmp_path_factory.mktemp("bounds") / "rde.h5")


def refused(words: list[str], sentence: str, capsys) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("option", ["threads", "workers", "checkpoint-every"])
def test_counts_of_a_run_are_bounded(file, tmp_path, capsys, option) -> None:
    words = ["train", "unet", "--on", str(file), "--out", str(tmp_path / "run")]
    name = option.replace("-", "_")
    refused([*words, f"--{option}", HUGE], f"{name} is {HUGE}: it must be a whole", capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["threads", "seeds"])
@pytest.mark.parametrize("command", [["profile", "lambda-pe"], ["table", "2"]])
@pytest.mark.parametrize("value", [HUGE, "0", "-5"])
def test_counts_of_many_runs_are_bounded(tmp_path, capsys, command, option, value) -> None:
    out = tmp_path / "out"
    words = [*command, "--out", str(out), f"--{option}", value]
    refused(words, f"{option} is {value}: it must be a whole number from 1", capsys)
    assert not out.exists()


@pytest.mark.parametrize("value", [HUGE, "0"])
def test_runs_at_a_time_are_bounded(tmp_path, capsys, value) -> None:
    out = tmp_path / "out"
    words = ["table", "2", "--out", str(out), "--jobs", value]
    refused(words, f"jobs is {value}: it must be a whole number from 1 to 256", capsys)
    assert not out.exists()


@pytest.mark.parametrize("value", [HUGE, "100000"])
def test_channels_to_look_at_are_bounded(capsys, value) -> None:
    words = ["inspect", "lambda", "--width", value]
    refused(words, f"--width is {value}: it must be at most 4096", capsys)


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ("100000x100000", "10000000000 positions: at most 1048576 are looked at"),
        ("1048577", "1048577 positions"),
        ("9" * 5000, "is not a shape such as 64x64"),
    ],
)
def test_positions_to_look_at_are_bounded(capsys, shape, sentence) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["inspect", "lambda", "--shape", shape])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert len(error) < 400


@pytest.mark.parametrize("value", ["10000000", "-1"])
def test_the_worst_are_bounded(file, tmp_path, capsys, value) -> None:
    words = ["eval", str(tmp_path / "c.pt"), "--on", str(file), "--worst", value]
    refused(words, f"worst is {value}: it must be", capsys)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two': it must be a whole number"),
        ({"WORLD_SIZE": ""}, "WORLD_SIZE is ''"),
        ({"WORLD_SIZE": "-1"}, "WORLD_SIZE is '-1'"),
        ({"WORLD_SIZE": "9" * 5000}, "it must be a whole number"),
        ({"WORLD_SIZE": "2"}, "RANK is not set: start several processes by torchrun"),
        ({"WORLD_SIZE": "2", "RANK": "2"}, "RANK is '2': it must be a whole number from 0 to 1"),
        ({"WORLD_SIZE": "2", "RANK": "0"}, "MASTER_PORT is not set"),
        ({"WORLD_SIZE": "2", "RANK": "0", "MASTER_PORT": "x"}, "MASTER_PORT is 'x'"),
        ({"WORLD_SIZE": "2", "RANK": "0", "MASTER_PORT": "29500"}, "MASTER_ADDR is not set"),
    ],
)
def test_variables_of_torchrun_are_checked(
    file, tmp_path, capsys, monkeypatch, variables, sentence
) -> None:
    for name in ("WORLD_SIZE", "RANK", "MASTER_PORT", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    words = ["train", "unet", "--on", str(file), "--out", str(tmp_path / "run")]
    refused(words, sentence, capsys)
    assert not (tmp_path / "run").exists()
