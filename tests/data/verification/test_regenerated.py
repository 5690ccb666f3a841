"""Rows that keep every rule, in files whose hashes are right, and are not the samples stated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    make_file,
    make_sample,
    open_dataset,
)
from synthprobe_data.cli.shards import main
from synthprobe_data.color_code import COLOR_CODE
from synthprobe_data.config import Config
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.registry import DATASETS
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.header import Header
from synthprobe_data.shards.layout import columns_of
from synthprobe_data.verification.regenerate import alike, differing_rows
from synthprobe_data.verification.verify import verify
from tests.data.shards import forged

SMALL: dict[str, Config] = {
    "rde": RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3),
    "centered-square": CenteredSquareConfig(height=33, width=33, square=9),
    "color-code": ColorCodeConfig(positions=32),
}
DRAWN = ["rde", "color-code"]
TRAIN, TEST = 9, 4
SHARD = "train-00001-of-00002.h5"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file and a folder of each dataset, with their cards."""
    folder = tmp_path_factory.mktemp("made")
    for name, config in SMALL.items():
        make_file(name, folder / f"{name}.h5", train=TRAIN, test=TEST, seed=5, config=config)
        splits = {"train": TRAIN, "test": TEST}
        generate_folder(
            folder / name, DATASETS[name], config, seed=5, shards=3, splits=splits, workers=1
        )
    return folder


def copy_of_file(made: Path, name: str, folder: Path) -> Path:
    for path in made.glob(f"{name}.*"):
        shutil.copy(path, folder)
    return folder / f"{name}.h5"


def copy_of_folder(made: Path, name: str, folder: Path) -> Path:
    return Path(shutil.copytree(made / name, folder / name))


@pytest.mark.parametrize("name", SMALL)
def test_what_is_as_it_was_made_is_made_again_row_by_row(made: Path, name: str) -> None:
    for path in (made / f"{name}.h5", made / name):
        report = verify(path)
        assert report.ok, report.failures
        assert report.done["regenerated"] == TRAIN + TEST
        assert report.notes == []


FORGED_FILES: dict[str, tuple[Callable[[Any], None], dict[str, int]]] = {
    "another seed": (forged.set_seed, {"regenerated": TRAIN + TEST}),
    "another boundary": (forged.move_boundary, {"regenerated": TEST + 1}),
    "another start of train": (
        partial(forged.move_index, split="train"),
        {"regenerated": TRAIN},
    ),
    "the last index there can be": (
        partial(forged.move_index, split="test", by=2**63),
        {"regenerated": TEST},
    ),
    "another name of a split": (
        partial(forged.rename_split, old="test", new="validation"),
        {"regenerated": TEST},
    ),
    "exchanged rows": (partial(forged.exchange, one=2, other=7), {"regenerated": 2}),
    "rows exchanged between splits": (
        partial(forged.exchange, one=2, other=TRAIN + 1),
        {"regenerated": 2},
    ),
}


@pytest.mark.parametrize("what", FORGED_FILES)
@pytest.mark.parametrize("name", DRAWN)
def test_a_forged_file_of_drawn_samples_is_told(
    made: Path, tmp_path: Path, name: str, what: str
) -> None:
    path = copy_of_file(made, name, tmp_path)
    change, failed = FORGED_FILES[what]
    forged.forge(path, change)
    assert verify(path).failed == failed


@pytest.mark.parametrize(
    ("what", "failed"),
    [
        ("another seed", {"seed": 1}),
        ("another boundary", {"split": TEST + 1}),
        ("another start of train", {"split": TRAIN}),
        ("another name of a split", {"split": TEST}),
        ("exchanged rows", {"split": 2}),
        ("rows exchanged between splits", {"split": 2}),
    ],
)
def test_a_forged_file_of_samples_that_are_not_drawn_is_told(
    made: Path, tmp_path: Path, what: str, failed: dict[str, int]
) -> None:
    path = copy_of_file(made, "centered-square", tmp_path)
    forged.forge(path, FORGED_FILES[what][0])
    assert verify(path).failed == failed


@pytest.mark.parametrize("name", SMALL)
def test_forged_folders_are_told(made: Path, tmp_path: Path, name: str) -> None:
    drawn = name in DRAWN
    folder = copy_of_folder(made, name, tmp_path / "seed")
    forged.forge_folder(folder, forged.set_seed)
    assert set(verify(folder).failed) == {"regenerated" if drawn else "seed"}

    check = "regenerated" if drawn else "split"
    folder = copy_of_folder(made, name, tmp_path / "rows")
    forged.forge_folder(folder, partial(forged.exchange, one=0, other=1), shard=SHARD)
    report = verify(folder)
    assert report.failed == {check: 2}
    assert {failure.file for failure in report.failures} == {SHARD}

    folder = copy_of_folder(made, name, tmp_path / "index")
    forged.forge_folder(
        folder, partial(forged.move_index, split="test"), shard="test-00000-of-00001.h5"
    )
    assert verify(folder).failed == {check: TEST}

    folder = copy_of_folder(made, name, tmp_path / "name")
    rename = partial(forged.rename_split, old="test", new="validation")
    forged.forge_folder(folder, rename, shard="test-00000-of-00001.h5")
    assert verify(folder).failed == {check: TEST}


