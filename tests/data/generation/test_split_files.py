"""``--split-files``: a file for each split, which others read rightly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.cli.shards import main as shards
from synthprobe_data.generation.split_files import split_path
from synthprobe_data.verification.verify import verify

OPTIONS = (
    *("--height", "40", "--width", "32", "--n-rectangles", "4"),
    *("--n-vis", "3", "--n-gap", "2", "--n-par", "3", "--train", "6", "--test", "3"),
)
NAMES = [
    f"few.{split}.{kind}"
    for split in ("test", "train")
    for kind in ("croissant.json", "h5", "md", "png")
]


def generate(out: Path, *options: str) -> int:
    return main(["rde", "--out", str(out), *OPTIONS, *options])


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("out", ["few.h5", "few"])
def test_each_split_gets_a_file_of_its_own_with_cards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    both = tmp_path / "both" / "a.h5"
    both.parent.mkdir()
    assert generate(both) == 0
    folder = tmp_path / "apart"
    folder.mkdir()
    capsys.readouterr()
    assert generate(folder / out, "--split-files") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert names(folder) == NAMES
    with open_dataset(both) as data:
        for split, size in (("train", 6), ("test", 3)):
            path = folder / f"few.{split}.h5"
            assert verify(path).ok
            with open_dataset(path) as alone:
                assert alone.splits == {split: size}
                for i in range(size):
                    for name, array in data[split][i].items():
                        assert np.array_equal(alone[split][i][name], array)
            card = (folder / f"few.{split}.md").read_text("utf-8")
            assert "--split-files" in card
            assert "a file is one split" not in card


@pytest.mark.parametrize("source", ["file", "folder"])
def test_a_dataset_is_split_into_the_same_files(tmp_path: Path, source: str) -> None:
    whole, apart, again = (tmp_path / name for name in ("whole", "apart", "again"))
    apart.mkdir()
    again.mkdir()
    assert generate(whole, *(("--shards", "3") if source == "folder" else ())) == 0
    assert generate(apart / "few", "--split-files") == 0
    split = ["split", str(whole), "--out", str(again / "few.h5"), "--split-files"]
    assert shards(split) == 0
    assert names(again) == NAMES
    for split_name in ("train", "test"):
        made, taken = (folder / f"few.{split_name}.h5" for folder in (apart, again))
        with open_dataset(made) as a, open_dataset(taken) as b:
            assert (a.content_digest, a.splits, a.seed) == (b.content_digest, b.splits, b.seed)
        assert verify(taken).ok


def test_what_exists_is_left_as_it_is_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "whole.h5"
    assert generate(whole) == 0
    folder = tmp_path / "apart"
    folder.mkdir()
    mine = folder / "few.test.h5"
    mine.write_text("mine")
    capsys.readouterr()
    assert generate(folder / "few.h5", "--split-files") == 2
    assert "few.test.h5 exists and is left as it is" in capsys.readouterr().err
    split = ["split", str(whole), "--out", str(folder / "few.h5"), "--split-files"]
    assert shards(split) == 2
    assert "few.test.h5 exists and is left as it is" in capsys.readouterr().err
    assert names(folder) == ["few.test.h5"]
    assert mine.read_text() == "mine"
    assert generate(folder / "few.h5", "--split-files", "--force") == 0
    assert shards([*split, "--force"]) == 0
    assert names(folder) == NAMES
    assert verify(mine).ok


def test_resume_keeps_what_is_complete_and_makes_the_rest(tmp_path: Path) -> None:
    out = tmp_path / "few.h5"
    assert generate(out, "--split-files") == 0
    train, test = tmp_path / "few.train.h5", tmp_path / "few.test.h5"
    before = train.stat().st_mtime_ns
    for name in NAMES:  # as after a kill between the two
        if ".test." in name:
            (tmp_path / name).unlink()
    assert generate(out, "--split-files", "--resume") == 0
    assert train.stat().st_mtime_ns == before
    assert verify(test).ok
    assert names(tmp_path) == NAMES


def test_what_makes_no_sense_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path / "few", "--split-files", "--shards", "2") == 2
    assert "--split-files and --shards exclude each other" in capsys.readouterr().err
    assert names(tmp_path) == []
    for split in ("../up", "", "a/b", "a b"):
        with pytest.raises(SynthprobeError, match="cannot be part of the name of a file"):
            split_path(tmp_path / "few.h5", split)


def test_a_split_without_samples_gets_no_file(tmp_path: Path) -> None:
    assert generate(tmp_path / "few.h5", "--split-files", "--test", "0") == 0
    assert [name for name in names(tmp_path) if name.endswith(".h5")] == ["few.train.h5"]


def test_what_falls_short_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--height", "32", "--width", "32", "--train", "4", "--test", "2", "--split-files"]
    assert main(["rde", "--out", str(tmp_path / "few.h5"), *words]) == 0
    assert capsys.readouterr().err.count("expect") == 1


def test_hugging_face_reads_the_splits_of_split_files_and_mixes_those_of_one_file(
    tmp_path: Path,
) -> None:
    pytest.importorskip("datasets")
    assert generate(tmp_path / "few.h5") == 0
    assert generate(tmp_path / "few.h5", "--split-files") == 0
    code = (
        "import json\n"
        "from datasets import load_dataset\n"
        'apart = {"train": "few.train.h5", "test": "few.test.h5"}\n'
        'apart = load_dataset("hdf5", data_files=apart).with_format("numpy")\n'
        'mixed = load_dataset("hdf5", data_files="few.h5")\n'
        "print(json.dumps([{k: len(v) for k, v in d.items()} for d in (apart, mixed)]))\n"
        'print(json.dumps({k: v["rectangles"].tolist() for k, v in '
        "{s: apart[s][:] for s in apart}.items()}))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    sizes, rectangles = map(json.loads, found.stdout.splitlines())
    assert sizes == [{"train": 6, "test": 3}, {"train": 9}]
    with h5py.File(tmp_path / "few.h5") as file:
        for split, (start, stop) in json.loads(file.attrs["splits"]).items():
            assert rectangles[split] == file["rectangles"][start:stop].tolist()
    # So the card of one file with two splits says it, and what to do.
    card = (tmp_path / "few.md").read_text("utf-8")
    assert "a file is one split" in card
    assert "--split-files" in card
