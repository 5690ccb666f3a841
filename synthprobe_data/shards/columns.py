"""What can be asked about samples beside what their file stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RDE
from synthprobe_data.rde.difficulty import difficulty_block, empty_difficulty
from synthprobe_data.shards.header import Header
from synthprobe_data.shards.reader import ShardReader
from synthprobe_data.shards.selection import INDEX

_FROM: Final = ("rectangles", "n_rectangles")
"""What the difficulty is computed from."""
_BYTES_AT_ONCE: Final = 32 * 2**20
_ROWS_AT_ONCE: Final = 16_384


def known_columns(header: Header) -> dict[str, tuple[int, ...]]:
    """All columns that samples of this file have, stored or not, with the shape of a row.

    Every sample has an ``index``, and those of RDE the four figures that say how hard they are.
    """
    known = {column.name: column.shape for column in header.columns} | {INDEX.name: INDEX.shape}
    if header.dataset.name == RDE.name:
        most = known["rectangles"][0]
        known |= {name: array.shape[1:] for name, array in empty_difficulty(0, most).items()}
    return known


def read_columns(reader: ShardReader, split: str, names: Sequence[str]) -> Iterator[Block]:
    """These columns of a split in a file, in blocks of rows that fit into memory.

    What the file does not store is computed.
    """
    header = reader.header
    known = known_columns(header)
    for name in names:
        if name not in known:
            raise SynthprobeError(f"there is no dataset {name!r}: take {', '.join(sorted(known))}.")
    stored = {column.name: column for column in header.columns}
    hard = [name for name in names if name not in stored and name != INDEX.name]
    needed = [name for name in names if name in stored]
    needed += [name for name in _FROM if hard and name not in needed]
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
        if hard:
            settings = header.config.to_dict()
            block |= difficulty_block(
                *(block[name] for name in _FROM),
                height=settings["height"],
                width=settings["width"],
            )
        if INDEX.name in names and INDEX.name not in stored:
            index = header.index_start[split]
            block[INDEX.name] = np.arange(start - first + index, stop - first + index)
        yield {name: block[name] for name in names}
