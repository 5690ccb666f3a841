"""What a worker makes of a block: rows compressed as the file stores them, ready to be written."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from synthprobe_data.config import Config
from synthprobe_data.dataset import Block, Dataset
from synthprobe_data.shards.digest import row_digests
from synthprobe_data.shards.layout import DEFLATE_LEVEL, Column
from synthprobe_data.shards.line_deflate import deflate_lines, has_lines

_compress: Any
try:
    from isal.isal_zlib import compress as _compress
except ImportError:  # no wheel for this platform: the standard library writes the same format
    _compress = zlib.compress


def deflate(data: NDArray[Any]) -> bytes:
    """Compress an array as HDF5's deflate filter does."""
    packed: bytes = _compress(data, DEFLATE_LEVEL)
    return packed


def deflate_rows(column: Column, rows: NDArray[Any]) -> tuple[bytes, list[int]]:
    """Compress rows one by one: the compressed rows end to end, and their lengths."""
    if column.lines_repeat and has_lines(column.shape, column.dtype):
        return deflate_lines(rows)
    packed = [deflate(row) for row in rows]
    # One piece goes through the pipe to the parent faster than many.
    return b"".join(packed), [len(row) for row in packed]


@dataclass(frozen=True)
class Task:
    """The rows that one worker makes in one go."""

    split: str
    start: int
    """Index, within the split, of the first of them."""
    count: int
    row: int
    """Row of the file in which the first of them stands."""


@dataclass(frozen=True)
class PackedBlock:
    """A block, packed."""

    task: Task
    chunks: dict[str, tuple[bytes, list[int]]]
    """For each dataset that is chunked by row: the compressed rows end to end; their lengths."""
    small: Block
    """The other datasets, as they are."""
    digests: bytes
    """The digests of the rows."""


def compile_kernels(
    dataset: Dataset, config: Config, columns: list[Column], seed: int, task: Task
) -> None:
    """Compile all kernels that a task takes, once, before workers do so side by side."""
    pack_block(dataset, config, columns, seed, replace(task, count=1))


def pack_block(
    dataset: Dataset, config: Config, columns: list[Column], seed: int, task: Task
) -> PackedBlock:
    """Generate the rows of a task and pack them."""
    block = dataset.generate_block(config, seed, task.split, task.start, task.count)
    return PackedBlock(
        task=task,
        chunks={c.name: deflate_rows(c, block[c.name]) for c in columns if c.chunked_by_row},
        small={c.name: block[c.name] for c in columns if not c.chunked_by_row},
        digests=row_digests(block),
    )
