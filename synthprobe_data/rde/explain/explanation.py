"""All that a drawing of a scene shows, put together from the stored row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Sample
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.explain.graph import Drawing, lay_out
from synthprobe_data.rde.geometry import (
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
from synthprobe_data.rde.kernels.difficulty import Difficulty, difficulty_block, difficulty_of_row
from synthprobe_data.rde.palette import palette_of
from synthprobe_data.rde.scene import CONVEXITY
from synthprobe_data.registry import DATASETS
from synthprobe_data.shards.collection import OpenDataset, Split
from synthprobe_data.text import printable


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
    """The split to show, the first one by default; `SynthprobeError` if it has no scenes."""
    if data.dataset.explain is None:
        explained = " and ".join(name for name in DATASETS if DATASETS[name].explain)
        raise SynthprobeError(
            f"{data.path} is of the dataset {data.dataset.name}: only samples of {explained} can "
            "be explained."
        )
    return data.find_split(split)


def explain(data: OpenDataset, split: Split, position: int) -> Explanation:
    """Explain a sample, counted from the first of the split that is there.

    Only a sample that agrees with itself is explained: `SynthprobeError` names what does not.
    """
    sample, index = split[position], split.index_of(position)
    failed = data.dataset.row_checks.failed(data.config, sample, split.name, index)
    ignored = data.dataset.browse.ignored_checks if data.dataset.browse else frozenset()
    if wrong := [check for check in failed if check not in ignored]:
        raise SynthprobeError(
            f"{printable(split.name)} {index} does not agree with itself ({', '.join(wrong)}), so "
            "it cannot be explained: synthprobe-shards verify says more."
        )
    colored: Any = data.config  # of RDE, or of twins
    palette = palette_of(colored, sample)
    return explain_sample(sample, palette, split=split.name, index=index)


def explain_sample(
    sample: Sample, palette: NDArray[np.uint8], *, split: str = "", index: int = 0
) -> Explanation:
    """Explain a sample that is known to agree with itself."""
    n = int(sample["n_rectangles"])
    rectangles, label = sample["rectangles"][:n], sample["label"]
    above = sample["above"][:n, :n]
    boxes = visible_boxes(label)
    height, width = label.shape
    block = difficulty_block(
        rectangles[None], sample["n_rectangles"][None], height=height, width=width
    )
    return Explanation(
        split=split,
        index=index,
        image=sample["image"],
        rectangles=rectangles,
        colors=palette[sample["color"][:n]],
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
