"""Decoding, hashing, making again and checking rows, in worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.parallel import default_workers, run_pool
from synthprobe_data.progress import progress_bar
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.digest import row_digests
from synthprobe_data.shards.layout import decoded_bytes
from synthprobe_data.text import counted
from synthprobe_data.verification.regenerate import REGENERATED, differing_rows, why_not_regenerated
from synthprobe_data.verification.report import Failure, Report

TASK_BYTES: Final = 40 * 2**20
"""A worker opens the file once for rows of so many bytes, decoded; then it is heard of again."""

MAX_UNDECODED: Final = 20
"""Rows of a file that are listed because they cannot be decoded; of the rest, only the number."""


@dataclass
class FoundRows:
    """What a worker found in some rows of a file."""

    file: int
    rows: list[int] = field(default_factory=list)
    """The rows that could be decoded."""
    digests: bytes = b""
    """Of these rows."""
    failed: list[tuple[int, int]] = field(default_factory=list)
    """Rows that fail checks, each with its mask."""
    regenerated: int = 0
    """How many rows were made again and compared: all that keep the rules."""
    others: list[tuple[int, str]] = field(default_factory=list)
    """Rows that keep the rules and are other samples than the file states, with a sentence."""
    undecoded: list[tuple[int, str]] = field(default_factory=list)
    """Rows that could not be decoded, each with a sentence; at most `MAX_UNDECODED`."""
    undecoded_more: int = 0
    """How many more could not be decoded."""
    misread: list[tuple[int, str]] = field(default_factory=list)
    """Rows whose pixels tell something else than is stored, each with a sentence."""
    readings: dict[str, int] = field(default_factory=dict)
    """Counts of what was read off the pixels."""
    rows_given: int = 0


def check_rows(
    readers: list[BlockReader],
    sample: int | None,
    workers: int | None,
    progress: bool,
    pixels: bool,
    report: Report,
) -> list[FoundRows]:
    """Decode, hash and check the rows, in worker processes; return what they found, in order."""
    tasks = list(_plan(readers, sample))
    report.rows_checked = sum(len(rows) for _, rows in tasks)
    default = default_workers(decoded_bytes(readers[0].header.columns, report.rows_checked))
    report.workers = min(workers or default, max(len(tasks), 1))
    found: list[FoundRows] = []
    with progress_bar(report.rows_checked, progress) as bar:
        for part in _run(readers, tasks, report.workers, pixels):
            _note(readers[part.file], part, report)
            found.append(part)
            bar.update(part.rows_given)
    _note_undecoded(readers, found, report)
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
        length = _whole(max(1, TASK_BYTES // row_bytes), reader)
        for first in range(0, len(rows), length):
            yield number, rows[first : first + length]


def _whole(rows: int, reader: BlockReader) -> int:
    """So many rows, rounded up, that those that belong together are checked side by side."""
    together = reader.header.dataset.together
    return -(-rows // together) * together


def _run(
    readers: list[BlockReader],
    tasks: list[tuple[int, NDArray[np.int64] | range]],
    workers: int,
    pixels: bool,
) -> Iterator[FoundRows]:
    if workers > 1:
        # Compile the kernels once, before the workers do so side by side.
        _check_task(readers[tasks[0][0]], tasks[0][0], tasks[0][1][:1], pixels)
    jobs = ((readers[number], number, rows, pixels) for number, rows in tasks)
    return run_pool(_check_task, jobs, workers=workers, died="")


def _check_task(
    file: BlockReader, number: int, rows: NDArray[np.int64] | range, pixels: bool
) -> FoundRows:
    """Decode and hash some rows of a file, hold them to the rules, and make them again.

    The rules do not rest on the generator, and they say what is wrong with a row. One that keeps
    them all may still be another sample than the file states, so it is made again and compared.
    """
    found = FoundRows(number, rows_given=len(rows))
    digests = []
    with file as reader:
        header = reader.header
        checks = header.dataset.row_checks
        regenerate = why_not_regenerated(header) is None
        at_once = _whole(reader.rows_at_once, reader)
        for first in range(0, len(rows), at_once):
            wanted = [int(row) for row in rows[first : first + at_once]]
            try:
                block = reader.read_block(wanted)
            except SynthprobeError:
                wanted = _decodable(reader, wanted, found)
                block = reader.read_block(wanted)
            digests.append(row_digests(block))
            found.rows += wanted
            row_ids = [reader.locate(row) for row in wanted]
            masks = checks.check_block(header.config, block, row_ids)
            found.failed += [(wanted[i], int(masks[i])) for i in np.flatnonzero(masks)]
            if regenerate:
                kept = np.flatnonzero(masks == 0)
                if len(kept) < len(wanted):
                    block_kept = {name: column[kept] for name, column in block.items()}
                else:
                    block_kept = block  # as nearly always, and without a copy
                differing = differing_rows(header, block_kept, [row_ids[i] for i in kept])
                found.others += [(wanted[kept[i]], sentence) for i, sentence in differing]
                found.regenerated += len(kept)
            if pixels and checks.solver is not None:
                misread, counts = checks.solver.read_block(header.config, block)
                found.misread += [(wanted[i], sentence) for i, sentence in misread]
                for name, times in {"read": len(wanted), **counts}.items():
                    found.readings[name] = found.readings.get(name, 0) + times
    found.digests = b"".join(digests)
    return found


def _decodable(reader: BlockReader, rows: list[int], found: FoundRows) -> list[int]:
    """Those of the rows that can be decoded; the others are noted in ``found``."""
    for column in reader.header.columns:
        if not column.chunked_by_row:
            try:
                reader.read_block(rows, [column.name])
            except SynthprobeError as error:  # of many rows at once: one sentence for all
                _add_undecoded(found, rows[0], error)
                return []
    good = []
    for row in rows:
        try:
            reader.read_block([row])
            good.append(row)
        except SynthprobeError as error:
            _add_undecoded(found, row, error)
    return good


def _add_undecoded(found: FoundRows, row: int, error: SynthprobeError) -> None:
    if len(found.undecoded) < MAX_UNDECODED:
        found.undecoded.append((row, str(error)))
    else:
        found.undecoded_more += 1


def _note(reader: BlockReader, found: FoundRows, report: Report) -> None:
    """Put into the report what a worker found."""
    report.check("decode", found.rows_given)
    names = reader.header.dataset.row_checks.names(reader.header.config)
    for name in names:
        report.check(name, len(found.rows))
    for row, mask in found.failed:
        for bit, (name, sentence) in enumerate(names.items()):
            if mask >> bit & 1:
                report.fail(failure_of_row(reader, row, name, sentence))
    if found.regenerated:
        report.check(REGENERATED, found.regenerated)
    for row, sentence in found.others:
        report.fail(failure_of_row(reader, row, REGENERATED, sentence))
    if found.readings:
        report.check("pixels", len(found.rows))
        report.count_readings(found.readings)
    for row, sentence in found.misread:
        report.fail(failure_of_row(reader, row, "pixels", sentence))


def _note_undecoded(readers: list[BlockReader], found: list[FoundRows], report: Report) -> None:
    """Put into the report which rows could not be decoded; of many, the first ones of a file."""
    for number, reader in enumerate(readers):
        parts = [part for part in found if part.file == number]
        rows = [row for part in parts for row in part.undecoded]
        for row, sentence in rows[:MAX_UNDECODED]:
            report.fail(failure_of_row(reader, row, "decode", sentence))
        more = len(rows[MAX_UNDECODED:]) + sum(part.undecoded_more for part in parts)
        if more:
            sentence = f"{counted(more, 'more row')} cannot be decoded."
            failure = Failure(file=reader.path.name, check="decode", sentence=sentence)
            report.fail(failure, more, unnamed_rows=more)


def failure_of_row(reader: BlockReader, row: int, check: str, sentence: str) -> Failure:
    """A failure that is about one row."""
    split, index = reader.locate(row)
    return Failure(
        file=reader.path.name, split=split, index=index, row=row, check=check, sentence=sentence
    )
