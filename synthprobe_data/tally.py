"""Counting over a dataset, split by split, without touching its pixels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset
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
    totals: dict[str, int] | None = None
    """For each split: what the shares are of; by default the sum over all values."""


def iter_blocks(data: OpenDataset, names: Sequence[str]) -> Iterator[tuple[str, Block]]:
    """Some datasets of all samples: blocks of rows, each with its split."""
    for reader in data.readers:
        for split, (first, end) in reader.header.splits.items():
            for start in range(first, end, _ROWS_AT_ONCE):
                yield split, _read(reader, start, min(start + _ROWS_AT_ONCE, end), names)
        reader.close()  # so that only the columns of one file are in memory


def _read(reader: ShardReader, start: int, stop: int, names: Sequence[str]) -> Block:
    by_row = {column.name for column in reader.header.columns if column.chunked_by_row}
    block = {name: reader.small(name, start, stop) for name in names if name not in by_row}
    # With many rectangles in a scene, even `above` is stored row by row.
    large = [name for name in names if name in by_row]
    return {**block, **reader.read_rows(start, stop, large)} if large else block


def count(counts: Counter[int], values: NDArray[Any]) -> None:
    """Add to ``counts`` how often each of these whole numbers occurs."""
    times = np.bincount(values.ravel())
    counts.update({int(value): int(times[value]) for value in np.flatnonzero(times)})


def histogram(
    title: str,
    value: str,
    of: str,
    counts: dict[str, Counter[int]],
    note: str = "",
    lines: int = 64,
) -> Tally:
    """A tally of whole numbers, from the least to the greatest, on at most so many lines.

    Where there are more, a line stands for 2, 5, 10, 20, ... numbers.
    """
    values = sorted(set().union(*counts.values()))
    low, high = (values[0], values[-1]) if values else (0, -1)
    sizes = (step * 10**power for power in range(6) for step in (1, 2, 5))
    size = next(size for size in sizes if high // size - low // size < lines)
    names = {
        line: str(line) if size == 1 else f"{line * size} to {line * size + size - 1}"
        for line in range(low // size, high // size + 1)
    }
    tallied: dict[str, dict[str, int]] = {}
    for split, found in counts.items():
        tallied[split] = dict.fromkeys(names.values(), 0)
        for number, times in found.items():
            tallied[split][names[number // size]] += times
    return Tally(title=title, value=value, of=of, counts=tallied, note=note)
