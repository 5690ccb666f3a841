"""How many rectangles the scenes of a dataset have, as its files say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from synthprobe_data.dataset import Block

COLUMNS: Final = ("n_rectangles", "rectangle_rank")
"""What is counted."""


def count_scenes(blocks: Iterable[Block], asked: int) -> dict[str, Any] | None:
    """Count the rectangles of all scenes in some blocks; ``None`` if there are no scenes."""
    numbers, depths = Counter[int](), Counter[int]()
    for block in blocks:
        numbers.update(np.asarray(block["n_rectangles"]).tolist())
        depths.update(block["rectangle_rank"].max(axis=1, initial=0).tolist())
    return scene_counts(numbers, depths, asked)


def scene_counts(numbers: Counter[int], depths: Counter[int], asked: int) -> dict[str, Any] | None:
    """What there is to say about scenes as plain JSON values; ``None`` if there are none.

    Parameters
    ----------
    numbers
        How many scenes have so many rectangles.
    depths
        How many scenes have this highest rank; they are flat if it is 1.
    asked
        Rectangles that were asked for.
    """
    scenes = numbers.total()
    if not scenes:
        return None
    return {
        "asked": asked,
        "mean": sum(number * times for number, times in numbers.items()) / scenes,
        "least": min(numbers),
        "most": max(numbers),
        "flat": sum(times for depth, times in depths.items() if depth < 2) / scenes,
    }


def counts_sentence(asked: int, mean: float, least: int, most: int, flat: float) -> str:
    """The same for people."""
    span = f"{least} to {most}" if least < most else "in every one"
    return (
        f"{mean:.2f} of {asked} rectangles on average ({span}), {100 * flat:.1f}% flat (all "
        "rectangles of one rank)"
    )
