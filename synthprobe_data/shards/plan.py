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
    def place(self) -> dict[str, Any]:
        """Its rows, as the attributes of a file state them."""
        return {
            "splits": {self.split: (0, self.rows)},
            "index_start": {self.split: self.index_start},
        }


def plan_shards(splits: Mapping[str, int], shards: int) -> list[ShardPlan]:
    """Share a number of shards out over the splits, in proportion to their sizes.

    Each split has at least one; within a split, shards differ by at most one row.
    """
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= MAX_SHARDS:
        raise SynthprobeError(
            f"shards is {shards!r}: it must be a whole number from 1 to {MAX_SHARDS}."
        )
    if not len(splits) <= shards <= sum(splits.values()):
        raise SynthprobeError(
            f"shards is {shards}: each of the {len(splits)} splits needs one at least, and each "
            "shard a sample."
        )
    counts = dict.fromkeys(splits, 1)
    for _ in range(shards - len(splits)):
        # To the split whose shards are the largest.
        counts[max(splits, key=lambda name: splits[name] / counts[name])] += 1
    plans = []
    for split, size in splits.items():
        count = counts[split]
        for k in range(count):
            start, stop = size * k // count, size * (k + 1) // count
            plans.append(ShardPlan(f"{split}-{k:05}-of-{count:05}.h5", split, start, stop - start))
    return plans
