"""Where the cards go, and that nothing else is touched."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.atomic.owner import host_name
from synthprobe_data.cards.facts import collect_facts, describe_machine
from synthprobe_data.cards.write import draw_picture, write_cards
from synthprobe_data.shards.card_paths import card_paths

SMALL = RdeConfig(height=40, width=32, n_rectangles=3, n_vis=3, n_gap=2, n_par=3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_file("rde", tmp_path / "a.h5", train=3, test=2, config=SMALL, workers=1, cards=False)
    return tmp_path / "a.h5"


def test_the_cards_stand_beside_a_file(path: Path) -> None:
    written = write_cards(path)
    assert sorted(file.name for file in written) == ["a.croissant.json", "a.md", "a.png"]
    assert sorted(os.listdir(path.parent)) == ["a.croissant.json", "a.h5", "a.md", "a.png"]


def test_the_cards_stand_in_a_folder(rde_folder: Path) -> None:
    assert sorted(os.listdir(rde_folder)) == [
        "README.md",
        "croissant.json",
        "manifest.json",
        "samples.png",
        "test-00000-of-00001.h5",
        "train-00000-of-00001.h5",
    ]


@pytest.mark.parametrize("name", ["a.md", "a.png", "a", "a.croissant.json", "a.b.hdf5", ".h5"])
def test_no_card_has_the_name_of_its_file(name: str) -> None:
    assert Path(name) not in card_paths(Path(name), folder=False).all()


@pytest.mark.parametrize("name", ["a.md", "a.croissant.json", "a.png"])
def test_an_existing_card_is_refused_and_nothing_is_written(path: Path, name: str) -> None:
    (path.parent / name).write_text("precious")
    with pytest.raises(SynthprobeError, match="exists"):
        write_cards(path)
    assert (path.parent / name).read_text() == "precious"
    assert sorted(os.listdir(path.parent)) == sorted(["a.h5", name])


def test_an_existing_card_is_replaced_when_forced(path: Path) -> None:
    path.with_suffix(".md").write_text("old")
    write_cards(path, force=True)
    assert path.with_suffix(".md").read_text("utf-8").startswith("---\n")


def test_a_failed_write_is_said_and_leaves_no_part(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("synthprobe_data.atomic.files.os.replace", fail)
    with pytest.raises(SynthprobeError, match="could not be written: the disk is full"):
        write_cards(path)
    assert os.listdir(path.parent) == ["a.h5"]


def test_what_a_killed_run_left_of_a_card_goes(path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()  # so that no living process has its number
    (path.parent / f"a.md.{host_name()}-{process.pid}-00000000.part").write_text("half a card")
    write_cards(path)
    assert sorted(os.listdir(path.parent)) == ["a.croissant.json", "a.h5", "a.md", "a.png"]


def test_the_same_cards_are_written_again(path: Path) -> None:
    first = {file.name: file.read_bytes() for file in write_cards(path)}
    assert {file.name: file.read_bytes() for file in write_cards(path, force=True)} == first


def test_the_machine_is_named_only_by_the_run_itself(path: Path) -> None:
    assert collect_facts(path).machine is None
    assert collect_facts(path, seconds=1.0).machine == describe_machine()
    assert "Python 3" in describe_machine()


def test_the_facts_of_the_file_are_its_rows(path: Path) -> None:
    facts = collect_facts(path)
    assert facts.splits == {"train": 3, "test": 2}
    assert facts.files[0].split_rows == {"train": (0, 3), "test": (3, 5)}
    assert facts.files[0].content_digest == facts.content_digest
    assert facts.card_path_kind == "file"
    assert facts.picture == "a.png"


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("splits", json.dumps({'a"]; import os #': [0, 5]}), "has the split"),
        ("version", "1.0.0\n# Another card", "has the version"),
    ],
)
def test_names_that_would_break_out_of_the_card_are_refused(
    path: Path, attribute: str, value: str, message: str
) -> None:
    with h5py.File(path, "a") as file:
        file.attrs[attribute] = np.bytes_(value.encode())
        if attribute == "splits":
            starts = json.dumps(dict.fromkeys(json.loads(value), 0))
            file.attrs["index_start"] = np.bytes_(starts.encode())
    with pytest.raises(SynthprobeError, match=message):
        write_cards(path)
    assert os.listdir(path.parent) == ["a.h5"]


def test_the_picture_shows_the_test_samples_and_their_ranks(path: Path) -> None:
    with open_dataset(path) as data:
        sheet = np.asarray(Image.open(io.BytesIO(draw_picture(data))))
        samples = data["test"][:]
    # Both samples, three times as large, with gaps of 8 around them.
    assert sheet.shape == (8 + 2 * (120 + 8), 8 + 2 * (96 + 8), 3)
    for i in range(2):
        left = 8 + i * 104
        picture = sheet[8:128:3, left : left + 96 : 3]
        ranks = sheet[136:256:3, left : left + 96 : 3]
        assert (picture == samples["image"][i]).all()
        assert (
            ranks[..., 0] == samples["rank"][i].astype(int) * 255 // samples["rank"].max()
        ).all()


def test_large_pictures_are_reduced(tmp_path: Path) -> None:
    config = RdeConfig(height=600, width=300, n_rectangles=2)
    make_file("rde", tmp_path / "a.h5", train=1, test=0, config=config, workers=1, cards=False)
    with open_dataset(tmp_path / "a.h5") as data:
        assert Image.open(io.BytesIO(draw_picture(data))).size == (128 + 16, 2 * 256 + 24)
