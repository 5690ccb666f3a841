"""Changing what a dataset states or holds, and making all of its hashes right again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from synthprobe_data.shards.digest import content_digest, digest_of_rows, row_digests

Change = Callable[[h5py.File], None]


def read_json(file: h5py.File, name: str) -> Any:
    """An attribute that is JSON."""
    return json.loads(file.attrs[name])


def set_json(file: h5py.File, name: str, value: Any) -> None:
    """Give an attribute that is JSON another value."""
    file.attrs[name] = np.bytes_(json.dumps(value))


def set_seed(file: h5py.File, seed: int = 77) -> None:
    """State another seed."""
    file.attrs["seed"] = np.uint64(seed)


def move_boundary(file: h5py.File, by: int = 1) -> None:
    """Make the last rows of the first split the first ones of the second."""
    splits = read_json(file, "splits")
    one, other = splits
    splits[one][1] -= by
    splits[other][0] -= by
    set_json(file, "splits", splits)


def rename_split(file: h5py.File, old: str, new: str) -> None:
    """Give a split another name."""
    for name in ("splits", "index_start"):
        value = read_json(file, name)
        set_json(file, name, {new if key == old else key: value[key] for key in value})


def move_index(file: h5py.File, split: str, by: int = 1) -> None:
    """State that the rows of a split are those of other indices."""
    starts = read_json(file, "index_start")
    set_json(file, "index_start", {**starts, split: starts[split] + by})


def exchange(file: h5py.File, one: int, other: int) -> None:
    """Exchange two rows in all datasets."""
    for name in file:
        stored = file[name]
        stored[one], stored[other] = stored[other], stored[one]


def restamp(file: h5py.File) -> None:
    """State the digest that the rows have."""
    digest = content_digest({name: file[name][()] for name in file})
    file.attrs["content_digest"] = np.bytes_(digest)


def forge(path: Path, *changes: Change) -> None:
    """Change a file, and state its new digest and hash, also in the cards beside it."""
    before = _sha256(path)
    with h5py.File(path, "r+") as file:
        for change in changes:
            change(file)
        restamp(file)
    for beside in path.parent.glob("*croissant.json"):
        text = beside.read_text("utf-8").replace(before, _sha256(path))
        beside.write_text(text, "utf-8")


def forge_folder(folder: Path, *changes: Change, shard: str | None = None) -> None:
    """Change all shards of a folder, or one, and state in the manifest what they now are."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    digests, sizes = [], dict[str, int]()
    for entry in manifest["shards"]:
        file_path = folder / entry["file"]
        if shard in (None, entry["file"]):
            forge(file_path, *changes)
        with h5py.File(file_path) as file:
            manifest["seed"] = int(file.attrs["seed"])
            manifest["config"] = read_json(file, "config")
            ((entry["split"], entry["index_start"]),) = read_json(file, "index_start").items()
            entry["content_digest"] = file.attrs["content_digest"].decode()
            rows = {name: file[name][()] for name in file}
        digests.append(row_digests(rows))
        entry["bytes"], entry["sha256"] = file_path.stat().st_size, _sha256(file_path)
        sizes[entry["split"]] = sizes.get(entry["split"], 0) + entry["rows"]
    manifest["splits"] = sizes
    manifest["content_digest"] = digest_of_rows(b"".join(digests))
    path.write_text(json.dumps(manifest), "utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
