"""The rows of one or more files that belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Dataset, Sample
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.blocks import BlockReader, spans
from synthprobe_data.shards.digest import digest_of_rows, row_digests
from synthprobe_data.shards.pack import PackedBlock, Task
from synthprobe_data.shards.selection import INDEX
from synthprobe_data.text import printable


@dataclass(frozen=True, kw_only=True)
class SplitPart:
    """Some consecutive samples of a split, in one file."""

    reader: BlockReader
    split: str
    index_start: int
    start: int
    """Row of the file in which the first of them stands."""
    rows: int


class BlockSource:
    """The rows of some files that belong together, by split and index."""

    def __init__(self, readers: list[BlockReader]) -> None:
        if not readers:
            raise SynthprobeError("there is nothing to read: name a file or a folder.")
        self.readers = readers
        self.rows = sum(len(reader) for reader in readers)
        first = readers[0].header
        # Its own version, which a newer program must not exchange for its own.
        self.dataset: Dataset = replace(first.dataset, version=first.version)
        self._digests = {reader.path: bytearray(32 * len(reader)) for reader in readers}
        self._hashed = {reader.path: np.zeros(len(reader), bool) for reader in readers}
        self._touched: set[Path] = set()
        """Files of which rows were taken, but not hashed as their file does."""
        if len(self._digests) < len(readers):
            raise SynthprobeError("a file is named twice.")
        for reader in readers[1:]:
            for name in ("dataset", "version", "config", "seed"):
                if getattr(reader.header, name) != getattr(first, name):
                    raise SynthprobeError(
                        f"{reader.path} and {readers[0].path} are not parts of one dataset: they "
                        f"differ in {name}."
                    )
        if len(readers) > 1:
            self.refuse_selections()
        self.splits: dict[str, list[SplitPart]] = _parts_by_split(readers)
        for name in self.splits:
            # Splits become names of files, and an untrusted file must not lead elsewhere.
            if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
                raise SynthprobeError(f"{readers[0].path} has a split named {name[:40]!r}.")

    def blocks(self, split: str, start: int, stop: int, row: int) -> Iterator[PackedBlock]:
        """The samples of a split from ``start`` up to ``stop``, counted from its first one here.

        They are to be written from this row on.
        """
        offset = 0
        for part in self.splits[split]:
            low, high = max(start - offset, 0), min(stop - offset, part.rows)
            offset += part.rows
            reader = part.reader
            for rows in spans(part.start + low, part.start + high, reader.rows_at_once):
                index = part.index_start + rows.start - part.start
                task = Task(split=split, start=index, count=len(rows), row=row)
                block = reader.pack(rows, task)
                self._note(reader, rows, block.digests)
                row += len(rows)
                yield block

    def taken(
        self, split: str, positions: NDArray[np.int64], row: int
    ) -> Iterator[tuple[int, PackedBlock]]:
        """Some samples of a split with their indices, to be written from this row on.

        Each block comes with the index of its first sample.

        Parameters
        ----------
        split
            Its name.
        positions
            Which ones, ascending, counted from the first one here.
        row
            Where they go.
        """
        offset = 0
        for part in self.splits.get(split, []):
            low, high = np.searchsorted(positions, [offset, offset + part.rows])
            rows = (positions[low:high] - offset + part.start).tolist()
            offset += part.rows
            reader = part.reader
            for span in spans(0, len(rows), reader.rows_at_once):
                some = rows[span.start : span.stop]
                index = np.array([reader.locate(r)[1] for r in some], INDEX.dtype)
                task = Task(split=split, start=int(index[0]), count=len(some), row=row)
                beside = None if reader.header.selection else {INDEX.name: index}
                yield task.start, reader.pack(some, task, beside)
                self._touched.add(reader.path)
                row += len(some)

    def samples(self, split: str, names: Sequence[str]) -> Iterator[tuple[int, Sample]]:
        """The samples of a split with their indices, of the datasets that are named."""
        for part in self.splits[split]:
            reader = part.reader
            for rows in spans(part.start, part.start + part.rows, reader.rows_at_once):
                block = reader.read_block(rows)
                self._note(reader, rows, row_digests(block))
                for i, row in enumerate(rows):
                    yield reader.locate(row)[1], {name: block[name][i] for name in names}

    def refuse_selections(self) -> None:
        """Raise `SynthprobeError` for files of selected samples, which do not go on in others."""
        for reader in self.readers:
            if reader.header.selection is not None:
                raise SynthprobeError(
                    f"{reader.path} has selected samples, which stay in one file: select again "
                    "from the whole dataset instead."
                )

    def _note(self, reader: BlockReader, rows: range, digests: bytes) -> None:
        self._digests[reader.path][32 * rows.start : 32 * rows.stop] = digests
        self._hashed[reader.path][rows.start : rows.stop] = True

    def check_digests(self) -> None:
        """Raise `SynthprobeError` if the rows of a file do not have the digest that it states.

        To be called at the end. Files of which nothing was read are left alone; of the others, the
        rows that were not read are hashed now, as the digest is of all.
        """
        for reader in self.readers:
            hashed = self._hashed[reader.path]
            if len(hashed) and not hashed.any() and reader.path not in self._touched:
                continue
            for rows in spans(0, len(reader), reader.rows_at_once):
                if not hashed[rows.start : rows.stop].all():
                    self._note(reader, rows, row_digests(reader.read_block(rows)))
            found = digest_of_rows(bytes(self._digests[reader.path]))
            if found != reader.header.content_digest:
                raise SynthprobeError(
                    f"{reader.path} is damaged: its rows do not have its content digest."
                )


def _parts_by_split(readers: list[BlockReader]) -> dict[str, list[SplitPart]]:
    """The parts of each split in the order of their indices, each going on where one ends."""
    header = readers[0].header
    canonical = header.dataset.split_sizes(header.config)
    names = dict.fromkeys([*canonical, *(s for r in readers for s in r.header.splits)])
    splits = {}
    for name in names:
        parts = [
            SplitPart(
                reader=reader,
                split=name,
                index_start=reader.header.index_start[name],
                start=reader.header.splits[name][0],
                rows=reader.header.splits[name][1] - reader.header.splits[name][0],
            )
            for reader in readers
            if name in reader.header.splits
        ]
        parts = sorted((part for part in parts if part.rows), key=lambda part: part.index_start)
        for before, part in pairwise(parts):
            if part.index_start != before.index_start + before.rows:
                raise SynthprobeError(
                    f"{part.reader.path} does not go on where {before.reader.path} ends: "
                    f"{printable(name)} "
                    f"ends there before {before.index_start + before.rows} and starts here at "
                    f"{part.index_start}."
                )
        if parts:
            splits[name] = parts
    return splits
