"""Where the things are that a drawing of a scene points at: junctions, hidden sides, boxes.

Plain and slow, for a few samples; the kernels know of a cue only that it is there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Box = tuple[int, int, int, int]
"""x0, y0, x1, y1, half-open."""


class TJunction(NamedTuple):
    """A visible T-junction, by the definition from the rectangles in ``RULES.md``."""

    x: int
    y: int
    """The lines that cross there."""
    bar: int
    """The rectangle whose side is the bar, from 0: it is above the other."""
    stem: int
    """The rectangle whose side is the stem."""
    dx: int
    dy: int
    """One step along the stem, away from the bar."""


class Segment(NamedTuple):
    """A part of a side."""

    rectangle: int
    x0: int
    y0: int
    x1: int
    y1: int


def t_junctions(rectangles: NDArray[Any], label: NDArray[np.uint8]) -> list[TJunction]:
    """The visible T-junctions of a scene."""
    upright = _upright_stems(np.asarray(rectangles), label)
    level = _upright_stems(np.asarray(rectangles)[:, [1, 0, 3, 2]], label.T)
    return upright + [TJunction(t.y, t.x, t.bar, t.stem, t.dy, t.dx) for t in level]


def _upright_stems(rectangles: NDArray[Any], label: NDArray[np.uint8]) -> list[TJunction]:
    """The T-junctions at which an upright side runs beneath a level one."""
    height, width = label.shape
    boxes = rectangles.astype(np.int64).tolist()
    found = []
    for a, (ax0, ay0, ax1, ay1) in enumerate(boxes):
        for b, (bx0, by0, bx1, by1) in enumerate(boxes):
            for x, own in ((bx0, bx0), (bx1, bx1 - 1)):
                for y, inside in ((ay0, ay0), (ay1, ay1 - 1)):
                    if not (a != b and ax0 < x < ax1 and by0 < y < by1):
                        continue
                    if not (0 < x < width and 0 < y < height):
                        continue
                    outside, other = 2 * y - 1 - inside, 2 * x - 1 - own
                    if (
                        label[inside, x - 1] == label[inside, x] == a + 1
                        and label[outside, own] == b + 1
                        and label[outside, other] < b + 1
                    ):
                        found.append(TJunction(x, y, a, b, 0, outside - inside))
    return found


def hidden_sides(rectangles: NDArray[Any], label: NDArray[np.uint8]) -> list[Segment]:
    """The parts of the sides that do not show, of rectangles inside the picture."""
    found = []
    for k, (x0, y0, x1, y1) in enumerate(np.asarray(rectangles).astype(np.int64).tolist()):
        for x, inside in ((x0, x0), (x1, x1 - 1)):
            for low, high in _runs(label[y0:y1, inside] != k + 1):
                found.append(Segment(k, x, y0 + low, x, y0 + high))
        for y, inside in ((y0, y0), (y1, y1 - 1)):
            for low, high in _runs(label[inside, x0:x1] != k + 1):
                found.append(Segment(k, x0 + low, y, x0 + high, y))
    return found


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches in which it holds: first, and one after the last."""
    changes = np.flatnonzero(np.diff(mask, prepend=False, append=False)).tolist()
    return list(zip(changes[::2], changes[1::2], strict=True))


def visible_boxes(label: NDArray[np.integer]) -> dict[int, Box]:
    """For each rectangle that shows, from 0: the smallest box around its visible pixels."""
    from scipy import ndimage  # here, because it is slow to import

    return {
        k: (place[1].start, place[0].start, place[1].stop, place[0].stop)
        for k, place in enumerate(ndimage.find_objects(label))
        if place is not None
    }


def intersection(a: Box, b: Box) -> Box:
    """The box that two boxes have in common; empty if its x1 <= x0 or y1 <= y0."""
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def visible_centres(label: NDArray[np.integer]) -> dict[int, Point]:
    """For each rectangle that shows, from 0: x, y of the pixel farthest from its visible outline.

    The middle of its visible box may show another rectangle; this pixel never does.
    """
    from scipy import ndimage

    centres = {}
    for k, (x0, y0, x1, y1) in visible_boxes(label).items():
        depth = ndimage.distance_transform_edt(np.pad(label[y0:y1, x0:x1] == k + 1, 1))
        # Of several equally deep ones, the one in their middle.
        deepest = np.argwhere(depth >= depth.max() - 0.5) - 0.5
        middle = deepest.mean(axis=0)
        y, x = deepest[np.argmin(((deepest - middle) ** 2).sum(axis=1))]
        centres[k] = float(x0 + x), float(y0 + y)
    return centres
