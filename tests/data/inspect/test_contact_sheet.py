"""The contact sheet: what is drawn where, against the kernels."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.inspect.contact_sheet import contact_sheet, write_sheet


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "rde.h5"
    config = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
    make_file("rde", path, train=5, test=3, config=config)
    return path


def test_the_sheet_shows_the_pictures_of_the_samples(source: Path) -> None:
    sheet, drawn = contact_sheet(source, samples=2, split="test", start=1)
    assert drawn == 2
    pixels = np.asarray(sheet)
    picture = open_dataset(source)["test"][1]["image"].repeat(8, 0).repeat(8, 1)
    assert (pixels[36 : 36 + 320, 12 : 12 + 256] == picture).all()
    assert not (pixels[36 : 36 + 320, 12 + 2 * 268 : 12 + 2 * 268 + 256] == 255).all()


def test_fewer_samples_than_asked_for_are_all_drawn(source: Path, tmp_path: Path) -> None:
    assert write_sheet(source, tmp_path / "a.png", samples=100) == 5
    assert Image.open(tmp_path / "a.png").width > Image.open(tmp_path / "a.png").height / 2
    assert os.listdir(tmp_path) == ["a.png"]


def test_damaged_numbers_do_not_keep_a_sheet_from_being_drawn(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "rde.h5"
    path.write_bytes(source.read_bytes())
    with h5py.File(path, "r+") as file:
        for name in ("rectangles", "color", "n_rectangles", "rectangle_rank", "above", "label"):
            rows = file[name][()]
            file[name][()] = np.random.default_rng(0).integers(0, 120, rows.shape, rows.dtype)
    contact_sheet(path)


def test_bad_wishes_get_one_sentence(source: Path, tmp_path: Path) -> None:
    (tmp_path / "old.png").write_bytes(b"precious")
    out = tmp_path / "a.png"
    for options, sentence in (
        ({"samples": 0}, "samples is 0"),
        ({"split": "dev"}, "has no split 'dev'"),
        ({"start": 5}, "start is 5"),
        ({"start": -1}, "start is -1"),
    ):
        with pytest.raises(SynthprobeError, match=sentence):
            write_sheet(source, out, **options)
    with pytest.raises(SynthprobeError, match="--force replaces it"):
        write_sheet(source, tmp_path / "old.png")
    with pytest.raises(SynthprobeError, match=r"end it with \.png"):
        write_sheet(source, tmp_path / "a.jpg")
    assert os.listdir(tmp_path) == ["old.png"]
