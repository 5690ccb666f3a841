"""What a worker makes of a block: rows compressed as the file stores them, ready to be written."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from synthprobe_data.config import Config
from synthprobe_data.dataset import Block, Dataset
from synthprobe_data.shards.digest import row_digests
from synthprobe_data.shards.layout import DEFLATE_LEVEL, Column

_compress: Any
try:
    from isal.isal_zlib import compress as _compress
except ImportError:  # no wheel for this platform: the standard library writes the same format
    _compress = zlib.compress


def deflate(data: NDArray[Any]) -> bytes:
    """Compress an array as HDF5's deflate filter does."""
    packed: bytes = _compress(data, DEFLATE_LEVEL)
    return packed


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


def pack_block(
    dataset: Dataset, config: Config, columns: list[Column], seed: int, task: Task
) -> PackedBlock:
    """Generate the rows of a task and pack them."""
    block = dataset.generate_block(config, seed, task.split, task.start, task.count)
    chunks = {}
    for column in columns:
        if column.chunked_by_row:
            rows = [deflate(row) for row in block[column.name]]
            # One piece goes through the pipe to the parent faster than many.
            chunks[column.name] = b"".join(rows), [len(row) for row in rows]
    return PackedBlock(
        task=task,
        chunks=chunks,
        small={c.name: block[c.name] for c in columns if not c.chunked_by_row},
        digests=row_digests(block),
    )
