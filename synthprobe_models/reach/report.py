"""What some runs of one network reach, by the length of the strips that they are tested on."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from synthprobe_models.reach.by_distance import FAR, NEAR
from synthprobe_models.seeds.interval import interval_of

Results = Sequence[Mapping[str, Any]]
HEAD: Final = (
    "tested on",
    f"near ({NEAR}) ↑, 95% interval",
    f"far ({FAR}) ↑, 95% interval",
    "far, lowest to highest",
    "reach ↑, lowest to highest",
)
CANNOT: Final = "cannot"


def kinds_of(results: Results) -> dict[str, Results]:
    """By what they were tested on: the figures of the runs, those like the training first."""
    config = results[0]["data"]["config"]
    kinds: dict[str, Results] = {f"{config['height']} x {config['width']}": results}
    for label in results[0].get("further", {}):
        kinds[label] = [result["further"][label] for result in results]
    return kinds


def reach_rows(results: Results) -> list[list[str]]:
    """A table, its head first: near, far and reach by what the runs were tested on."""
    rows = [list(HEAD)]
    for label, found in kinds_of(results).items():
        if any(CANNOT in one for one in found):
            rows.append([label, CANNOT, "", "", ""])
            continue
        near, far = ([one["order"][part]["share"] for one in found] for part in ("near", "far"))
        reach = [one["order"]["reach"] for one in found]
        rows.append(
            [
                label,
                with_interval(near),
                with_interval(far),
                f"{min(far):.1%} to {max(far):.1%}",
                _range(reach),
            ]
        )
    return rows


def brief_reach(results: Results) -> str:
    """The median of the reach over seeds, by what they were tested on."""
    parts = []
    for label, found in kinds_of(results).items():
        if any(CANNOT in one for one in found):
            parts.append(f"{label}: {CANNOT}")
        else:
            middle = statistics.median_low([one["order"]["reach"] for one in found])
            parts.append(f"{label}: {middle}")
    return ", ".join(parts)


def with_interval(shares: Sequence[float]) -> str:
    """The mean over seeds, and its 95% t-interval within what a share can be."""
    mean = f"{statistics.fmean(shares):.1%}"
    if len(shares) < 2:
        return mean
    low, high = interval_of(shares)
    return f"{mean} ({max(low, 0):.1%} to {min(high, 1):.1%})"


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
