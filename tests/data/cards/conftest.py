"""A small dataset in one file and in a folder of shards, each with its cards."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from synthprobe_data import RdeConfig, make_file
from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.cards.write import write_cards
from synthprobe_data.generation.file import generate_file
from synthprobe_data.rde import RDE
from synthprobe_data.shards.digest import ContentDigest, row_digests
from synthprobe_data.shards.manifest import Manifest, ShardEntry
from synthprobe_data.shards.reader import ShardReader

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
SPLITS: dict[str, Any] = {"train": 26, "test": 12}


@pytest.fixture(scope="session")
def rde_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with both splits."""
    path = tmp_path_factory.mktemp("file") / "rde.h5"
    make_file("rde", path, **SPLITS, config=SMALL, workers=1, cards=False)
    write_cards(
        path,
        command=f"{path.parent}/bin/synthprobe-gen rde --out {path} --workers 3",
        seconds=12.34,
        workers=3,
    )
    return path


@pytest.fixture(scope="session")
def rde_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one shard for each split."""
    folder = tmp_path_factory.mktemp("folder")
    digest = ContentDigest()
    shards = []
    for split, rows in SPLITS.items():
        path = folder / f"{split}-00000-of-00001.h5"
        generate_file(path, RDE, SMALL, splits={split: rows}, workers=1, cards=False)
        with ShardReader(path) as reader:
            digest.update(row_digests(reader.read_rows(0, rows)))
            content_digest = reader.header.content_digest
        shards.append(
            ShardEntry(
                file=path.name,
                split=split,
                index_start=0,
                rows=rows,
                bytes=path.stat().st_size,
                sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
                content_digest=content_digest,
            )
        )
    manifest = Manifest(
        dataset=RDE.name,
        version=RDE.version,
        config=SMALL.to_dict(),
        seed=0,
        splits=SPLITS,
        content_digest=digest.hexdigest(),
        shards=shards,
    )
    (folder / MANIFEST).write_text(manifest.to_json(), "utf-8")
    write_cards(folder, command=f"synthprobe-gen rde --out {folder}/", seconds=5.0, workers=1)
    return folder


@pytest.fixture(params=["file", "folder"])
def described(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Either of the two, and its card."""
    path: Path = request.getfixturevalue(f"rde_{request.param}")
    return path, (path / "README.md" if path.is_dir() else path.with_suffix(".md"))
