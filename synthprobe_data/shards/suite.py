"""A suite: a folder of files, each of them a dataset with settings of its own, and one manifest."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.layout import FORMAT_VERSION
from synthprobe_data.shards.manifest import MAX_MANIFEST_BYTES, check_regular, is_sha256, is_whole
from synthprobe_data.text import printable

_KEY: Final = "synthprobe_suite"
_VERSION: Final = 1
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
MAX_MEMBERS: Final = 100


@dataclass(frozen=True, kw_only=True)
class SuiteEntry:
    """One file of a suite."""

    name: str
    meaning: str
    """What differs from the first one, in one phrase."""
    config: dict[str, Any]
    rows: int
    bytes: int
    sha256: str
    content_digest: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.h5"


@dataclass(frozen=True, kw_only=True)
class SuiteManifest:
    """All files of a suite, in their order."""

    dataset: str
    version: str
    seed: int
    split: str
    """Of which all of them have samples."""
    members: list[SuiteEntry]

    def to_json(self) -> str:
        """The manifest as it stands in its file."""
        head = {_KEY: _VERSION, "synthprobe_format": FORMAT_VERSION}
        return json.dumps({**head, **asdict(self)}, indent=1) + "\n"


def is_suite(path: str | Path) -> bool:
    """Whether a folder says that it is a suite; it may be wrong about everything else."""
    manifest = Path(path) / MANIFEST
    try:
        return _is_suite(_read(manifest)) if manifest.is_file() else False
    except SynthprobeError:
        return False


def read_suite(folder: str | Path) -> SuiteManifest:
    """The manifest of a suite; `SynthprobeError` if there is none, or a wrong one."""
    path = Path(folder) / MANIFEST
    if not path.exists():
        raise SynthprobeError(f"{folder} has no {MANIFEST}: it is no suite, or not complete.")
    found = _read(path)
    if not _is_suite(found):
        raise SynthprobeError(f"{folder} is no suite, but a dataset of one kind of samples.")
    try:
        if found.pop(_KEY) != _VERSION or found.pop("synthprobe_format") not in range(
            1, FORMAT_VERSION + 1
        ):
            raise SynthprobeError("it is of another version.")
        members = [_checked(SuiteEntry(**entry)) for entry in found.pop("members")]
        suite = SuiteManifest(**found, members=members)
    except (SynthprobeError, TypeError, AttributeError, KeyError) as error:
        raise SynthprobeError(f"{path} cannot be read: {printable(str(error))}") from error
    texts = (suite.dataset, suite.version, suite.split)
    names = [entry.name for entry in members]
    if (
        not all(isinstance(text, str) and text.isprintable() for text in texts)
        or not is_whole(suite.seed)
        or not 1 <= len(members) <= MAX_MEMBERS
        or len(set(names)) < len(names)
    ):
        raise SynthprobeError(f"{path} cannot be read: what it states is not what it must be.")
    return suite


def suite_paths(folder: str | Path) -> dict[str, Path]:
    """The file of each member of a suite, by its name."""
    return {entry.name: Path(folder) / entry.file for entry in read_suite(folder).members}


def check_no_suite(path: Path) -> None:
    """Raise `SynthprobeError` for a suite, where one dataset is wanted."""
    if path.is_dir() and is_suite(path):
        names = ", ".join(entry.file for entry in read_suite(path).members)
        raise SynthprobeError(f"{path} is a suite: name one of its files, {names}.")


def _read(path: Path) -> Any:
    try:
        check_regular(path)
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise SynthprobeError("it is too large for a manifest.")
        return json.loads(path.read_text("utf-8"))
    except SynthprobeError as error:
        raise SynthprobeError(f"{path} cannot be read: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SynthprobeError(f"{path} cannot be read: {printable(str(error))}.") from error


def _is_suite(found: object) -> bool:
    return isinstance(found, dict) and _KEY in found


def _checked(entry: SuiteEntry) -> SuiteEntry:
    # Only files of this folder: an untrusted manifest must not lead elsewhere.
    if not isinstance(entry.name, str) or not _NAME.fullmatch(entry.name):
        raise SynthprobeError(f"it names {entry.name!r}, which is no name of a file beside it.")
    if (
        not isinstance(entry.config, dict)
        or not isinstance(entry.meaning, str)
        or not (is_whole(entry.rows) and is_whole(entry.bytes))
        or not (is_sha256(entry.sha256) and is_sha256(entry.content_digest))
    ):
        raise SynthprobeError(f"what it states of {entry.name} is not what it must be.")
    return entry
