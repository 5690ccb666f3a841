"""``synthprobe-gen rde --suite``: test splits of several settings, one manifest, one card."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, is_suite, open_dataset, read_suite
from synthprobe_data.cli.gen import main
from synthprobe_data.cli.shards import main as shards
from synthprobe_data.generation.suite import generate_suite
from synthprobe_data.rde import RDE
from synthprobe_data.verification.suite import verify_suite
from tests.data.shards.test_guard import ENDS, let_it_end

BASE = RdeConfig(height=32, width=32, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)
OPTIONS = ["--height", "32", "--width", "32", "--n-rectangles", "4", "--n-vis", "2"]
OPTIONS += ["--n-gap", "2", "--n-par", "2", "--workers", "1"]
NAMES = ["paper", "easy", "hard", "more-rectangles", "smaller", "larger", "new-colors", "ambiguous"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite") / "suite"
    generate_suite(folder, RDE, BASE, samples=4, workers=1)
    return folder


def test_a_suite_has_all_members_and_verify_checks_each(suite: Path) -> None:
    assert [entry.name for entry in read_suite(suite).members] == NAMES
    assert sorted(path.name for path in suite.iterdir()) == sorted(
        [*(f"{name}.h5" for name in NAMES), "README.md", "manifest.json", "samples.png"]
    )
    assert all(report.ok for report in verify_suite(suite, pixels=True, workers=1))
    card = (suite / "README.md").read_text("utf-8")
    assert all(f"`{name}.h5`" in card for name in NAMES)
    assert "order told by size alone" in card


def test_new_colours_are_on_the_very_scenes_of_the_first_member(suite: Path) -> None:
    with open_dataset(suite / "paper.h5") as one, open_dataset(suite / "new-colors.h5") as other:
        for a, b in zip(one["test"], other["test"], strict=True):
            assert a["rectangles"].tolist() == b["rectangles"].tolist()
            assert a["rank"].tolist() == b["rank"].tolist()
            assert a["image"].tolist() != b["image"].tolist()


def test_the_command_makes_the_same_suite_and_resume_makes_again_what_is_damaged(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "suite"
    command = ["rde", "--suite", str(folder), *OPTIONS, "--test", "4"]
    assert main(command) == 0
    digests = [entry.content_digest for entry in read_suite(suite).members]
    assert [entry.content_digest for entry in read_suite(folder).members] == digests
    (folder / "easy.h5").unlink()
    damaged = bytearray((folder / "hard.h5").read_bytes())
    damaged[-2000:-1900] = bytes(100)
    (folder / "hard.h5").write_bytes(bytes(damaged))
    assert shards(["verify", str(folder), "--workers", "1"]) == 1
    assert main(command) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    assert [entry.content_digest for entry in read_suite(folder).members] == digests
    assert all(report.ok for report in verify_suite(folder, workers=1))
    assert shards(["info", str(folder)]) == 0
    assert "a suite of rde" in capsys.readouterr().out


def test_no_file_of_a_suite_waits_for_the_lock_that_its_own_run_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(_seconds: float) -> None:
        raise AssertionError("it waits")

    monkeypatch.setattr("synthprobe_data.atomic.lock.time.sleep", wait)
    generate_suite(tmp_path / "suite", RDE, BASE, samples=1, workers=1)
    generate_suite(tmp_path / "suite", RDE, BASE, samples=1, workers=1, resume=True)


def test_a_suite_is_no_dataset_and_its_files_are_named(suite: Path) -> None:
    assert is_suite(suite)
    with pytest.raises(SynthprobeError, match=r"is a suite: name one of its files, paper\.h5"):
        open_dataset(suite)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shards", "2"], "leave --train, --shards"),
        (["--train", "5"], "leave --train, --shards"),
        (["--palette", "random"], "leave --palette random"),
        (["--ambiguous"], "and --ambiguous out"),
    ],
)
def test_what_makes_no_sense_gets_one_sentence_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    folder = tmp_path / "suite"
    assert main(["rde", "--suite", str(folder), *OPTIONS, *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def _elsewhere(found: dict[str, Any]) -> None:
    found["members"][0]["name"] = "../paper"


def _twice(found: dict[str, Any]) -> None:
    found["members"][1] = found["members"][0]


def _none(found: dict[str, Any]) -> None:
    found["members"] = []


def _no_number(found: dict[str, Any]) -> None:
    found["members"][0]["rows"] = -1


def _later(found: dict[str, Any]) -> None:
    found["synthprobe_suite"] = 2


def _more(found: dict[str, Any]) -> None:
    found["further"] = 1


@pytest.mark.parametrize("change", [_elsewhere, _twice, _none, _no_number, _later, _more])
def test_a_forged_manifest_is_refused(
    suite: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    found = json.loads((suite / "manifest.json").read_text("utf-8"))
    change(found)
    (tmp_path / "manifest.json").write_text(json.dumps(found), "utf-8")
    with pytest.raises(SynthprobeError, match=r"manifest\.json cannot be read"):
        read_suite(tmp_path)


def test_a_file_that_was_exchanged_is_found(suite: Path, tmp_path: Path) -> None:
    for path in suite.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "easy.h5").write_bytes((suite / "paper.h5").read_bytes())
    reports = verify_suite(tmp_path, workers=1)
    assert [not report.ok for report in reports] == [name == "easy" for name in NAMES]
    assert "SHA-256 differs" in str(reports[1].failures[0])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
def test_what_is_no_file_or_not_safe_to_open_fails_by_itself(
    suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "suite"
    shutil.copytree(suite, folder)
    (folder / "easy.h5").unlink()
    (folder / "easy.h5").mkdir()
    (folder / "hard.h5").unlink()
    os.mkfifo(folder / "hard.h5")  # reading it would wait
    let_it_end(monkeypatch, tmp_path, ENDS["SIGSEGV"][0], "larger")
    opened: list[str] = []

    def noted(path: Path, *given: Any, **options: Any) -> h5py.File:
        opened.append(Path(path).name)
        return usual(path, *given, **options)

    usual = h5py.File
    monkeypatch.setattr("synthprobe_data.shards.reader.h5py.File", noted)
    assert shards(["verify", str(folder), "--workers", "1"]) == 1
    assert opened
    assert "larger.h5" not in opened
    said = capsys.readouterr().out
    bad = ["easy", "hard", "larger"]
    assert [f"{name}.h5: is as it should be" in said for name in NAMES] == [
        name not in bad for name in NAMES
    ]
    assert said.count(": suite: it is no regular file.") == 2
    assert said.count("crashes on it (SIGSEGV).") == 1
