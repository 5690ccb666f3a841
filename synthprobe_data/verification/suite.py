"""Checking a suite: each of its files, and that they are those that its manifest describes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.collection import open_dataset
from synthprobe_data.shards.manifest import check_regular
from synthprobe_data.shards.suite import SuiteEntry, SuiteManifest, read_suite
from synthprobe_data.verification.report import Failure, Report
from synthprobe_data.verification.verify import verify

_CHECK = "suite"
_FORMAT = "format"


def verify_suite(path: str | Path, **options: Any) -> list[Report]:
    """The report of each file of a suite, in its order.

    Parameters
    ----------
    path
        The folder. `SynthprobeError` if its manifest cannot be read.
    options
        As for `synthprobe_data.verification.verify.verify`.
    """
    suite = read_suite(path)
    return [_verify(Path(path), suite, entry, options) for entry in suite.members]


def _verify(folder: Path, suite: SuiteManifest, entry: SuiteEntry, options: Any) -> Report:
    path = folder / entry.file
    report = Report(path=str(path))
    try:
        report = verify(path, **options)
        sentence = _other(path, suite, entry, readable=_FORMAT not in report.failed)
    except SynthprobeError as error:
        sentence = str(error)
    report.check(_CHECK)
    if sentence is not None:
        report.fail(Failure(file=entry.file, check=_CHECK, sentence=sentence))
    return report


def _other(path: Path, suite: SuiteManifest, entry: SuiteEntry, *, readable: bool) -> str | None:
    """What of a file is not as the manifest has it; only what is ``readable`` is opened as HDF5."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"it cannot be read: {error.strerror}."
    if sha256 != entry.sha256:
        return "it is not the file that the manifest describes: its SHA-256 differs."
    if not readable:
        return None  # said already
    with open_dataset(path) as data:
        stated = (data.dataset.name, data.version, data.seed, data.config.to_dict(), data.splits)
        if stated != (
            suite.dataset,
            suite.version,
            suite.seed,
            entry.config,
            {suite.split: entry.rows},
        ):
            return "it states other settings, seed or samples than the manifest."
        if data.content_digest != entry.content_digest:
            return "its content digest is not the one in the manifest."
    return None
