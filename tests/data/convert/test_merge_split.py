"""Taking datasets apart and putting them together keeps every row."""

from __future__ import annotations

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.convert.merge_split import merge, split
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.verification.verify import verify

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
TRAIN, TEST = 23, 9


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "rde.h5"
    make_file("rde", path, train=TRAIN, test=TEST, seed=5, config=SMALL)
    return path


def digest_of(path: Path) -> str:
    return open_dataset(path).content_digest


def rows_of(path: Path) -> dict[str, np.ndarray]:
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file}


@pytest.mark.parametrize("shards", [2, 3, 7, TRAIN + TEST])
def test_a_dataset_survives_being_taken_apart_and_put_together(
    whole: Path, tmp_path: Path, shards: int
) -> None:
    digest = split(whole, tmp_path / "rde", shards)
    assert digest == digest_of(whole) == digest_of(tmp_path / "rde")
    assert len(list((tmp_path / "rde").glob("*.h5"))) == shards
    assert merge([tmp_path / "rde"], tmp_path / "again.h5") == digest
    with h5py.File(whole) as before, h5py.File(tmp_path / "again.h5") as after:
        assert set(before) == set(after)
        for name in before:
            assert (before[name][()] == after[name][()]).all()
            assert before[name].chunks == after[name].chunks
        assert set(before.attrs) == set(after.attrs)
        for name, value in before.attrs.items():
            assert np.array_equal(after.attrs[name], value)
    assert verify(tmp_path / "rde").ok
    assert verify(tmp_path / "again.h5").ok


def test_compressed_rows_are_copied_as_they_are(whole: Path, tmp_path: Path) -> None:
    split(whole, tmp_path / "rde", 2)
    with h5py.File(whole) as before, h5py.File(tmp_path / "rde/test-00000-of-00001.h5") as after:
        for row in range(TEST):
            assert before["image"].id.read_direct_chunk((TRAIN + row, 0, 0, 0)) == after[
                "image"
            ].id.read_direct_chunk((row, 0, 0, 0))


def test_shards_are_shared_out_by_size_and_the_manifest_describes_them(
    whole: Path, tmp_path: Path
) -> None:
    split(whole, tmp_path / "rde", 4)
    manifest = read_manifest(tmp_path / "rde")
    assert [(s.file, s.index_start, s.rows) for s in manifest.shards] == [
        ("train-00000-of-00003.h5", 0, 7),
        ("train-00001-of-00003.h5", 7, 8),
        ("train-00002-of-00003.h5", 15, 8),
        ("test-00000-of-00001.h5", 0, 9),
    ]
    assert manifest.splits == {"train": TRAIN, "test": TEST}
    assert sorted(os.listdir(tmp_path)) == ["rde"]


def test_shards_can_be_shared_out_anew(whole: Path, tmp_path: Path) -> None:
    split(whole, tmp_path / "three", 3)
    assert split(tmp_path / "three", tmp_path / "five", 5) == digest_of(whole)
    # Even into the folder that they come from.
    assert split(tmp_path / "five", tmp_path / "five", 2, force=True) == digest_of(whole)
    assert len(list((tmp_path / "five").iterdir())) == 3
    assert verify(tmp_path / "five").ok


def test_parts_may_come_in_any_order_as_files_and_folders(whole: Path, tmp_path: Path) -> None:
    split(whole, tmp_path / "rde", 4)
    parts = [tmp_path / f"rde/train-0000{k}-of-00003.h5" for k in (2, 0, 1)]
    parts.insert(1, tmp_path / "rde/test-00000-of-00001.h5")
    assert merge(parts, tmp_path / "again.h5") == digest_of(whole)


def test_a_part_keeps_its_indices(whole: Path, tmp_path: Path) -> None:
    split(whole, tmp_path / "rde", 4)
    middle = [tmp_path / f"rde/train-0000{k}-of-00003.h5" for k in (1, 2)]
    merge(middle, tmp_path / "part.h5")
    data = open_dataset(tmp_path / "part.h5")
    assert data.splits == {"train": 16}
    assert data["train"].index_start == 7
    split(tmp_path / "part.h5", tmp_path / "parts", 2)
    assert [s.index_start for s in read_manifest(tmp_path / "parts").shards] == [7, 15]
    assert verify(tmp_path / "parts").ok


