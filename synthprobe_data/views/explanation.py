"""All that a drawing of an RDE sample shows, put together from the stored row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.printable import printable
from synthprobe_data.rde import RDE, RdeConfig
from synthprobe_data.rde.difficulty import Difficulty, difficulty_block, difficulty_of_row
from synthprobe_data.rde.marks import (
    Box,
    Point,
    Segment,
    TJunction,
    hidden_sides,
    intersection,
    t_junctions,
    visible_boxes,
    visible_centres,
)
from synthprobe_data.rde.render import hue_palette
from synthprobe_data.rde.scene import CONVEXITY
from synthprobe_data.rde.verify import check_block, row_checks
from synthprobe_data.shards.opened import OpenDataset, Sample, Split
from synthprobe_data.views.graph import Drawing, lay_out

_NO_MATTER: Final = {"rules", "certificate"}
"""Checks that a sample may fail and still be what it seems."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A sample, and what tells its ranks. Rectangles count from 0."""

    split: str
    index: int
    """Within the whole split."""
    image: NDArray[np.uint8]
    """The stored picture."""
    rectangles: NDArray[np.int16]
    """x0, y0, x1, y1 of each, in placement order: (n, 4)."""
    colors: NDArray[np.uint8]
    """The RGB of each."""
    rectangle_rank: NDArray[np.uint8]
    above: NDArray[np.uint8]
    """Row above column, (n, n), by which cue."""
    centres: dict[int, Point]
    """A point well inside the visible part of each."""
    t_junctions: list[TJunction]
    hidden_sides: list[Segment]
    overlaps: dict[tuple[int, int], Box]
    """For pairs that only convexity orders: where their visible boxes intersect."""
    drawing: Drawing
    """The relation, laid out."""
    difficulty: Difficulty
    occluded_pairs: int
    """Pairs of rectangles of which one lies partly or wholly beneath the other."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the picture."""
        return self.image.shape[0], self.image.shape[1]


def pick_split(data: OpenDataset, split: str | None) -> Split:
    """The split to show, the first one by default; `SynthprobeError` if it is not of RDE."""
    if data.dataset.name != RDE.name:  # in another process it is another object
        raise SynthprobeError(
            f"{data.path} is of the dataset {data.dataset.name}: only samples of {RDE.name} can be "
            "explained."
        )
    return first_split(data, split)


def first_split(data: OpenDataset, split: str | None) -> Split:
    """The split of that name; without one, the first that has samples."""
    if split is None:
        split = next((name for name, size in data.splits.items() if size), None)
        if split is None:
            raise SynthprobeError(f"{data.path} has no samples.")
    return data[split]


def explain(data: OpenDataset, split: Split, position: int) -> Explanation:
    """Explain a sample, counted from the first of the split that is there.

    Only a sample that agrees with itself is explained: `SynthprobeError` names what does not.
    """
    config = data.config
    assert isinstance(config, RdeConfig)  # as `pick_split` has made sure
    sample = split[position]
    index = split.index_of(position)
    _check(sample, config, f"{printable(split.name)} {index}")
    n = int(sample["n_rectangles"])
    rectangles, label = sample["rectangles"][:n], sample["label"]
    above = sample["above"][:n, :n]
    boxes = visible_boxes(label)
    height, width = label.shape
    block = difficulty_block(
        rectangles[None], sample["n_rectangles"][None], height=height, width=width
    )
    return Explanation(
        split=split.name,
        index=index,
        image=sample["image"],
        rectangles=rectangles,
        colors=hue_palette(config.palette_size)[sample["color"][:n]],
        rectangle_rank=sample["rectangle_rank"][:n],
        above=above,
        centres=visible_centres(label),
        t_junctions=t_junctions(rectangles, label),
        hidden_sides=hidden_sides(rectangles, label),
        overlaps={
            (a, b): intersection(boxes[a], boxes[b])
            for a, b in np.argwhere(above == CONVEXITY).tolist()
        },
        drawing=lay_out(above, sample["rectangle_rank"][:n]),
        difficulty=difficulty_of_row(block, 0),
        occluded_pairs=count_overlaps(rectangles),
    )


def count_overlaps(rectangles: NDArray[Any]) -> int:
    """How many pairs of rectangles have pixels in common, hidden ones included."""
    count = 0
    for a, b in combinations(np.asarray(rectangles).astype(np.int64).tolist(), 2):
        x0, y0, x1, y1 = intersection(tuple(a), tuple(b))
        count += x0 < x1 and y0 < y1
    return count


def _check(sample: Sample, config: RdeConfig, name: str) -> None:
    block = {column: np.asarray(value)[None] for column, value in sample.items()}
    mask = int(check_block(config, block)[0])
    failed = [
        check
        for bit, check in enumerate(row_checks(config))
        if mask >> bit & 1 and check not in _NO_MATTER
    ]
    if failed:
        raise SynthprobeError(
            f"{name} does not agree with itself ({', '.join(failed)}), so it cannot be explained: "
            "synthprobe-shards verify says more."
        )
