"""What other programs get: the same pixels and the same facts."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.shards.edit import split
from synthprobe_data.shards.export import export_png, export_webdataset

SMALL = RdeConfig(
    height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3, trials=20, difficulty=True
)
SIZES = {"train": 11, "test": 4}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "rde.h5"
    make_file("rde", path, **SIZES, config=SMALL)
    return path


def assert_facts(facts: dict[str, object], sample: dict[str, np.ndarray]) -> None:
    n = int(sample["n_rectangles"])
    assert facts["n_rectangles"] == n
    for name in ("rectangles", "color", "rectangle_rank", "pieces"):
        assert facts[name] == sample[name][:n].tolist()
    for name in ("convexity_only", "cue_distance", "depth"):
        assert facts[name] == sample[name]
    assert facts["above"] == sample["above"][:n, :n].tolist()


def test_png_files_have_the_pixels_and_the_table_has_the_facts(
    source: Path, tmp_path: Path
) -> None:
    assert export_png(source, tmp_path / "out") == 15
    data = open_dataset(source)
    for name, size in SIZES.items():
        folder = tmp_path / "out" / name
        with (folder / "metadata.csv").open(newline="") as stream:
            lines = list(csv.DictReader(stream))
        assert [int(line["index"]) for line in lines] == list(range(size))
        assert {line["split"] for line in lines} == {name}
        for line, sample in zip(lines, data[name], strict=True):
            for kind in ("image", "rank"):
                picture = np.asarray(Image.open(folder / line[f"{kind}_file_name"]))
                assert (picture == sample[kind]).all()
            facts = {key: json.loads(line[key]) for key in list(line)[4:]}
            assert_facts(facts, sample)
        assert len(list(folder.rglob("*.png"))) == 2 * size
    assert os.listdir(tmp_path) == ["out"]


def test_tar_files_have_the_pixels_and_the_facts(source: Path, tmp_path: Path) -> None:
    assert export_webdataset(source, tmp_path / "out", 4) == 15
    names = ["test-000000.tar", *(f"train-00000{k}.tar" for k in range(3))]
    assert sorted(os.listdir(tmp_path / "out")) == names
    data = open_dataset(source)
    seen = []
    for name in names:
        with tarfile.open(tmp_path / "out" / name) as archive:
            members = archive.getmembers()
            assert all(m.mtime == m.uid == m.gid == 0 and not m.uname for m in members)
            assert len(members) <= 3 * 4
            content = {m.name: archive.extractfile(m).read() for m in members}  # type: ignore[union-attr]
        keys = list(dict.fromkeys(member.split(".")[0] for member in content))
        assert list(content) == [
            f"{key}.{end}" for key in keys for end in ("image.png", "rank.png", "json")
        ]
        for key in keys:
            facts = json.loads(content[f"{key}.json"])
            sample = data[facts["split"]][facts["index"]]
            assert key == f"{facts['split']}-{facts['index']:08}"
            assert_facts(facts, sample)
            for kind in ("image", "rank"):
                picture = np.asarray(Image.open(io.BytesIO(content[f"{key}.{kind}.png"])))
                assert (picture == sample[kind]).all()
            seen.append((facts["split"], facts["index"]))
    assert sorted(seen) == sorted((name, i) for name, size in SIZES.items() for i in range(size))


def test_a_folder_of_shards_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    split(source, tmp_path / "rde", 5)
    for path, out in ((source, "a"), (tmp_path / "rde", "b")):
        export_webdataset(path, tmp_path / out, 6)
        export_png(path, tmp_path / f"png-{out}")
    for name in os.listdir(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for path in (tmp_path / "png-a").rglob("*.*"):
        other = tmp_path / "png-b" / path.relative_to(tmp_path / "png-a")
        assert path.read_bytes() == other.read_bytes()


def test_an_existing_folder_is_left_as_it_is(source: Path, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    export_png(source, tmp_path / "old")  # an empty one is welcome
    before = sorted(tmp_path.rglob("*"))
    for export in (export_png, export_webdataset):
        with pytest.raises(SynthprobeError, match="left as it is"):
            export(source, tmp_path / "old")
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(SynthprobeError, match="samples_per_shard is 0"):
        export_webdataset(source, tmp_path / "new", 0)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_broken_off_export_leaves_nothing_behind(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_picture: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("synthprobe_data.shards.export.png", full)
    with pytest.raises(SynthprobeError, match="No space left"):
        export_png(source, tmp_path / "out")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("export", [export_png, export_webdataset])
@pytest.mark.parametrize("column", ["image", "label", "depth"])
@pytest.mark.parametrize("shards", [None, 3])
def test_damaged_rows_are_not_exported(
    source: Path,
    tmp_path: Path,
    export: Callable[[Path, Path], int],
    column: str,
    shards: int | None,
) -> None:
    path = work = Path(shutil.copy(source, tmp_path))
    if shards is not None:
        split(source, tmp_path / "rde", shards)
        path = tmp_path / "rde"
        work = sorted(path.glob("train-*.h5"))[-1]
    with h5py.File(work, "r+") as file:  # a row that can be decoded, but is another one
        file[column][2] = 255 - file[column][2]
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SynthprobeError, match=r"is damaged: its rows do not have its content"):
        export(path, tmp_path / "out")
    assert sorted(tmp_path.rglob("*")) == before
