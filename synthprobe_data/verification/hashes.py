"""The SHA-256 of files, as the manifest or the Croissant file beside them states it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.text import printable

MAX_CROISSANT_BYTES: Final = 64 * 2**20
_NO_CROISSANT: Final = (
    OSError,
    ValueError,
    RecursionError,
    TypeError,
    KeyError,
    AttributeError,
)
_FILE_SET: Final = "cr:FileSet"  # names files that stand there one by one, too


def stated_hashes(path: Path) -> dict[str, str]:
    """The stated SHA-256 of each file of a dataset, by its name, as far as there is one.

    `SynthprobeError` if what should state it cannot be read.
    """
    if path.is_dir():
        return {entry.file: entry.sha256 for entry in read_manifest(path).shards}
    croissant = card_paths(path, folder=False).croissant
    hashes = croissant_hashes(croissant)
    if hashes is None:
        return {}
    if len(hashes) == 1:  # it goes with its file, also when both have got another name
        hashes = {path.name: next(iter(hashes.values()))}
    if not isinstance(hashes.get(path.name), str):
        raise SynthprobeError(f"{croissant} states no SHA-256 of {path.name}.")
    return {path.name: hashes[path.name]}


def croissant_hashes(croissant: Path) -> dict[str, str] | None:
    """The SHA-256 of each file that a Croissant file names; ``None`` if there is no such file.

    `SynthprobeError` if it cannot be read.
    """
    if not croissant.exists():
        return None
    try:
        if not croissant.is_file() or croissant.stat().st_size > MAX_CROISSANT_BYTES:
            raise ValueError("it is no Croissant file")
        files = json.loads(croissant.read_text("utf-8"))["distribution"]
        return {file["name"]: file["sha256"] for file in files if file.get("@type") != _FILE_SET}
    except _NO_CROISSANT as error:
        raise SynthprobeError(f"{croissant} cannot be read: {printable(str(error))}.") from error