def test_a_sentence_names_the_sample_and_what_differs(made: Path, tmp_path: Path) -> None:
    path = copy_of_file(made, "color-code", tmp_path)

    def other_mask(file: h5py.File) -> None:
        revealed = file["revealed"][TRAIN + 1]
        hidden = np.flatnonzero(revealed == 0)[0]
        revealed[hidden] = 1  # one more that is shown breaks no rule
        file["revealed"][TRAIN + 1] = revealed

    forged.forge(path, other_mask)
    (failure,) = verify(path).failures
    assert (failure.check, failure.split, failure.index) == ("regenerated", "test", 1)
    assert failure.sentence == (
        "it keeps the rules, but is not sample 1 of 'test' by seed 5: revealed differs."
    )
    (tmp_path / "rows").mkdir()
    path = copy_of_file(made, "rde", tmp_path / "rows")
    forged.forge(path, forged.set_seed)
    assert "of 'train' by seed 77: " in verify(path).failures[0].sentence


def test_a_row_that_breaks_a_rule_is_explained_by_the_rule(made: Path, tmp_path: Path) -> None:
    path = copy_of_file(made, "rde", tmp_path)

    def damage(file: h5py.File) -> None:
        file["rank"][3, 0, 0] ^= 1
        forged.exchange(file, 2, 7)

    forged.forge(path, damage)
    report = verify(path)
    assert {(f.check, f.row) for f in report.failures} == {
        ("rank", 3),
        ("regenerated", 2),
        ("regenerated", 7),
    }
    assert report.done["regenerated"] == TRAIN + TEST - 1


def test_some_rows_from_all_over_a_file_are_made_again(made: Path, tmp_path: Path) -> None:
    path = copy_of_file(made, "rde", tmp_path)
    report = verify(path, sample=6)
    assert report.ok
    assert report.done["regenerated"] == 6
    forged.forge(path, forged.set_seed)
    assert verify(path, sample=6).failed == {"regenerated": 6}


def test_a_file_of_another_version_is_not_made_again_and_that_is_said(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy_of_file(made, "rde", tmp_path)

    def older(file: h5py.File) -> None:
        file.attrs["version"] = np.bytes_("0.0.1")
        forged.exchange(file, 2, 7)

    forged.forge(path, older)
    report = verify(path)
    assert report.failed == {"version": 1}
    assert "regenerated" not in report.done
    (note,) = report.notes
    assert note.startswith("rde.h5: not regenerated: made by version '0.0.1' of rde, this is ")
    assert report.done["rank"] == TRAIN + TEST
    assert main(["verify", str(path)]) == 1
    assert note in capsys.readouterr().out
    assert main(["verify", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["notes"] == [note]


def test_what_the_command_says_of_the_check(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy_of_file(made, "color-code", tmp_path)
    assert main(["verify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"]["regenerated"] == TRAIN + TEST
    forged.forge(path, partial(forged.exchange, one=2, other=7))
    assert main(["verify", str(path)]) == 1
    assert f"regenerated  {TRAIN + TEST} checked, 2 FAILED" in capsys.readouterr().out


def test_workers_find_other_samples_as_one_process_does(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synthprobe_data.verification.rows.TASK_BYTES", 2**14)
    path = copy_of_file(made, "rde", tmp_path)
    forged.forge(path, partial(forged.exchange, one=2, other=TRAIN + 1))
    alone, together = verify(path, workers=1), verify(path, workers=2)
    assert together.workers == 2
    assert alone.failures == together.failures
    assert alone.done == together.done


def header_of(config: ColorCodeConfig, seed: int) -> Header:
    return Header(
        dataset=COLOR_CODE,
        version=COLOR_CODE.version,
        config=config,
        seed=seed,
        splits={},
        index_start={},
        content_digest="",
        columns=columns_of(COLOR_CODE, config),
        rows=0,
    )


@given(st.data())
def test_of_any_rows_just_those_that_differ_are_named(data: st.DataObject) -> None:
    config = ColorCodeConfig(positions=16, colors=4)
    seed = data.draw(st.integers(0, 2**64 - 1))
    place = st.tuples(st.sampled_from(["train", "test", "more"]), st.integers(0, 12))
    places = data.draw(st.lists(place, min_size=1, max_size=12))
    samples = [
        make_sample("color-code", split=split, index=index, seed=seed, config=config)
        for split, index in places
    ]
    block = {name: np.stack([sample[name] for sample in samples]) for name in samples[0]}
    header = header_of(config, seed)
    assert differing_rows(header, block, places) == []
    row = data.draw(st.integers(0, len(places) - 1))
    names = data.draw(st.sets(st.sampled_from(sorted(block)), min_size=1, max_size=2))
    for name in names:
        flat = block[name][row].reshape(-1)  # a view
        flat[data.draw(st.integers(0, flat.size - 1))] ^= data.draw(st.integers(1, 255))
    ((found, sentence),) = differing_rows(header, block, places)
    assert found == row
    assert sentence.endswith(
        f": {', '.join(n for n in block if n in names)} differ{'s' * (len(names) == 1)}."
    )


def test_every_row_is_where_the_reader_says(made: Path) -> None:
    with open_dataset(made / "rde") as data:
        paths = [reader.path for reader in data.readers]
    for path in paths:
        with BlockReader(path) as reader:
            block = reader.read_block(range(len(reader)))
            for row in range(len(reader)):
                split, index = reader.locate(row)
                sample = make_sample("rde", split=split, index=index, seed=5, config=SMALL["rde"])
                assert all((block[name][row] == sample[name]).all() for name in sample)


@given(st.data())
def test_arrays_are_alike_if_each_of_their_numbers_is(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.uint8, np.int16, np.uint64]))
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    a = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    b = a.copy()
    if a.size and data.draw(st.booleans()):
        b.flat[data.draw(st.integers(0, a.size - 1))] += 1
    assert alike(a, b) == np.array_equal(a, b)
    assert alike(a[::2], b[::2]) == np.array_equal(a[::2], b[::2])
    assert alike(a, b.astype(np.int64)) == np.array_equal(a, b)
    assert not alike(a, b[:-1]) or not len(b)
