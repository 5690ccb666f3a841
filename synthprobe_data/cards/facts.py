"""What a card says that can be read off the files and off the run."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

from synthprobe_data.atomic.files import PART
from synthprobe_data.cards.command import portable_command, same_rows_command
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.collection import OpenDataset, open_dataset
from synthprobe_data.shards.layout import Column
from synthprobe_data.shards.selection import Selection

SPLIT_NAME: Final = re.compile(r"\w+(\.\w+)*", re.ASCII)
"""Names of splits that Hugging Face takes, and no others."""
VERSION: Final = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_PACKAGE: Final = "synthprobe"
_LIBRARIES: Final = ("numpy", "numba", "h5py", "isal")


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """One HDF5 file."""

    name: str
    split_rows: dict[str, tuple[int, int]]
    """The rows of each split in this file: start and stop."""
    bytes: int
    sha256: str
    content_digest: str


@dataclass(frozen=True, kw_only=True)
class CardFacts:
    """What a card says about a dataset."""

    dataset: Dataset
    version: str
    """Of the dataset, as its files say."""
    config: Config
    columns: tuple[Column, ...]
    seed: int
    splits: dict[str, int]
    """The number of samples of each split."""
    content_digest: str
    files: tuple[FileFacts, ...]
    date: str
    """The day on which the last of the files was written."""
    command: str | None
    """The command that was run."""
    same_rows: str | None
    """A command that makes the rows that the files state, if there is one."""
    made: bool
    """Whether the run that writes the card made all rows."""
    regenerated: bool
    """Whether all rows were made again, and are those that the files state."""
    seconds: float | None
    workers: int | None
    machine: str | None
    """Where it ran; ``None`` if it is not known that it ran here."""
    package_version: str
    picture: str
    """The name of the picture, a file beside the card."""
    card_path_kind: Literal["file", "folder"]
    selection: Selection | None = None
    """Where the samples were taken from, if they are selected ones."""

    @property
    def known(self) -> bool:
        """Whether the rows are known to be those stated, for they were made here, now or again."""
        return self.regenerated or self.made


def collect_facts(
    path: str | Path,
    *,
    command: str | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    made: bool = False,
    regenerated: bool = False,
    hashes: Mapping[str, str] | None = None,
) -> CardFacts:
    """Collect what a card says about a file or a folder of shards.

    Parameters
    ----------
    path
        The file, or the folder.
    command
        The command that made it. Paths in it are shortened to their last name.
    seconds, workers
        How long the run took, and with how many processes. Given only by the run itself: then the
        card also says on which machine it ran.
    made
        Whether a run made all rows just now; so it is if it took ``seconds``.
    regenerated
        Whether all rows were made again, and are those that the files state.
    hashes
        The SHA-256 of files that this process has just written and hashed, by name.
    """
    with open_dataset(path) as data:
        return facts_of(
            data,
            command=command,
            seconds=seconds,
            workers=workers,
            made=made,
            regenerated=regenerated,
            hashes=hashes,
        )


def facts_of(
    data: OpenDataset,
    *,
    command: str | None,
    seconds: float | None,
    workers: int | None,
    made: bool,
    regenerated: bool,
    hashes: Mapping[str, str] | None = None,
) -> CardFacts:
    """The same of a dataset that is open."""
    known = hashes or {}
    splits = data.splits
    for what, name, allowed in (
        *(("split", name, SPLIT_NAME) for name in splits),
        ("version", data.version, VERSION),
    ):
        # Files may be untrusted, and these names go into Markdown, YAML and Python.
        if not allowed.fullmatch(name):
            raise SynthprobeError(f"{data.path} has the {what} {name[:40]!r}: no card can name it.")
    if not len(data):
        raise SynthprobeError(f"{data.path} has no samples: there is nothing to describe.")
    folder = data.path.is_dir()
    files = tuple(
        FileFacts(
            name=reader.path.name,
            split_rows=reader.header.splits,
            bytes=reader.path.stat().st_size,
            sha256=known.get(reader.path.name) or file_sha256(reader.path),
            content_digest=reader.header.content_digest,
        )
        for reader in data.readers
    )
    whole = not data.selection and all(data[split].index_start == 0 for split in splits)
    written = max(reader.path.stat().st_mtime for reader in data.readers)
    return CardFacts(
        dataset=data.dataset,
        version=data.version,
        config=data.config,
        columns=tuple(data.readers[0].header.columns),
        seed=data.seed,
        splits=splits,
        content_digest=data.content_digest,
        files=files,
        date=datetime.fromtimestamp(written, UTC).date().isoformat(),
        command=None if command is None else portable_command(command),
        same_rows=same_rows_command(
            data.dataset,
            data.config,
            seed=data.seed,
            splits=splits,
            out=_name(data, command),
            shards=len(files) if folder else None,
        )
        if whole
        else None,
        made=made or seconds is not None,
        regenerated=regenerated,
        seconds=seconds,
        workers=workers,
        machine=None if seconds is None else describe_machine(),
        package_version=_version(_PACKAGE) or "unknown",
        picture=card_paths(data.path, folder=folder).picture.name,
        card_path_kind="folder" if folder else "file",
        selection=data.selection,
    )


def _name(data: OpenDataset, command: str | None) -> str:
    """The name in a command that makes the same rows; a folder may since have got another one."""
    if not data.path.is_dir():
        return data.path.name
    # While a run writes the cards, the folder does not have its name yet.
    return data.dataset.name if command is None else data.path.name.removesuffix(PART)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in blocks."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SynthprobeError(f"{path} cannot be read: {error.strerror}.") from error


def describe_machine() -> str:
    """The machine in a few words: processor, cores, system and versions, but no names."""
    from joblib import cpu_count  # knows the limits of containers, too

    cores = int(cpu_count())
    libraries = ((name, _version(name)) for name in _LIBRARIES)
    return ", ".join(
        [
            _processor(),
            f"{cores} core{'s' if cores > 1 else ''}",
            f"{platform.system()} {platform.machine()}".strip(),
            f"Python {platform.python_version()}",
            *(f"{name} {version}" for name, version in libraries if version),
        ]
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return " ".join(line.partition(":")[2].split())
    except OSError:
        pass  # only Linux has it
    return platform.processor() or platform.machine() or f"unknown processor ({os.name})"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Licence:
    """A licence: its title, and where its text is."""

    title: str
    url: str


_LICENCES: Final = {
    "CC-BY-4.0": Licence(
        "Creative Commons Attribution 4.0 International (CC BY 4.0)",
        "https://creativecommons.org/licenses/by/4.0/",
    )
}


def find_licence(spdx: str) -> Licence:
    """The licence with this SPDX identifier; SPDX has a page for each."""
    if spdx in _LICENCES:
        return _LICENCES[spdx]
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", spdx):
        raise SynthprobeError(f"the licence {spdx!r} is not an SPDX identifier.")
    return Licence(spdx, f"https://spdx.org/licenses/{spdx}.html")


def picture_split(splits: dict[str, int]) -> str:
    """The split that is shown: the test split, or the first one there is."""
    return "test" if splits.get("test") else next(name for name, size in splits.items() if size)
