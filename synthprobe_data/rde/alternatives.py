"""Another scene with the same picture: the proof that a picture is ambiguous.

Whatever a picture does not show is free: the order of two rectangles that no pixel decides, and how
far a side goes on beneath those above it. The search tries other orders and other hidden sides. It
is not exhaustive: what it finds is a proof, that it finds nothing is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.scene import Scene, first_refused, read_scene

Order = NDArray[np.int64]
"""Rectangles from the lowest to the topmost."""

_RANDOM_ORDERS: Final = 8
_SCENES_PER_ORDER: Final = 16
_LEAST_HIDDEN: Final = 2
"""By rule 3, a hidden side is at least so many pixels from the visible side that hides it."""


def second_scene(
    config: RdeConfig, rectangles: ArrayLike, *, other_ranks: bool = True
) -> Scene | None:
    """A scene that the rules allow, with the label map of a given one, but with other ranks.

    Parameters
    ----------
    config
        The rules: those of its mode, but not the certificate.
    rectangles
        A scene that the rules allow: x0, y0, x1, y1 of each, in placement order.
    other_ranks
        If false, the ranks may be the same, but two rectangles that touch in the picture are in
        the other order.

    Returns
    -------
    Scene or None
        Its rectangles are in their own placement order, so its labels are other numbers for the
        same regions. ``None`` when none was found, which does not prove that there is none.
    """
    first = read_scene(rectangles, height=config.height, width=config.width)
    n = len(first.rectangles)
    if len(np.unique(first.label[first.label > 0])) < n:
        return None  # someone is hidden wholly; no rule allows it
    boxes = _visible_boxes(first.label, n)
    random = np.random.default_rng(0)
    for order, free in _orders(config, first.label, boxes, other_ranks, random):
        reach = _reach(first.label, boxes, order)
        old = _old_sides(first.rectangles, boxes, reach)
        for attempt in range(_SCENES_PER_ORDER):
            sides = old.copy()
            if attempt:
                sides[free] = _new_sides(sides, boxes, reach, config, random)[free]
            scene = _as_another(config, first, sides[order], order)
            if scene is not None and not (other_ranks and (scene.rank == first.rank).all()):
                return scene
    return None


def _as_another(
    config: RdeConfig, first: Scene, rectangles: NDArray[np.int64], order: Order
) -> Scene | None:
    """The scene, if it has the same label map and the rules allow it."""
    painted = np.zeros_like(first.label)
    for k, (x0, y0, x1, y1) in zip(order.tolist(), rectangles.tolist(), strict=True):
        painted[y0:y1, x0:x1] = k + 1
    if (painted != first.label).any() or first_refused(config, rectangles) is not None:
        return None
    return read_scene(rectangles, height=config.height, width=config.width)


def _visible_boxes(label: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    boxes = np.zeros((n, 4), np.int64)
    for k in range(n):
        shows = label == k + 1
        rows, columns = np.flatnonzero(shows.any(1)), np.flatnonzero(shows.any(0))
        boxes[k] = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    return boxes


def _orders(
    config: RdeConfig,
    label: NDArray[np.uint8],
    boxes: NDArray[np.int64],
    other_ranks: bool,
    random: np.random.Generator,
) -> Iterator[tuple[Order, list[int]]]:
    """With two that touch exchanged, for each two; without rules the given one and some others.

    All of them have whoever shows in the visible box of another above it, as they must. With each
    come the rectangles whose hidden sides are to be tried elsewhere.
    """
    n = len(boxes)
    above = np.zeros((n, n), np.bool_)
    for k, (x0, y0, x1, y1) in enumerate(boxes):
        shown = np.unique(label[y0:y1, x0:x1]).astype(np.int64) - 1
        above[shown[shown >= 0], k] = True
    np.fill_diagonal(above, False)
    old, everyone = np.arange(n), list(range(n))
    by_rules = config.mode != "ambiguous"
    if not by_rules and other_ranks:  # by rule 3, hidden sides alone do not change a rank
        yield old, everyone
    for lower, upper in _touching(label):
        exchanged = above.copy()
        exchanged[lower, upper] = True
        order = _sorted(exchanged, old)
        if order is not None and not by_rules:
            yield order, everyone
        elif order is not None and _goes_beneath(label, boxes, order, upper, lower):
            yield order, [lower, upper]
    for _ in range(0 if by_rules or not other_ranks else _RANDOM_ORDERS):
        order = _sorted(above, random.permutation(n))
        if order is not None:
            yield order, everyone


def _touching(label: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """The pairs of rectangles that share a pixel side, the earlier one first."""
    beside = np.stack([label[:, :-1].ravel(), label[:, 1:].ravel()])
    beneath = np.stack([label[:-1].ravel(), label[1:].ravel()])
    pairs = np.concatenate([beside, beneath], axis=1).astype(np.int64) - 1
    pairs = pairs[:, (pairs[0] != pairs[1]) & (pairs >= 0).all(0)]
    return [(int(a), int(b)) for a, b in np.unique(np.sort(pairs, axis=0), axis=1).T]


def _sorted(above: NDArray[np.bool_], place: NDArray[np.int64]) -> Order | None:
    """An order with everyone above those that it must be above; the least place first."""
    waiting = above.copy()
    order: list[int] = []
    left = sorted(range(len(above)), key=lambda k: int(place[k]))
    while left:
        free = next((k for k in left if not waiting[k].any()), None)
        if free is None:
            return None
        left.remove(free)
        waiting[:, free] = False
        order.append(free)
    return np.array(order, np.int64)


def _reach_of(
    label: NDArray[np.uint8], box: NDArray[np.int64], order: Order, k: int
) -> NDArray[np.int64]:
    """How far each side of rectangle k may lie outside its visible box, beneath those above it."""
    hides = np.zeros(len(order) + 1, np.bool_)
    hides[order[int(np.flatnonzero(order == k)[0]) + 1 :] + 1] = True
    hidden: NDArray[np.bool_] = hides[label]
    x0, y0, x1, y1 = box
    columns, rows = np.all(hidden[y0:y1], axis=0), np.all(hidden[:, x0:x1], axis=1)
    runs = columns[:x0][::-1], rows[:y0][::-1], columns[x1:], rows[y1:]
    return np.array([np.argmin(np.append(run, False)) for run in runs], np.int64)


def _reach(label: NDArray[np.uint8], boxes: NDArray[np.int64], order: Order) -> NDArray[np.int64]:
    return np.stack([_reach_of(label, boxes[k], order, k) for k in range(len(boxes))])


def _goes_beneath(
    label: NDArray[np.uint8], boxes: NDArray[np.int64], order: Order, lower: int, upper: int
) -> bool:
    """Whether every side of the one now beneath that meets the other can go on beneath it.

    If one cannot, they share a side there, which rule 3 forbids: no need to try.
    """
    x0, y0, x1, y1 = boxes[lower]
    around = np.pad(label, 1)  # by one pixel, so that there is always an outside
    outside = (
        around[y0 + 1 : y1 + 1, x0],
        around[y0, x0 + 1 : x1 + 1],
        around[y0 + 1 : y1 + 1, x1 + 1],
        around[y1 + 1, x0 + 1 : x1 + 1],
    )
    meets = np.array([(line == upper + 1).any() for line in outside])
    reach = _reach_of(label, boxes[lower], order, lower)
    return bool((reach[meets] >= _LEAST_HIDDEN).all())


def _old_sides(
    rectangles: NDArray[np.int64], boxes: NDArray[np.int64], reach: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The given sides, moved to the nearest place that the order allows."""
    sides = boxes.copy()
    sides[:, :2] -= np.minimum(boxes[:, :2] - rectangles[:, :2], reach[:, :2])
    sides[:, 2:] += np.minimum(rectangles[:, 2:] - boxes[:, 2:], reach[:, 2:])
    return sides


def _new_sides(
    sides: NDArray[np.int64],
    boxes: NDArray[np.int64],
    reach: NDArray[np.int64],
    config: RdeConfig,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """The sides that can be hidden at other places: at either end of their room, or in between."""
    steps = np.array([0, _LEAST_HIDDEN, config.n_par, config.n_par + 1])
    chosen = np.minimum(steps[random.integers(0, len(steps), reach.shape)], reach)
    anywhere = random.integers(0, reach + 1)
    out = np.where(random.random(reach.shape) < 0.5, chosen, anywhere)
    moved = np.concatenate([boxes[:, :2] - out[:, :2], boxes[:, 2:] + out[:, 2:]], axis=1)
    return np.where((reach > 0) & (random.random(reach.shape) < 0.7), moved, sides)
