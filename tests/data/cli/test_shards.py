"""The second command: what it says, and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import h5py
import pytest

from synthprobe_data import RdeConfig, make_file, open_dataset
from synthprobe_data.cli.gen import main as generate
from synthprobe_data.cli.shards import main

CONFIG = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "rde.h5"
    make_file("rde", path, train=6, test=3, config=CONFIG)
    return path


@pytest.fixture
def source(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_whole_round(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = open_dataset(source).content_digest
    assert run("split", source, "--out", tmp_path / "rde", "--shards", 3) == 0
    assert run("verify", tmp_path / "rde") == 0
    assert run("merge", tmp_path / "rde", "--out", tmp_path / "again.h5") == 0
    assert capsys.readouterr().out.count(digest) == 2
    assert run("export", source, "--out", tmp_path / "png", "--format", "png") == 0
    assert run("export", source, "--out", tmp_path / "tar", "--format", "webdataset") == 0
    assert run("preview", source, "--out", tmp_path / "sheet.png", "--samples", 2) == 0
    cards = {"again.md", "again.croissant.json", "again.png"}
    names = {"rde.h5", "rde", "again.h5", "png", "tar", "sheet.png"}
    assert set(os.listdir(tmp_path)) == names | cards
    assert "README.md" in os.listdir(tmp_path / "rde")


def test_the_card_is_written_again_only_when_forced(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("card", source) == 0
    card = tmp_path / "rde.md"
    text = card.read_text()
    card.write_text("notes of mine")
    assert run("card", source) == 2
    assert "exists and is left as it is" in capsys.readouterr().err
    assert card.read_text() == "notes of mine"
    assert run("card", source, "--force") == 0
    assert card.read_text() == text


@pytest.mark.parametrize("as_folder", [False, True])
def test_info_says_what_it_is_on_one_screen(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], as_folder: bool
) -> None:
    path = source
    if as_folder:
        path = tmp_path / "rde"
        run("split", source, "--out", path, "--shards", 4)
        capsys.readouterr()
    assert run("info", path) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) < 24
    assert max(map(len, said.splitlines()[1:])) <= 100
    digest = open_dataset(source).content_digest
    for word in ("Rectangle Depth Estimation", "train 6, test 3", "n_vis 3", "seed", digest):
        assert word in said
    assert run("info", path, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["config"] == CONFIG.to_dict()
    assert facts["splits"]["test"] == {"start": 0, "samples": 3}
    assert facts["content_digest"] == digest
    assert len(facts["files"]) == (4 if as_folder else 1)


def test_info_shows_the_hashes_that_are_stated_without_hashing(
    made: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("info", source) == 0
    assert "sha256" not in capsys.readouterr().out
    croissant = tmp_path / "rde.croissant.json"
    shutil.copy(made.with_name(croissant.name), croissant)
    stated = json.loads(croissant.read_text())["distribution"][0]["sha256"]
    source.write_bytes(source.read_bytes() + b"\0")  # that it is not true is for verify to say
    assert run("info", source) == 0
    assert f"sha256    {stated}" in capsys.readouterr().out
    croissant.write_text("{}")
    assert run("info", source) == 0
    assert "sha256" not in capsys.readouterr().out
    run("split", source, "--out", tmp_path / "rde", "--shards", 3)
    manifest = json.loads((tmp_path / "rde" / "manifest.json").read_text())
    capsys.readouterr()
    assert run("info", tmp_path / "rde") == 0
    said = capsys.readouterr().out
    assert all(f"sha256 {entry['sha256'][:16]}" in said for entry in manifest["shards"])
    assert run("info", tmp_path / "rde", "--json") == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["sha256"] for file in files] == [e["sha256"] for e in manifest["shards"]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize("where", ["file", "shard", "manifest", "device"])
@pytest.mark.parametrize("command", ["info", "verify"])
def test_what_is_no_file_is_refused_and_not_waited_for(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, where: str
) -> None:
    path = folder = tmp_path / "rde"
    run("split", source, "--out", folder, "--shards", 3)
    pipe = {
        "file": tmp_path / "pipe.h5",
        "shard": folder / "train-00000-of-00002.h5",
        "manifest": folder / "manifest.json",
        "device": Path("/dev/zero"),
    }[where]
    if where != "device":
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
    if where in ("file", "device"):
        path = pipe
    capsys.readouterr()
    code = run(command, path)
    said = capsys.readouterr()
    assert code in (1, 2)
    assert "no regular file" in said.out + said.err
    assert (code, said.err.count("\n")) in ((1, 0), (2, 1))


def test_one_sample_is_one_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.h5"
    sizes = ["--train", "1", "--test", "0", "--height", "40", "--width", "40"]
    assert generate(["rde", "--out", str(path), *sizes, "--n-rectangles", "3"]) == 0
    assert run("verify", path) == 0
    assert run("preview", path, "--out", tmp_path / "a.png") == 0
    assert run("browse", path, "--out", tmp_path / "a.html") == 0
    assert run("export", path, "--out", tmp_path / "a", "--format", "png") == 0
    assert run("explain", path, "3") == 2
    assert run("preview", path, "--out", tmp_path / "b.png", "--start", "3") == 2
    said = capsys.readouterr()
    assert (said.out + said.err).count("1 sample") == 7
    assert "1 samples" not in said.out + said.err


def test_verify_ends_with_1_and_names_what_is_wrong(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("verify", source) == 0
    assert "is as it should be; 9 samples" in capsys.readouterr().out
    with h5py.File(source, "r+") as file:
        file["rank"][7, 0, 0] ^= 1
    assert run("verify", source) == 1
    said = capsys.readouterr().out
    assert "rde.h5, row 7 (test 1): rank: " in said
    assert said.splitlines()[-1].startswith(f"{source}: FAILED: 1 of 9 samples, ")
    assert run("verify", source, "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert not report["ok"]
    assert report["failed"] == {"rank": 1, "content_digest": 1}
    assert report["failures"][0]["row"] == 7
    assert run("verify", source, "--samples", 3) == 1  # rows 1, 4 and 7
    assert "FAILED: 1 of 3 samples; 3 of 9 samples" in capsys.readouterr().out
    assert run("verify", source, "--samples", 2) == 0
    assert run("verify", source, "--sample", 2) == 0  # the old name of the option
    assert "nothing wrong was found; 2 of 9 samples" in capsys.readouterr().out


def test_verify_reads_the_pixels_if_asked_to(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("verify", source, "--pixels") == 0
    said = capsys.readouterr().out
    assert "pixels  9 checked, all well" in said
    assert "readings  9 off the pixels: 0 not unambiguous, 0 other ranks" in said
    with h5py.File(source, "r+") as file:
        file["image"][7] = file["image"][6]
    assert run("verify", source, "--pixels") == 1
    assert "rde.h5, row 7 (test 1): pixels: its picture " in capsys.readouterr().out


def test_verify_does_not_list_without_end(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with h5py.File(source, "r+") as file:
        for name in ("image", "rank", "label"):
            file[name][()] = 77
    assert run("verify", source) == 1
    said = capsys.readouterr().out
    assert "... and 8 more." in said  # three pictures of nine rows, and the digest


BAD = {
    "a path that is not there": ("info", "gone.h5"),
    "nothing to verify": ("verify", "gone.h5"),
    "no command": (),
    "an unknown command": ("burn", "rde.h5"),
    "a sample of none": ("verify", "rde.h5", "--samples", "0"),
    "no workers": ("verify", "rde.h5", "--workers", "0"),
    "no target": ("merge", "rde.h5"),
    "a target that is there": ("merge", "rde.h5", "--out", "rde.h5"),
    "too few shards": ("split", "rde.h5", "--out", "rde", "--shards", "1"),
    "a folder that is not empty": ("split", "rde.h5", "--out", ".", "--shards", "2"),
    "an unknown format": ("export", "rde.h5", "--out", "x", "--format", "gif"),
    "a folder without a manifest": ("info", "."),
    "no samples": ("preview", "rde.h5", "--out", "a.png", "--samples", "0"),
    "no sample to explain": ("explain", "rde.h5"),
    "a sample that is not there": ("explain", "rde.h5", "6"),
    "a figure of no known kind": ("explain", "rde.h5", "0", "--out", "a.bmp"),
    "a page of nothing": ("browse", "rde.h5", "--out", "a.html", "--samples", "0"),
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence_and_exit_code_2(
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(source.parent)
    try:
        code: object = main(arguments)
    except SystemExit as stop:  # what argparse finds by itself
        code = stop.code
    assert code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert said.startswith("synthprobe-shards")
    assert os.listdir() == ["rde.h5"]


TO_FILE = {
    "merge": (),
    "preview": (),
    "browse": (),
    "explain": ("0",),
}
TO_FOLDER = {"split": ("--shards", "2"), "export": ("--format", "png")}


@pytest.mark.parametrize("out", [".", "", "..", "/"])
@pytest.mark.parametrize("command", [*TO_FILE, *TO_FOLDER])
def test_a_target_without_a_name_of_its_own_gets_one_sentence(
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    out: str,
) -> None:
    empty = source.parent / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert main([command, str(source), *{**TO_FILE, **TO_FOLDER}[command], "--out", out]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert said.startswith("synthprobe-shards: ")
    assert os.listdir() == []
    assert sorted(os.listdir("..")) == ["empty", "rde.h5"]


COMMANDS = ("info", "verify", "preview", "explain", "browse", "merge", "split", "export")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_the_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], [command, "--help"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        said = capsys.readouterr().out
        assert "usage: synthprobe-shards" in said
        assert command in said
        assert "PATH" in said


def test_preview_names_its_output_itself(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("preview", source) == 0
    assert run("preview", source, "--split", "test", "--start", 1) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == ["rde-train.png: 6 samples", "rde-test-from-1.png: 2 samples"]
    assert set(os.listdir(tmp_path)) == {"rde.h5", "rde-train.png", "rde-test-from-1.png"}
    assert run("preview", source) == 2
    assert "rde-train.png exists and is left as it is" in capsys.readouterr().err
    assert run("preview", source, "--force") == 0
    assert run("preview", source, "--split", "dev") == 2


def test_export_takes_a_split(source: Path, tmp_path: Path) -> None:
    for kind, name in (("png", "test"), ("webdataset", "test-000000.tar")):
        out = tmp_path / kind
        assert run("export", source, "--out", out, "--format", kind, "--split", "test") == 0
        notes = {"README.md", "LICENSE", "dataset.json", "SHA256SUMS"}
        assert set(os.listdir(out)) == {name, *notes}
