"""What other programs get: the same pixels and the same facts."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from PIL import Image

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.convert.export import export_png, export_webdataset
from synthprobe_data.convert.merge_split import split

SMALL = RdeConfig(
    height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3, trials=20, difficulty=True
)
SIZES: dict[str, Any] = {"train": 11, "test": 4}
NOTES = ["LICENSE", "README.md", "SHA256SUMS", "dataset.json"]


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
    assert sorted(os.listdir(tmp_path / "out")) == sorted([*names, *NOTES])
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

    monkeypatch.setattr("synthprobe_data.convert.export.png", full)
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


@pytest.mark.parametrize("export", [export_png, export_webdataset])
def test_an_export_carries_all_that_the_file_says(
    source: Path, tmp_path: Path, export: Callable[[Path, Path], int]
) -> None:
    out = tmp_path / "out"
    export(source, out)
    with h5py.File(source) as file:
        attributes = dict(file.attrs)
    facts = json.loads((out / "dataset.json").read_text())
    for name in ("dataset", "version", "license", "citation", "content_digest"):
        assert facts[name] == attributes[name].decode()
    for name in ("config", "normalisation"):
        assert facts[name] == json.loads(attributes[name])
    assert facts["palette"] == attributes["palette"].tolist()
    assert facts["seed"] == attributes["seed"]
    assert {name: part["samples"] for name, part in facts["splits"].items()} == SIZES
    card = (out / "README.md").read_text()
    assert card.startswith("---\nlicense: cc-by-4.0\n")
    for word in (facts["content_digest"], "## Licence", "## Citation", '"n_vis": 3', "`palette`"):
        assert word in card
    assert "CC-BY-4.0" in (out / "LICENSE").read_text()
    lines = (out / "SHA256SUMS").read_text().splitlines()
    stated = {line[66:]: line[:64] for line in lines}
    found = {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert stated == found


@pytest.mark.parametrize("export", [export_png, export_webdataset])
@pytest.mark.parametrize("shards", [None, 3])
def test_one_split_can_be_exported(
    source: Path, tmp_path: Path, export: Callable[..., int], shards: int | None
) -> None:
    path = source
    if shards is not None:
        path = tmp_path / "rde"
        split(source, path, shards)
    assert export(path, tmp_path / "all") == 15
    assert export(path, tmp_path / "out", split="test") == 4
    facts = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert facts["splits"] == {"test": {"samples": 4, "index_start": 0}}
    assert facts["content_digest"] == open_dataset(source).content_digest
    names = {p.relative_to(tmp_path / "out") for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert not any(name.as_posix().startswith("train") for name in names)
    for name in names:
        if name.name not in NOTES:
            other = (tmp_path / "all" / name).read_bytes()
            assert (tmp_path / "out" / name).read_bytes() == other
    with pytest.raises(SynthprobeError, match="has no split 'dev'"):
        export(path, tmp_path / "dev", split="dev")
    assert not (tmp_path / "dev").exists()


def test_damage_in_another_split_of_the_file_is_found(source: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(source, tmp_path))
    with h5py.File(path, "r+") as file:
        file["rank"][2] = 255 - file["rank"][2]  # of train
    with pytest.raises(SynthprobeError, match="is damaged"):
        export_png(path, tmp_path / "out", split="test")
    assert os.listdir(tmp_path) == ["rde.h5"]


def test_hugging_face_reads_the_exports_by_their_cards(source: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    export_png(source, tmp_path / "png")
    export_webdataset(source, tmp_path / "tar", split="test")
    cache = str(tmp_path / "cache")
    pictures = datasets.load_dataset(str(tmp_path / "png"), cache_dir=cache)
    assert {name: len(rows) for name, rows in pictures.items()} == SIZES
    with open_dataset(source) as data:
        found = np.asarray(pictures["train"][3]["image"])
        assert (found == data["train"][3]["image"]).all()
    tars = datasets.load_dataset(str(tmp_path / "tar"), cache_dir=cache)
    assert {name: len(rows) for name, rows in tars.items()} == {"test": 4}


def test_a_version_that_no_card_can_name_is_refused(source: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(source, tmp_path))
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = np.bytes_("1.0](x)")
    with pytest.raises(SynthprobeError, match="no card can name it"):
        export_png(path, tmp_path / "out")
    assert os.listdir(tmp_path) == ["rde.h5"]
