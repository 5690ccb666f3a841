"""Counting over a dataset, split by split, without touching its pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.shards.opened import OpenDataset
from synthprobe_data.shards.reader import ShardReader

_ROWS_AT_ONCE: Final = 16_384


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How often each value occurs, in each split: one table of the card."""

    title: str
    value: str
    """What the values are."""
    of: str
    """What was counted."""
    counts: dict[str, dict[str, int]]
    """For each split: how often each value occurs. All splits have the same values."""
    note: str = ""
    """What to keep in mind when reading it."""


def iter_blocks(data: OpenDataset, names: Sequence[str]) -> Iterator[tuple[str, Block]]:
    """Some datasets of all samples: blocks of rows, each with its split."""
    for reader in data.readers:
        for split, (first, end) in reader.header.splits.items():
            for start in range(first, end, _ROWS_AT_ONCE):
                yield split, _read(reader, start, min(start + _ROWS_AT_ONCE, end), names)
        reader.close()  # so that only the columns of one file are in memory


def _read(reader: ShardReader, start: int, stop: int, names: Sequence[str]) -> Block:
    by_row = {column.name for column in reader.header.columns if column.chunked_by_row}
    block = {name: reader.small(name)[start:stop] for name in names if name not in by_row}
    # With many rectangles in a scene, even `above` is stored row by row.
    large = [name for name in names if name in by_row]
    return {**block, **reader.read_rows(start, stop, large)} if large else block


def histogram(
    title: str, value: str, of: str, counts: dict[str, NDArray[np.int64]], note: str = ""
) -> Tally:
    """A tally of whole numbers from 1, without those at either end that never occur.

    ``counts`` has, for each split, how often 0, 1, 2, ... occur.
    """
    (occur,) = np.nonzero(sum(counts.values(), np.zeros(1, np.int64))[1:])
    values = range(occur[0] + 1, occur[-1] + 2) if len(occur) else range(0)
    return Tally(
        title=title,
        value=value,
        of=of,
        counts={split: {str(v): int(found[v]) for v in values} for split, found in counts.items()},
        note=note,
    )
