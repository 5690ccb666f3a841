"""Parquet: what Hugging Face reads there is what the dataset has, pictures as pictures."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.cli.shards import main
from synthprobe_data.convert.parquet import export_parquet

parquet = pytest.importorskip("pyarrow.parquet")

CONFIG = RdeConfig(height=16, width=20, n_rectangles=3, n_vis=2, n_gap=2, n_par=2, mode="rules")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "rde.h5"
    make_file("rde", path, config=CONFIG, train=11, test=3, workers=1, cards=False)
    return path


def test_every_row_is_the_sample(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows"
    words = ["export", str(file), "--out", str(out), "--format", "parquet"]
    assert main([*words, "--samples-per-shard", "4"]) == 0
    names = sorted(path.name for path in out.glob("*.parquet"))
    assert names == ["test-000000.parquet", *(f"train-{i:06}.parquet" for i in range(3))]
    with open_dataset(file) as data:
        for split in ("train", "test"):
            rows = [
                row
                for path in sorted(out.glob(f"{split}-*.parquet"))
                for row in parquet.read_table(path).to_pylist()
            ]
            assert [row["index"] for row in rows] == list(range(len(data[split])))
            for row, sample in zip(rows, data[split], strict=True):
                n = sample["n_rectangles"]
                for name in ("image", "rank"):
                    with Image.open(io.BytesIO(row[name]["bytes"])) as picture:
                        assert (np.asarray(picture) == sample[name]).all()
                assert row["rectangles"] == sample["rectangles"][:n].tolist()
                assert row["above"] == sample["above"][:n, :n].tolist()
                assert row["n_rectangles"] == n


def test_every_hash_is_right(file: Path, tmp_path: Path) -> None:
    assert export_parquet(file, tmp_path / "rows", split="test") == 3
    lines = (tmp_path / "rows" / "SHA256SUMS").read_text().splitlines()
    hashes = {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}
    found = {path.name for path in (tmp_path / "rows").iterdir()}
    assert found == {*hashes, "SHA256SUMS"}
    for name, sha256 in hashes.items():
        assert hashlib.sha256((tmp_path / "rows" / name).read_bytes()).hexdigest() == sha256


def test_hugging_face_gives_pictures(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    export_parquet(file, tmp_path / "rows")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    found = datasets.load_dataset(str(tmp_path / "rows"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in found.items()} == {"train": 11, "test": 3}
    row = found["train"][7]
    with open_dataset(file) as data:
        sample = data["train"][7]
    assert isinstance(found["train"].features["image"], datasets.Image)
    assert (np.asarray(row["image"]) == sample["image"]).all()
    assert (np.asarray(row["rank"]) == sample["rank"]).all()


def test_without_pyarrow_it_says_what_to_install(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SynthprobeError, match=r"synthprobe\[parquet\]"):
        export_parquet(file, tmp_path / "rows")
    with pytest.raises(SynthprobeError, match="samples_per_shard"):
        export_parquet(file, tmp_path / "rows", 0)
    assert not (tmp_path / "rows").exists()
