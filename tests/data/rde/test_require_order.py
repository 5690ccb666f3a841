"""``--require-order``: every scene has two ranks, and `verify` holds files to that."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, make_file, make_sample, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import RDE
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.rde.verify import check_block, row_checks
from synthprobe_data.shards.layout import Column, columns_of
from synthprobe_data.verification.verify import verify

FREE = RdeConfig(height=24, width=28, n_rectangles=3, n_vis=2, n_gap=2, n_par=2)
ORDERED = dataclasses.replace(FREE, require_order=True)
OPTIONS = (
    *("--height", "24", "--width", "28", "--n-rectangles", "3"),
    *("--n-vis", "2", "--n-gap", "2", "--n-par", "2", "--train", "30", "--test", "10"),
)


def flat_rows(path: Path) -> list[int]:
    with h5py.File(path) as file:
        return np.flatnonzero(file["rectangle_rank"][:].max(axis=1) < 2).tolist()


def test_the_command_makes_no_flat_scene_and_without_the_flag_some(tmp_path: Path) -> None:
    free, ordered = tmp_path / "free.h5", tmp_path / "ordered.h5"
    assert main(["rde", "--out", str(free), *OPTIONS]) == 0
    assert main(["rde", "--out", str(ordered), *OPTIONS, "--require-order"]) == 0
    assert flat_rows(free)
    assert flat_rows(ordered) == []
    assert verify(ordered).ok
    assert "require_order" in ordered.with_suffix(".md").read_text("utf-8")
    with open_dataset(ordered) as data:
        assert data.config == ORDERED


def test_workers_blocks_and_shards_do_not_change_the_samples(tmp_path: Path) -> None:
    sizes = {"train": 30, "test": 10}
    one = generate_file(tmp_path / "1.h5", RDE, ORDERED, splits=sizes, workers=1, block_rows=7)
    two = generate_file(tmp_path / "2.h5", RDE, ORDERED, splits=sizes, workers=2, block_rows=3)
    many = generate_folder(tmp_path / "many", RDE, ORDERED, shards=4, splits=sizes, workers=1)
    assert one.content_digest == two.content_digest == many.content_digest
    sample = make_sample("rde", index=17, config=ORDERED)
    with open_dataset(tmp_path / "1.h5") as data:
        assert data["train"][17]["rectangles"].tolist() == sample["rectangles"].tolist()


def test_a_flat_row_fails_its_own_check() -> None:
    block = generate_block(FREE, 0, "train", 0, 40)
    flat = block["rectangle_rank"].max(axis=1) < 2
    assert 0 < flat.sum() < 40
    bit = list(row_checks(ORDERED)).index("order")
    assert ((check_block(ORDERED, block) == 1 << bit) == flat).all()
    assert not check_block(FREE, block).any()
    assert "order" not in row_checks(FREE)


def test_verify_finds_flat_rows_in_a_file_that_says_that_it_has_none(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    make_file("rde", path, train=20, test=0, config=FREE, workers=1, cards=False)
    flat = flat_rows(path)
    with h5py.File(path, "r+") as file:
        file.attrs["config"] = np.bytes_(json.dumps(ORDERED.to_dict(), sort_keys=True))
    report = verify(path)
    assert not report.ok
    found = {failure.row for failure in report.failures if failure.check == "order"}
    assert found == set(flat)


def test_files_without_it_say_what_they_always_said() -> None:
    assert "require_order" not in FREE.to_dict()
    assert ORDERED.to_dict()["require_order"] is True
    assert RdeConfig.from_dict(ORDERED.to_dict()) == ORDERED
    shapes: list[list[Column]] = [columns_of(RDE, config) for config in (FREE, ORDERED)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_rectangles": 1}, "n_rectangles is 1: give at least 2"),
        ({"require_order": 1}, "require_order is 1: it must be true or false"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, int], sentence: str) -> None:
    with pytest.raises(SynthprobeError, match=sentence):
        RdeConfig(**{"require_order": True, **settings})  # type: ignore[arg-type]


def test_an_order_that_no_scene_has_is_given_up_with_the_sample_named() -> None:
    config = RdeConfig(height=8, width=8, require_order=True, trials=20)
    with pytest.raises(SynthprobeError, match=r"test sample 7 could be kept \(require_order"):
        generate_block(config, 0, "test", 7, 1)
