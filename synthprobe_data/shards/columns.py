"""What can be asked about samples beside what their file stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.header import Header
from synthprobe_data.shards.reader import ShardReader
from synthprobe_data.shards.selection import INDEX

_BYTES_AT_ONCE: Final = 32 * 2**20
_ROWS_AT_ONCE: Final = 16_384


def known_columns(header: Header) -> dict[str, tuple[int, ...]]:
    """All columns that samples of this file have, stored or not, with the shape of a row.

    Every sample has an ``index``, and those that its dataset can compute.
    """
    known = {column.name: column.shape for column in header.columns} | {INDEX.name: INDEX.shape}
    computed = header.dataset.computed
    if computed is not None:
        known |= {n: header.dataset.column(n).shape(header.config) for n in computed.names}
    return known


def read_columns(reader: ShardReader, split: str, names: Sequence[str]) -> Iterator[Block]:
    """These columns of a split in a file, in blocks of rows that fit into memory.

    What the file does not store is computed.
    """
    header = reader.header
    known = known_columns(header)
    for name in names:
        if name not in known:
            raise SynthprobeError(f"there is no column {name!r}: take {', '.join(sorted(known))}.")
    stored = {column.name: column for column in header.columns}
    computed = header.dataset.computed
    missing = [name for name in names if name not in stored and name != INDEX.name]
    needed = [name for name in names if name in stored]
    if computed is not None and missing:
        needed += [name for name in computed.needs if name not in needed]
    row_bytes = sum(stored[name].row_bytes for name in needed)
    step = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // max(1, row_bytes)))
    first, end = header.splits[split]
    for start in range(first, end, step):
        stop = min(start + step, end)
        block: Block = {}
        for name in needed:
            if stored[name].chunked_by_row:
                block |= reader.read_rows(start, stop, [name])
            else:
                block[name] = reader.small(name, start, stop)
        if computed is not None and missing:
            block |= computed.compute(block, header.config)
        if INDEX.name in names and INDEX.name not in stored:
            index = header.index_start[split]
            block[INDEX.name] = np.arange(start - first + index, stop - first + index)
        yield {name: block[name] for name in names}