def test_parts_that_do_not_belong_together_are_refused(whole: Path, tmp_path: Path) -> None:
    split(whole, tmp_path / "rde", 4)
    first, second, third = (tmp_path / f"rde/train-0000{k}-of-00003.h5" for k in range(3))
    make_file("rde", tmp_path / "seed.h5", train=3, test=0, seed=6, config=SMALL)
    make_file("rde", tmp_path / "config.h5", train=3, test=0, seed=5)
    for parts, sentence in (
        ([first, third], "does not go on where"),
        ([whole, second], "does not go on where"),
        ([first, first], "named twice"),
        ([whole, tmp_path / "seed.h5"], "differ in seed"),
        ([whole, tmp_path / "config.h5"], "differ in config"),
        ([first, tmp_path / "gone.h5"], "does not exist"),
        ([], "nothing to read"),
    ):
        with pytest.raises(SynthprobeError, match=sentence):
            merge(parts, tmp_path / "out.h5")
    assert not list(tmp_path.glob("out*"))


def test_a_damaged_row_is_not_given_a_new_digest(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "rde.h5"
    path.write_bytes(whole.read_bytes())
    with h5py.File(path, "r+") as file:
        file["rank"][4, 0, 0] ^= 1
    with pytest.raises(SynthprobeError, match="is damaged"):
        merge([path], tmp_path / "out.h5")
    with pytest.raises(SynthprobeError, match="is damaged"):
        split(path, tmp_path / "out", 3)
    assert os.listdir(tmp_path) == ["rde.h5"]


def test_rows_stored_in_another_way_are_packed_anew(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "rde.h5"
    path.write_bytes(whole.read_bytes())
    with h5py.File(path, "r+") as file:
        rank = file["rank"][()]
        del file["rank"]
        file.create_dataset("rank", data=rank, chunks=(5, *rank.shape[1:]))
    assert merge([path], tmp_path / "again.h5") == digest_of(whole)
    assert verify(tmp_path / "again.h5").ok
    with h5py.File(tmp_path / "again.h5") as file:
        assert file["rank"].compression == "gzip"


def test_existing_targets_are_left_as_they_are(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "old.h5").write_bytes(b"precious")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/diary.txt").write_text("precious")
    with pytest.raises(SynthprobeError, match="--force replaces it"):
        merge([whole], tmp_path / "old.h5")
    for force in (False, True):
        with pytest.raises(SynthprobeError, match="left as it is"):
            split(whole, tmp_path / "notes", 2, force=force)
    with pytest.raises(SynthprobeError, match="is a file"):
        split(whole, tmp_path / "old.h5", 2)
    with pytest.raises(SynthprobeError, match="does not exist"):
        split(whole, tmp_path / "gone/rde", 2)
    assert (tmp_path / "old.h5").read_bytes() == b"precious"
    assert (tmp_path / "notes/diary.txt").read_text() == "precious"
    split(whole, tmp_path / "rde", 2)
    with pytest.raises(SynthprobeError, match="--force replaces it"):
        split(whole, tmp_path / "rde", 3)
    split(whole, tmp_path / "rde", 3, force=True)
    assert len(read_manifest(tmp_path / "rde").shards) == 3
    (tmp_path / "new.part").mkdir()
    with pytest.raises(SynthprobeError, match="being written by another run"):
        split(whole, tmp_path / "new", 3)


@pytest.mark.parametrize("shards", [0, 1, TRAIN + TEST + 1])
def test_a_number_of_shards_that_cannot_be_is_refused(
    whole: Path, tmp_path: Path, shards: int
) -> None:
    with pytest.raises(SynthprobeError, match="shards is"):
        split(whole, tmp_path / "rde", shards)
    assert os.listdir(tmp_path) == []


def test_the_name_of_a_split_leads_nowhere_else(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "rde.h5"
    path.write_bytes(whole.read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["splits"] = np.bytes_(json.dumps({"../evil": [0, TRAIN + TEST]}))
        file.attrs["index_start"] = np.bytes_(json.dumps({"../evil": 0}))
    (tmp_path / "inner").mkdir()
    with pytest.raises(SynthprobeError, match="a split named"):
        split(path, tmp_path / "inner/rde", 2)
    assert sorted(os.listdir(tmp_path)) == ["inner", "rde.h5"]
