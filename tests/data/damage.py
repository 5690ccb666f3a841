"""Small datasets, and ways to damage them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import h5py

from synthprobe_data import RdeConfig
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import RDE

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
SMALL_OPTIONS = [
    *("--height", "40", "--width", "32", "--n-rectangles", "4"),
    *("--n-vis", "3", "--n-gap", "2", "--n-par", "3"),
]
SPLITS = {"train": 31, "test": 9}
SHARDS = [
    *(f"train-0000{k}-of-00004.h5" for k in range(4)),
    "test-00000-of-00001.h5",
]


def small_folder(folder: Path, **options: Any) -> Path:
    given: dict[str, Any] = {"splits": SPLITS, "shards": 5, "workers": 1, **options}
    return generate_folder(folder, RDE, SMALL, **given).path


def small_file(path: Path, **options: Any) -> Path:
    given: dict[str, Any] = {"splits": SPLITS, "workers": 1, **options}
    return generate_file(path, RDE, SMALL, **given).path


def flip(path: Path) -> None:
    """Change a byte of a row."""
    with h5py.File(path) as file:
        stored = file["image"].id.get_chunk_info(2)
    content = bytearray(path.read_bytes())
    content[stored.byte_offset + stored.size // 2] ^= 0xFF
    path.write_bytes(content)


def cut(path: Path) -> None:
    """Take the end of a file away, as a download that was cut off: its header is lost."""
    path.write_bytes(path.read_bytes()[:-1000])


def change_manifest(folder: Path, **values: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}
