"""How many rectangles the scenes of a dataset have, as its files say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from synthprobe_data.dataset import Block, InfoCounts
from synthprobe_data.rde.config import RdeConfig


def count_scenes(
    blocks: Iterable[Block], asked: int, asked_least: int | None = None
) -> dict[str, Any] | None:
    """Count the rectangles of all scenes in some blocks; ``None`` if there are no scenes."""
    numbers, depths = Counter[int](), Counter[int]()
    for block in blocks:
        numbers.update(np.asarray(block["n_rectangles"]).tolist())
        depths.update(block["rectangle_rank"].max(axis=1, initial=0).tolist())
    return scene_counts(numbers, depths, asked, asked_least)


def scene_counts(
    numbers: Counter[int], depths: Counter[int], asked: int, asked_least: int | None = None
) -> dict[str, Any] | None:
    """What there is to say about scenes as plain JSON values; ``None`` if there are none.

    Parameters
    ----------
    numbers
        How many scenes have so many rectangles.
    depths
        How many scenes have this highest rank; they are flat if it is 1.
    asked
        Rectangles that were asked for, at most.
    asked_least
        Rectangles that were asked for, at least, where samples draw their number.
    """
    scenes = numbers.total()
    if not scenes:
        return None
    return {
        "asked": asked,
        **({} if asked_least is None else {"asked_least": asked_least}),
        "mean": sum(number * times for number, times in numbers.items()) / scenes,
        "least": min(numbers),
        "most": max(numbers),
        "flat": sum(times for depth, times in depths.items() if depth < 2) / scenes,
    }


def counts_sentence(
    asked: int, mean: float, least: int, most: int, flat: float, asked_least: int | None = None
) -> str:
    """The same for people."""
    span = f"{least} to {most}" if least < most else "in every one"
    of = f"{asked}" if asked_least is None else f"{asked_least} to {asked}"
    return (
        f"{mean:.2f} of {of} rectangles on average ({span}), {100 * flat:.1f}% flat (all "
        "rectangles of one rank)"
    )


def _count(blocks: Iterable[Block], config: RdeConfig) -> dict[str, Any] | None:
    return count_scenes(blocks, config.n_rectangles, config.min_rectangles)


COUNTS: Final = InfoCounts(
    key="rectangles",
    label="scenes",
    columns=("n_rectangles", "rectangle_rank"),
    count=_count,
    sentence=counts_sentence,
)
