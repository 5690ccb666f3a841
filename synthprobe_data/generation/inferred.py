"""Which shards a folder must have had, from those that can still be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.header import Header
from synthprobe_data.shards.plan import ShardPlan, share_of

_NAME: Final = re.compile(r"([\w-]+)-(\d{5})-of-(\d{5})\.h5", re.ASCII)


def infer_plans(
    headers: Mapping[str, Header], order: Sequence[str], together: int = 1
) -> list[ShardPlan]:
    """The plans of all shards of a folder, also of those that are missing.

    Their names say how many there were, and `synthprobe_data.shards.plan.plan_shards` shares rows
    out evenly, so a few shards tell the others; `SynthprobeError` if they do not.

    Parameters
    ----------
    headers
        The shards that can be read, by the names of their files.
    order
        Names of splits in the order in which they stand in a dataset.
    together
        How many rows belong together, in one shard (`synthprobe_data.dataset.Dataset`).
    """
    known: dict[str, dict[int, tuple[int, int]]] = {}
    counts: dict[str, int] = {}
    for name, header in headers.items():
        named = _NAME.fullmatch(name)
        if not named or list(header.splits) != [named[1]] or not int(named[2]) < int(named[3]):
            raise SynthprobeError(f"{name} has not the name of a shard of its split.")
        split, number, count = named[1], int(named[2]), int(named[3])
        if counts.setdefault(split, count) != count:
            raise SynthprobeError(f"{name} is of another number of shards than those beside it.")
        known.setdefault(split, {})[number] = (header.index_start[split], header.rows)
    plans = []
    for split in sorted(
        counts, key=lambda name: order.index(name) if name in order else len(order)
    ):
        start, size = _span(split, known[split], counts[split], together)
        for number in range(counts[split]):
            first, rows = _share(start, size, counts[split], number, together)
            name = f"{split}-{number:05}-of-{counts[split]:05}.h5"
            plans.append(ShardPlan(name, split, first, rows))
    return plans


def _span(
    split: str, known: Mapping[int, tuple[int, int]], count: int, together: int
) -> tuple[int, int]:
    """The first index and the size of a split, of which some shards are known."""
    start = known[0][0] if 0 in known else 0
    rows = next(iter(known.values()))[1]
    fitting = [
        size
        for size in range(
            together * max((rows // together - 1) * count, count),
            together * (rows // together + 1) * count + 1,
            together,
        )
        if all(
            _share(start, size, count, number, together) == place for number, place in known.items()
        )
    ]
    if len(fitting) != 1:
        raise SynthprobeError(
            f"Its shards do not tell how many samples {split} had: synthprobe-gen --resume with "
            "the settings of the run makes it again."
        )
    return start, fitting[0]


def _share(start: int, size: int, count: int, number: int, together: int) -> tuple[int, int]:
    """The first index of a shard, and its rows."""
    first, stop = share_of(size, count, number, together)
    return start + first, stop - first
