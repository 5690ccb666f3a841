"""Whether a folder of shards is what its manifest says, to the last byte."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.collection import open_dataset
from synthprobe_data.shards.digest import ContentDigest, row_digests
from synthprobe_data.shards.manifest import ShardEntry, read_manifest

_ROWS: Final = 256


def check_contents(folder: Path) -> None:
    """Raise `SynthprobeError` unless every hash and the content digest are those of the manifest.

    Parameters
    ----------
    folder
        Of shards.
    """
    manifest = read_manifest(folder)
    for entry in manifest.shards:
        if not is_right(folder / entry.file, entry):
            raise SynthprobeError(f"{folder / entry.file} is not what {MANIFEST} says it is.")
    with open_dataset(folder) as data:
        digest = ContentDigest()
        for name, size in data.splits.items():
            for start in range(0, size, _ROWS):
                digest.update(row_digests(data[name][start : start + _ROWS]))
    if digest.hexdigest() != manifest.content_digest:
        raise SynthprobeError(
            f"{folder}: the samples have the content digest {digest.hexdigest()}, and {MANIFEST} "
            f"says {manifest.content_digest}."
        )


def is_right(path: Path, entry: ShardEntry) -> bool:
    """Whether a file has the size and the hash of its entry."""
    if not path.is_file() or path.stat().st_size != entry.bytes:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
