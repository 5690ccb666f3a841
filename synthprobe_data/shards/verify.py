"""Whether a dataset is what it says: every hash, every row, every attribute.

A row is not compared with what a seed would give; it is held to the rules of its config, so a file
from any generator can be checked.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.run import check_workers, cores, progress_bar
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.digest import row_digests
from synthprobe_data.shards.manifest import MANIFEST, Manifest, ShardEntry, read_manifest
from synthprobe_data.shards.report import Failure, Report
from synthprobe_data.shards.row_checks import ROW_CHECKS

TASK_ROWS: Final = 512
TASK_BYTES: Final = 256 * 2**20
"""A worker opens the file once for so many rows; then it is heard of again."""
_DIGEST_BYTES: Final = 32


def verify(
    path: str | Path,
    *,
    sample: int | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> Report:
    """Check a file, or a folder of shards.

    Parameters
    ----------
    path
        The file or the folder. `SynthprobeError` if there is none; whatever else is wrong with it
        is in the report.
    sample
        Check this many rows, spread evenly over all, instead of every row. The content digests,
        which are of all rows, are not checked then.
    workers
        Worker processes; all cores by default.
    progress
        Show a progress bar, if on a terminal.
    """
    started = time.perf_counter()
    path = Path(path)
    if not path.exists():
        raise SynthprobeError(f"{path} does not exist.")
    if sample is not None and (isinstance(sample, bool) or sample < 1):
        raise SynthprobeError(f"sample is {sample!r}: it must be a whole number from 1.")
    if workers is not None:
        check_workers(workers)
    report = Report(path=str(path))
    manifest = None
    if path.is_dir():
        manifest, readers = _open_folder(path, report)
    else:
        readers = [_open_file(path, report)]
    opened = [reader for reader in readers if reader is not None]
    if opened:
        report.dataset = opened[0].header.dataset.name
        report.rows = sum(len(reader) for reader in opened)
        for reader in opened:
            _check_attributes(reader, report)
        found = _check_rows(opened, sample, workers, progress, report)
        if report.rows_checked == report.rows:
            whole = found if len(opened) == len(readers) else []
            _check_digests(opened, found, whole, manifest, report)
        _check_duplicates(opened, found, report)
        for reader in opened:
            reader.close()
    report.seconds = time.perf_counter() - started
    return report


# ------------------------------------------------------------------------------------------- files


def _open_file(path: Path, report: Report) -> BlockReader | None:
    """A reader for a file that the format allows; what it does not allow goes to the report."""
    report.check("format")
    try:
        return BlockReader(path)
    except SynthprobeError as error:
        report.fail(Failure(file=path.name, check="format", sentence=str(error)))
        return None


def _open_folder(
    folder: Path, report: Report
) -> tuple[Manifest | None, list[BlockReader | None]]:
    """The manifest of a folder and a reader for each shard; compares one with the other."""
    report.check("manifest")
    try:
        manifest = read_manifest(folder)
    except SynthprobeError as error:
        report.fail(Failure(file=MANIFEST, check="manifest", sentence=str(error)))
        return None, []
    readers = []
    for entry in manifest.shards:
        path = folder / entry.file
        report.check("sha256")
        sentence = _wrong_hash(path, entry)
        if sentence:
            report.fail(Failure(file=entry.file, check="sha256", sentence=sentence))
        reader = _open_file(path, report)
        readers.append(reader)
        if reader is not None and not _is_described(reader, entry, manifest):
            sentence = f"it is not the shard that {MANIFEST} describes."
            report.fail(Failure(file=entry.file, check="manifest", sentence=sentence))
    for sentence in _wrong_in_manifest(folder, manifest):
        report.fail(Failure(file=MANIFEST, check="manifest", sentence=sentence))
    return manifest, readers


def _wrong_hash(path: Path, entry: ShardEntry) -> str | None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
    except OSError as error:
        return f"it cannot be read: {error.strerror}."
    if found != entry.sha256 or size != entry.bytes:
        return f"its SHA-256 is {found} at {size} bytes, not as in {MANIFEST}."
    return None


def _is_described(reader: BlockReader, entry: ShardEntry, manifest: Manifest) -> bool:
    header = reader.header
    return (
        header.dataset.name == manifest.dataset
        and header.version == manifest.version
        and header.config.to_dict() == manifest.config
        and header.seed == manifest.seed
        and list(header.splits.items()) == [(entry.split, (0, entry.rows))]
        and list(header.index_start.values()) == [entry.index_start]
        and header.content_digest == entry.content_digest
    )


def _wrong_in_manifest(folder: Path, manifest: Manifest) -> Iterator[str]:
    """What does not fit together in the folder, beside its shards."""
    if not manifest.shards:
        yield "it names no shards."
    ends: dict[str, int] = {}
    rows: dict[str, int] = {}
    for entry in manifest.shards:
        split = str(entry.split)
        if entry.index_start != ends.get(split, entry.index_start):
            yield f"{entry.file} does not go on where the shard before it ends."
        ends[split] = entry.index_start + entry.rows
        rows[split] = rows.get(split, 0) + entry.rows
    if rows != manifest.splits:
        yield "the sizes of its splits are not those of its shards."
    named = {entry.file for entry in manifest.shards}
    for path in sorted(folder.glob("*.h5")):
        if path.name not in named:
            yield f"it does not name {path.name}, which is beside it."


def _check_attributes(reader: BlockReader, report: Report) -> None:
    """Whether the attributes that follow from the config are as they must be."""
    header = reader.header
    expected = {"version": header.dataset.version, **header.dataset.attributes(header.config)}
    for name, value in expected.items():
        report.check(name)
        try:
            sentence = None if reader.has_attribute(name, value) else "it is not what it must be."
        except SynthprobeError as error:
            sentence = str(error)
        if sentence:
            report.fail(Failure(file=reader.path.name, check=name, sentence=sentence))


# -------------------------------------------------------------------------------------------- rows


@dataclass
class _Found:
    """What a worker found in some rows of a file."""

    file: int
    rows: list[int] = field(default_factory=list)
    """The rows that could be decoded."""
    digests: bytes = b""
    """Of these rows."""
    failed: list[tuple[int, int]] = field(default_factory=list)
    """Rows that fail checks, each with its mask."""
    undecoded: list[tuple[int, str]] = field(default_factory=list)
    """Rows that could not be decoded, each with a sentence."""
    rows_given: int = 0


def _check_rows(
    readers: list[BlockReader],
    sample: int | None,
    workers: int | None,
    progress: bool,
    report: Report,
) -> list[_Found]:
    """Decode, hash and check the rows, in worker processes; return what they found, in order."""
    tasks = list(_plan(readers, sample))
    report.rows_checked = sum(len(rows) for _, rows in tasks)
    # Short checks do without worker processes, which take a second to start.
    report.workers = 1 if len(tasks) == 1 else min(workers or cores(), max(len(tasks), 1))
    found = []
    with progress_bar(report.rows_checked, progress) as bar:
        for part in _run(readers, tasks, report.workers):
            _note(readers[part.file], part, report)
            found.append(part)
            bar.update(part.rows_given)
    return found


def _plan(
    readers: list[BlockReader], sample: int | None
) -> Iterator[tuple[int, NDArray[np.int64] | range]]:
    """The rows of each task: number of the file, rows in it."""
    total = sum(len(reader) for reader in readers)
    spread = None
    if sample is not None and sample < total:
        # The middles of as many equal parts.
        spread = np.array([(2 * i + 1) * total // (2 * sample) for i in range(sample)], np.int64)
    start = 0
    for number, reader in enumerate(readers):
        rows: NDArray[np.int64] | range = range(len(reader))
        if spread is not None:
            rows = spread[(spread >= start) & (spread < start + len(reader))] - start
        start += len(reader)
        row_bytes = sum(column.row_bytes for column in reader.header.columns)
        length = max(1, min(TASK_ROWS, TASK_BYTES // row_bytes))
        for first in range(0, len(rows), length):
            yield number, rows[first : first + length]


def _run(
    readers: list[BlockReader],
    tasks: list[tuple[int, NDArray[np.int64] | range]],
    workers: int,
) -> Iterator[_Found]:
    if workers == 1:
        for number, rows in tasks:
            yield _check_task(readers[number].path, number, rows)
        return
    from joblib import Parallel, delayed  # here, because one worker does without it

    # Compile the kernels once, before the workers do so side by side.
    _check_task(readers[tasks[0][0]].path, tasks[0][0], tasks[0][1][:1])
    jobs = (delayed(_check_task)(readers[number].path, number, rows) for number, rows in tasks)
    try:
        yield from Parallel(n_jobs=workers, return_as="generator", batch_size=1)(jobs)
    except BrokenProcessPool as error:
        raise SynthprobeError("a worker process died (killed, or out of memory).") from error


def _check_task(path: Path, number: int, rows: NDArray[np.int64] | range) -> _Found:
    """Decode, hash and check some rows of a file."""
    found = _Found(number, rows_given=len(rows))
    digests = []
    with BlockReader(path) as reader:
        header = reader.header
        checks = ROW_CHECKS.get(header.dataset.name)
        for first in range(0, len(rows), reader.rows_at_once):
            wanted = [int(row) for row in rows[first : first + reader.rows_at_once]]
            good = _decodable(reader, wanted, found.undecoded)
            if not good:
                continue
            block = reader.read_block(good)
            digests.append(row_digests(block))
            found.rows += good
            if checks is not None:
                masks = checks.check_block(header.config, block)
                found.failed += [(good[i], int(masks[i])) for i in np.flatnonzero(masks)]
    found.digests = b"".join(digests)
    return found
