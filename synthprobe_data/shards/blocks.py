"""Reading many rows of a file at once, decoded or as they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.chunks import decode_row, decode_rows
from synthprobe_data.shards.collection import open_dataset
from synthprobe_data.shards.digest import row_digests
from synthprobe_data.shards.layout import Column, rows_per_block
from synthprobe_data.shards.pack import PackedBlock, Task, deflate_rows
from synthprobe_data.shards.reader import ShardReader
from synthprobe_data.shards.selection import INDEX


class BlockReader(ShardReader):
    """One file, validated before it is read, for those who read all of it."""

    @property
    def rows_at_once(self) -> int:
        """How many rows make a block."""
        return rows_per_block(self.header.columns)

    def locate(self, row: int) -> tuple[str, int]:
        """The split that a row belongs to, and its index there."""
        for split, (start, stop) in self.header.splits.items():
            if start <= row < stop:
                if self.header.selection is not None:
                    return split, int(self.read(INDEX.name, row))
                return split, self.header.index_start[split] + row - start
        raise SynthprobeError(f"{self.path} has no row {row}: it has {self.header.rows}.")

    def has_attribute(self, name: str, value: Any) -> bool:
        """Whether an attribute of the file has just this value."""
        with self._explained(f"attribute {name}"):
            file = self._opened()
            if name not in file.attrs:
                return False
            stored = h5py.h5a.open(file.id, name.encode())
            # Texts are of fixed length, as in `layout.write_attributes`.
            expected = np.asarray(value.encode() if isinstance(value, str) else value)
            if (stored.shape, stored.dtype) != (expected.shape, expected.dtype):
                return False
            return bool(np.array_equal(file.attrs[name], expected))

    def read_block(self, rows: Sequence[int], names: Sequence[str] | None = None) -> Block:
        """These rows, in ascending order, of all datasets or of those that are named."""
        block: Block = {}
        for column in self.header.columns:
            if names is None or column.name in names:
                block[column.name] = self._read_column(column, rows)
        return block

    def pack(self, rows: Sequence[int], task: Task, beside: Block | None = None) -> PackedBlock:
        """These rows as they are stored, ready to be written to where the task says.

        ``beside`` are columns that the file does not have, with as many rows.
        """
        block: Block = dict(beside or {})
        chunks = {}
        for column in self.header.columns:
            if column.chunked_by_row:
                packed: list[bytes] = []
                block[column.name] = self._read_column(column, rows, packed)
                chunks[column.name] = b"".join(packed), [len(chunk) for chunk in packed]
            else:
                block[column.name] = self._read_column(column, rows)
        return PackedBlock(
            task=task,
            chunks=chunks,
            small={name: column for name, column in block.items() if name not in chunks},
            digests=row_digests(block),
        )

    def _read_column(
        self, column: Column, rows: Sequence[int], packed: list[bytes] | None = None
    ) -> NDArray[Any]:
        """These rows of one dataset, decoded; the stored ones are added to ``packed``."""
        values = np.empty((len(rows), *column.shape), column.dtype)
        if not len(rows):
            return values
        if not column.chunked_by_row:
            with self._explained(f"rows {rows[0]} to {rows[-1]} of {column.name}"):
                first, found = self._whole_chunks(column, rows[0], rows[-1] + 1)
                values[:] = found[np.asarray(rows) - first]
            return values
        with self._explained(column.name):
            stored = self._opened()[column.name]
            direct = stored.chunks == (1, *column.shape) and stored.compression == "gzip"
        for i, row in enumerate(rows):
            with self._explained(f"row {row} of {column.name}"):
                mask, chunk = 1, b""
                if direct:
                    mask, chunk = stored.id.read_direct_chunk((row, *(0,) * len(column.shape)))
                    values[i] = decode_row(column, mask, chunk)
                else:
                    values[i] = self._read_piece(column, stored, row)
                if packed is not None:
                    packed.append(
                        bytes(chunk) if mask == 0 else deflate_rows(column, values[i : i + 1])[0]
                    )
        return values

    def _whole_chunks(self, column: Column, start: int, stop: int) -> tuple[int, NDArray[Any]]:
        """The rows of all chunks from ``start`` up to ``stop``, and the first of these rows.

        They are kept, as a chunk of small rows mostly reaches over several blocks.
        """
        first, rows = self._pieces.get(column.name, (0, np.empty(0)))
        if not first <= start < stop <= first + len(rows):
            stored = self._opened()[column.name]
            length = stored.chunks[0] if stored.chunks else 1
            first = start // length * length
            end = min(-(-stop // length) * length, self.header.rows)
            rows = decode_rows(stored, column, first, end)
            self._pieces[column.name] = first, rows
        return first, rows


def open_readers(path: str | Path) -> list[BlockReader]:
    """Readers for all files of a dataset: of a file, or of a folder of shards in their order."""
    with open_dataset(path) as data:
        return [BlockReader(reader.path) for reader in data.readers]


def spans(start: int, stop: int, length: int) -> Iterator[range]:
    """The numbers from ``start`` up to ``stop`` in pieces of at most this length."""
    for first in range(start, stop, length):
        yield range(first, min(first + length, stop))
