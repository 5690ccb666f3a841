"""How the datasets of a file are laid out: names, types, shapes, chunks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import h5py
import numpy as np
from numpy.typing import NDArray

from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset, stored_columns

FORMAT_VERSION: Final = 1
"""How samples are stored; what they are is another matter. `FORMAT.md` describes it."""
DEFLATE_LEVEL: Final = 1
ROW_CHUNK_BYTES: Final = 1024
"""Rows of at least this size are a chunk each, so that shuffled reading decodes nothing in vain."""
SMALL_ROWS_PER_CHUNK: Final = 1024
COMMON_ATTRIBUTES: Final = {
    "synthprobe_format": "the version of the format, a whole number",
    "dataset": "the name of the dataset",
    "version": "the version of the dataset: what its samples are",
    "config": "the settings, as a JSON object",
    "seed": "the seed, an unsigned 64-bit number",
    "splits": "a JSON object: the name of each split with its rows, [start, stop]",
    "index_start": "a JSON object: the name of each split with the index of its first row here",
    "content_digest": "SHA-256 over all rows, in hexadecimal",
    "license": "the licence of the data, as SPDX names it",
    "citation": "BibTeX",
}
"""What every file says about itself, with what it means."""
BLOCK_BYTES: Final = 8 * 2**20
"""Decoded size of a block: it stays in the cache between making, compressing and hashing it."""


@dataclass(frozen=True)
class Column:
    """One dataset of a file."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    """Of one row."""
    by_row: bool | None = None
    """Whether each row is a chunk of its own; by default if it is large."""
    lines_repeat: bool = False
    """Whether rows are pictures whose lines mostly repeat the line above."""

    @cached_property
    def row_bytes(self) -> int:
        """Size of one decoded row."""
        return self.dtype.itemsize * math.prod(self.shape)

    @cached_property
    def stored_dtype(self) -> np.dtype[Any]:
        """The type of its numbers in a file."""
        return self.dtype.newbyteorder("<")

    @cached_property
    def chunked_by_row(self) -> bool:
        """Whether each row is a chunk of its own."""
        return self.row_bytes >= ROW_CHUNK_BYTES if self.by_row is None else self.by_row


def columns_of(dataset: Dataset, config: Config) -> list[Column]:
    """The datasets of a file with this config, in the order of their names."""
    stored = sorted(stored_columns(dataset.columns, config), key=lambda column: column[0].name)
    return [
        Column(
            column.name,
            np.dtype(column.dtype),
            shape,
            by_row=column.chunk_by_row,
            lines_repeat=column.lines_repeat,
        )
        for column, shape in stored
    ]


def decoded_bytes(columns: list[Column], rows: int) -> int:
    """Size of so many rows in memory."""
    return rows * sum(column.row_bytes for column in columns)


def rows_per_block(columns: list[Column]) -> int:
    """How many rows are worked on in one go."""
    return max(1, BLOCK_BYTES // sum(column.row_bytes for column in columns))


def small_rows_per_chunk(rows: int) -> int:
    """Rows in a chunk of the datasets that are not chunked by row, in a file with so many rows."""
    return min(SMALL_ROWS_PER_CHUNK, max(rows, 1))


def create_columns(file: h5py.File, columns: list[Column], rows: int) -> None:
    """Create the datasets for this many rows."""
    for column in columns:
        chunk_rows = 1 if column.chunked_by_row else small_rows_per_chunk(rows)
        file.create_dataset(
            column.name,
            shape=(rows, *column.shape),
            dtype=column.stored_dtype,
            chunks=(chunk_rows, *column.shape),
            compression="gzip",
            compression_opts=DEFLATE_LEVEL,
            track_times=False,
        )


def write_attributes(
    file: h5py.File,
    dataset: Dataset,
    config: Config,
    *,
    seed: int,
    splits: Mapping[str, tuple[int, int]],
    index_start: Mapping[str, int],
    content_digest: str,
    others: Mapping[str, str] | None = None,
) -> None:
    """Write all that is not per sample; ``others`` are attributes that only some files have."""
    attributes = {
        "synthprobe_format": FORMAT_VERSION,
        "dataset": dataset.name,
        "version": dataset.version,
        "config": json.dumps(config.to_dict(), sort_keys=True),
        "seed": np.uint64(seed),
        "splits": json.dumps({name: list(rows) for name, rows in splits.items()}),
        "index_start": json.dumps(dict(index_start)),
        "content_digest": content_digest,
        "license": dataset.license,
        "citation": dataset.citation,
        **dataset.file_attributes(config),
        **(others or {}),
    }
    for name, value in attributes.items():
        file.attrs[name] = _fixed_text(value) if isinstance(value, str) else value


def _fixed_text(text: str) -> NDArray[Any]:
    """A text of fixed length: it stands in the attribute itself.

    HDF5 keeps texts of variable length on a heap, where a damaged file can hang the library.
    """
    encoded = text.encode("utf-8")
    return np.array(encoded, h5py.string_dtype("utf-8", len(encoded)))
