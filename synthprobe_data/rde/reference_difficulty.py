"""The difficulty of a scene, slowly and plainly: pixel by pixel, like `reference.py`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from synthprobe_data.rde import geometry as marks
from synthprobe_data.rde import reference
from synthprobe_data.rde.demands import Demanding
from synthprobe_data.rde.geometry import Box
from synthprobe_data.rde.reference import LabelMap, Rectangles


def convexity_only(rectangles: Rectangles, height: int, width: int) -> int:
    """How many pairs are ordered by convexity and by no T-junction."""
    label = reference.paint(rectangles, height, width)
    by_convexity = reference.above_by_convexity(label, len(rectangles))
    by_t_junction = reference.above_by_t_junction(rectangles, height, width)
    return int(np.sum(by_convexity & ~by_t_junction))


def pieces(rectangles: Rectangles, height: int, width: int) -> tuple[int, ...]:
    """For each rectangle, into how many pieces its visible pixels fall, joined by pixel sides."""
    label = reference.paint(rectangles, height, width)
    return tuple(ndimage.label(label == k + 1)[1] for k in range(len(rectangles)))


def depth(rectangles: Rectangles, height: int, width: int) -> int:
    """The highest rank."""
    ranks = reference.ranks(reference.relation_of_scene(rectangles, height, width))
    assert ranks is not None  # the relation of a scene has no cycle
    return max(ranks, default=0)


def meets_demands(config: Demanding, rectangles: Rectangles, height: int, width: int) -> bool:
    """Whether a scene is at least as hard as the settings demand."""
    return (
        depth(rectangles, height, width) >= config.min_depth
        and convexity_only(rectangles, height, width) >= config.min_convexity_only
        and cue_distance(rectangles, height, width) >= config.min_cue_distance
    )


def cue_distance(rectangles: Rectangles, height: int, width: int) -> int:
    """The longest way from a visible pixel to the nearest cue of its rectangle, in pixels."""
    label = reference.paint(rectangles, height, width)
    farthest = 0
    for k in range(len(rectangles)):
        cues = list(cues_of(k, rectangles, label))
        if cues and np.any(label == k + 1):
            to_nearest = np.min([_distances(box, height, width) for box in cues], axis=0)
            farthest = max(farthest, int(to_nearest[label == k + 1].max()))
    return farthest


def pair_distance(upper: int, lower: int, rectangles: Rectangles, height: int, width: int) -> int:
    """The longest way from a visible pixel of two rectangles to the nearest cue between them.

    0 if no cue says that ``upper`` is above ``lower``.
    """
    label = reference.paint(rectangles, height, width)
    cues: list[Box] = [
        (t.x - 1, t.y - 1, t.x + 1, t.y + 1)
        for t in marks.t_junctions(rectangles, label)
        if (t.bar, t.stem) == (upper, lower)
    ]
    if reference.above_by_convexity(label, len(rectangles))[upper, lower]:
        boxes = marks.visible_boxes(label)
        cues.append(marks.intersection(boxes[upper], boxes[lower]))
    if not cues:
        return 0
    to_nearest = np.min([_distances(box, height, width) for box in cues], axis=0)
    return int(to_nearest[(label == upper + 1) | (label == lower + 1)].max())


def cues_of(k: int, rectangles: Rectangles, label: LabelMap) -> Iterator[Box]:
    """The pixels of each cue that rectangle k takes part in, as a box.

    Of a T-junction the four around it, of convexity the intersection of the two boxes.
    """
    for t in marks.t_junctions(rectangles, label):
        if k in (t.bar, t.stem):
            yield t.x - 1, t.y - 1, t.x + 1, t.y + 1
    boxes = marks.visible_boxes(label)
    above = reference.above_by_convexity(label, len(rectangles))
    for other in range(len(rectangles)):
        if above[k, other] or above[other, k]:
            yield marks.intersection(boxes[k], boxes[other])


def _distances(box: Box, height: int, width: int) -> np.ndarray:
    """How far each pixel is from the nearest one of a box: the greater of columns and rows."""
    x0, y0, x1, y1 = box
    y, x = np.mgrid[:height, :width]
    columns = np.maximum(np.maximum(x0 - x, x - (x1 - 1)), 0)
    rows = np.maximum(np.maximum(y0 - y, y - (y1 - 1)), 0)
    return np.maximum(columns, rows)
