"""The manifest of a folder of shards: written last, it says that the folder is complete."""

from __future__ import annotations

import errno
import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.layout import FORMAT_VERSION
from synthprobe_data.text import printable

MAX_MANIFEST_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, kw_only=True)
class ShardEntry:
    """One shard: where it is, which samples it has, and both of its hashes."""

    file: str
    split: str
    index_start: int
    """Index, within its split, of its first row."""
    rows: int
    bytes: int
    sha256: str
    content_digest: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All shards of a folder, in the order of their rows."""

    dataset: str
    version: str
    config: dict[str, Any]
    seed: int
    splits: dict[str, int]
    """The number of samples of each split."""
    content_digest: str
    """Of all rows; the same as of the dataset in one file."""
    shards: list[ShardEntry]

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each shard, by its name."""
        return {entry.file: entry.sha256 for entry in self.shards}

    def to_json(self) -> str:
        """The manifest as it stands in its file."""
        return json.dumps({"synthprobe_format": FORMAT_VERSION, **asdict(self)}, indent=1) + "\n"


def describe_shard(
    path: Path, *, split: str, index_start: int, rows: int, content_digest: str
) -> ShardEntry:
    """The entry of a shard that has been written."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return ShardEntry(
        file=path.name,
        split=split,
        index_start=index_start,
        rows=rows,
        bytes=path.stat().st_size,
        sha256=sha256,
        content_digest=content_digest,
    )


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; `SynthprobeError` if there is none, or a wrong one."""
    path = folder / MANIFEST
    try:
        check_regular(path)
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise SynthprobeError("it is too large for a manifest.")
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SynthprobeError(
            f"{folder} has no {MANIFEST}: it is not a dataset, or its run did not end."
        ) from None
    except SynthprobeError as error:
        raise SynthprobeError(f"{path} cannot be read: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SynthprobeError(f"{path} cannot be read: {printable(str(error))}.") from error
    try:
        if found.pop("synthprobe_format") not in range(1, FORMAT_VERSION + 1):
            known = " or ".join(map(str, range(1, FORMAT_VERSION + 1)))
            raise SynthprobeError(f"it is not of format {known}.")
        shards = [_checked_entry(ShardEntry(**entry)) for entry in found.pop("shards")]
        return _checked(Manifest(**found, shards=shards))
    except (SynthprobeError, TypeError, AttributeError, KeyError) as error:
        raise SynthprobeError(f"{path} cannot be read: {printable(str(error))}") from error


def check_there(path: Path) -> None:
    """Raise `SynthprobeError` if nothing is there, and `OSError` if that cannot be found out.

    `Path.exists` tells the two apart only before Python 3.14.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        raise SynthprobeError(f"{path} does not exist.") from None


def check_regular(path: Path) -> None:
    """Raise `SynthprobeError` for what is there but is no file: reading a pipe would wait."""
    if path.exists() and not path.is_file():
        raise SynthprobeError("it is no regular file.")


def _checked(manifest: Manifest) -> Manifest:
    fits = {
        "dataset": isinstance(manifest.dataset, str),
        "version": isinstance(manifest.version, str),
        "config": isinstance(manifest.config, dict),
        "seed": is_whole(manifest.seed),
        "splits": isinstance(manifest.splits, dict)
        and all(map(is_whole, manifest.splits.values())),
        "content_digest": is_sha256(manifest.content_digest),
    }
    for name, right in fits.items():
        if not right:
            raise SynthprobeError(f"its {name} is not what it must be.")
    return manifest


def _checked_entry(entry: ShardEntry) -> ShardEntry:
    name = entry.file
    # Only files of this folder: an untrusted manifest must not lead elsewhere.
    if (
        not isinstance(name, str)
        or not name.isprintable()
        or Path(name).name != name
        or not name.endswith(".h5")
    ):
        raise SynthprobeError(f"it names {name!r}, which is not a file beside it.")
    for text in (entry.split, entry.sha256, entry.content_digest):
        if not isinstance(text, str):
            raise SynthprobeError(f"it has {text!r} as a text of {name}.")
    for number in (entry.index_start, entry.rows, entry.bytes):
        if not is_whole(number):
            raise SynthprobeError(f"it has {number!r} as a number of {name}.")
    return entry


def is_whole(value: object) -> bool:
    """Whether this is a whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_sha256(value: object) -> bool:
    """Whether this is a SHA-256 in hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None
