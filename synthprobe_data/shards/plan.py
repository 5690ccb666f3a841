"""Which samples go into which shard of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from synthprobe_data.errors import SynthprobeError

MAX_SHARDS: Final = 99_999


@dataclass(frozen=True)
class ShardPlan:
    """The samples that one shard is to have."""

    file: str
    split: str
    index_start: int
    rows: int

    @property
    def span(self) -> dict[str, Any]:
        """Its rows, as the attributes of a file state them."""
        return {
            "splits": {self.split: (0, self.rows)},
            "index_start": {self.split: self.index_start},
        }


def share_of(size: int, count: int, number: int, together: int = 1) -> tuple[int, int]:
    """The first row of shard ``number`` of ``count``, and one past its last.

    Rows that belong together, ``together`` of them, are in one shard.
    """
    groups = -(-size // together)
    first, stop = (together * (groups * k // count) for k in (number, number + 1))
    return first, min(stop, size)


def plan_shards(splits: Mapping[str, int], shards: int, together: int = 1) -> list[ShardPlan]:
    """Share a number of shards out over the splits, in proportion to their sizes.

    Each split has at least one; within a split, shards differ by at most one row, or by one group
    of the rows that belong together (`synthprobe_data.dataset.Dataset`).
    """
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= MAX_SHARDS:
        raise SynthprobeError(
            f"shards is {shards!r}: it must be a whole number from 1 to {MAX_SHARDS}."
        )
    groups = {name: -(-size // together) for name, size in splits.items()}
    if not len(splits) <= shards <= sum(groups.values()):
        least = "a sample" if together == 1 else f"{together} samples that belong together"
        raise SynthprobeError(
            f"shards is {shards}: each of the {len(splits)} splits needs one at least, and each "
            f"shard {least}."
        )
    counts = dict.fromkeys(splits, 1)
    for _ in range(shards - len(splits)):
        # To the split whose shards are the largest.
        counts[max(splits, key=lambda name: groups[name] / counts[name])] += 1
    plans = []
    for split, size in splits.items():
        count = counts[split]
        for k in range(count):
            start, stop = share_of(size, count, k, together)
            plans.append(ShardPlan(f"{split}-{k:05}-of-{count:05}.h5", split, start, stop - start))
    return plans
