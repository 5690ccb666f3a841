"""Writing one file: under a temporary name, synced, then renamed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import h5py
import numpy as np

from synthprobe_data.atomic.files import check_target, explained, in_place_of
from synthprobe_data.config import Config
from synthprobe_data.dataset import Block, Dataset
from synthprobe_data.shards.digest import ContentDigest
from synthprobe_data.shards.guard import trust
from synthprobe_data.shards.layout import (
    Column,
    create_columns,
    small_rows_per_chunk,
    write_attributes,
)
from synthprobe_data.shards.pack import PackedBlock, deflate

LIBVER: Final = ("v110", "v110")
"""Readable by HDF5 1.10 (2016) and newer: its metadata have checksums, so that damage shows."""


class ShardWriter:
    """Takes packed blocks in the order of their rows and stores them as they are."""

    def __init__(self, file: h5py.File, columns: list[Column], rows: int) -> None:
        create_columns(file, columns, rows)
        self._file = file
        self._stored = {c.name: (file[c.name].id, (0,) * len(c.shape)) for c in columns}
        self._chunk_rows = small_rows_per_chunk(rows)
        self._chunk: Block = {
            c.name: np.zeros((self._chunk_rows, *c.shape), c.dtype.newbyteorder("<"))
            for c in columns
            if not c.chunked_by_row
        }
        self._small_rows = 0
        self._digest = ContentDigest()

    def write(self, block: PackedBlock) -> None:
        """Store a block."""
        for name, (chunks, lengths) in block.chunks.items():
            dataset, origin = self._stored[name]
            view, start = memoryview(chunks), 0
            for row, length in enumerate(lengths, block.task.row):
                dataset.write_direct_chunk((row, *origin), view[start : start + length])
                start += length
        self._digest.update(block.digests)
        self._write_small(block.small, block.task.count)

    def _write_small(self, small: Block, count: int) -> None:
        """Put rows into the chunk that is being filled, and store it when it is full."""
        done = 0
        while done < count:
            offset = self._small_rows % self._chunk_rows
            step = min(count - done, self._chunk_rows - offset)
            for name, chunk in self._chunk.items():
                chunk[offset : offset + step] = small[name][done : done + step]
            done += step
            self._small_rows += step
            if self._small_rows % self._chunk_rows == 0:
                self._store_chunk(self._small_rows - self._chunk_rows)

    def _store_chunk(self, first: int) -> None:
        for name, chunk in self._chunk.items():
            dataset, origin = self._stored[name]
            dataset.write_direct_chunk((first, *origin), deflate(chunk))
            chunk.fill(0)  # the last chunk of a file may not be full

    def finish(
        self,
        dataset: Dataset,
        config: Config,
        *,
        seed: int,
        splits: Mapping[str, tuple[int, int]],
        index_start: Mapping[str, int],
        others: Mapping[str, str] | None = None,
    ) -> str:
        """Write the attributes, all of them at the end, and return the content digest."""
        if self._small_rows % self._chunk_rows:
            self._store_chunk(self._small_rows // self._chunk_rows * self._chunk_rows)
        digest = self._digest.hexdigest()
        write_attributes(
            self._file,
            dataset,
            config,
            seed=seed,
            splits=splits,
            index_start=index_start,
            content_digest=digest,
            others=others,
        )
        return digest


@contextlib.contextmanager
def new_file(path: Path, *, force: bool, alone: bool = True) -> Iterator[h5py.File]:
    """An HDF5 file that gets its name only when the ``with`` block ends without an error.

    Until then it stands beside it under a name of its own that ends in ``.part``, which is removed
    when anything goes wrong. An existing file is refused and untouched, unless ``force`` is set:
    then it is replaced at the end. With ``alone``, it is refused as well while another run is
    writing to the same path.
    """
    check_target(path, force=force)
    with explained(path), in_place_of(path, alone=alone) as part:
        # HDF5 must not lock what is locked already.
        file = h5py.File(part, "w", libver=LIBVER, locking=False)
        try:
            yield file
        finally:
            file.close()
        check_target(path, force=force)
    trust(path)
