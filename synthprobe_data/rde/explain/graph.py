"""Where to draw the relation: a layer for each rank, and ways for the arrows around the others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SWEEPS: Final = 8
_BEND_GAP: Final = 0.5
"""Least distance of a bend from its neighbours; that of two rectangles is 1."""

Point = tuple[float, float]
"""x, and the rank as height."""


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """An arrow from a rectangle to one that it is above."""

    upper: int
    lower: int
    cue: int
    """As in ``above``: bit 0 by a T-junction, bit 1 by convexity."""
    points: tuple[Point, ...]
    """Where it starts, bends (once in each layer that it passes), and ends."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """The relation, laid out."""

    points: tuple[Point, ...]
    """Of each rectangle."""
    arrows: tuple[Arrow, ...]
    width: float
    """All x are from 0 to this."""


@dataclass
class _Spot:
    """A slot in a layer: a rectangle, or a bend of an arrow that passes the layer."""

    rank: int
    bend: bool
    x: float
    up: list[_Spot]
    down: list[_Spot]


def lay_out(above: NDArray[np.uint8], rectangle_rank: NDArray[np.uint8]) -> Drawing:
    """Lay out the relation of a scene.

    Parameters
    ----------
    above
        Row above column, (n, n), as in the file.
    rectangle_rank
        The rank of each rectangle, which is its layer.
    """
    spots = [_Spot(int(rank), False, float(k), [], []) for k, rank in enumerate(rectangle_rank)]
    ways: dict[tuple[int, int], list[_Spot]] = {}
    bends: list[_Spot] = []
    for upper, lower in np.argwhere(above).tolist():
        way = [spots[upper]]
        for rank in range(spots[upper].rank - 1, spots[lower].rank, -1):
            way.append(_Spot(rank, True, spots[upper].x, [], []))
        bends += way[1:]
        way.append(spots[lower])
        for a, b in pairwise(way):
            a.down.append(b)
            b.up.append(a)
        ways[upper, lower] = way
    layers: dict[int, list[_Spot]] = {}
    for spot in [*spots, *bends]:
        layers.setdefault(spot.rank, []).append(spot)
    _untangle([layers[rank] for rank in sorted(layers)])
    left = min((spot.x for spot in [*spots, *bends]), default=0.0)
    right = max((spot.x for spot in [*spots, *bends]), default=0.0)
    return Drawing(
        points=tuple((spot.x - left, spot.rank) for spot in spots),
        arrows=tuple(
            Arrow(
                upper=upper,
                lower=lower,
                cue=int(above[upper, lower]),
                points=tuple((spot.x - left, spot.rank) for spot in way),
            )
            for (upper, lower), way in ways.items()
        ),
        width=right - left,
    )


def curve(through: tuple[Point, ...]) -> list[Point]:
    """A smooth line through the points, as cubic Bézier curves.

    Returns
    -------
    list
        The first point, then for each further one two control points and itself.
    """
    points = np.array(through)
    steps = np.diff(points, axis=0)
    slopes = np.concatenate([steps[:1], (steps[1:] + steps[:-1]) / 2, steps[-1:]])
    line = [points[0]]
    for i in range(len(steps)):
        line += [points[i] + slopes[i] / 3, points[i + 1] - slopes[i + 1] / 3, points[i + 1]]
    return [(float(x), float(y)) for x, y in line]


def _untangle(layers: list[list[_Spot]]) -> None:
    """Order each layer by the neighbours in the layers around it, up and down in turns.

    The best order of all turns, by crossings, is kept; then the spots move towards their neighbours
    without changing it.
    """
    for layer in layers:
        _spread(layer)
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for turn in range(_SWEEPS):
        for layer in layers if turn % 2 else reversed(layers):
            means = {id(s): _mean((s.down if turn % 2 else s.up), s.x) for s in layer}
            layer.sort(key=lambda spot: means[id(spot)])
            _spread(layer)
        if (found := _crossings(layers)) < fewest:
            best, fewest = [list(layer) for layer in layers], found
    for layer in best:
        _spread(layer)
    for turn in range(_SWEEPS):
        for layer in best if turn % 2 else reversed(best):
            wanted = [_mean([*spot.up, *spot.down], spot.x) for spot in layer]
            _place(layer, wanted)


def _mean(spots: list[_Spot], otherwise: float) -> float:
    return sum(spot.x for spot in spots) / len(spots) if spots else otherwise


def _gap(a: _Spot, b: _Spot) -> float:
    """How far apart two neighbours in a layer must be."""
    return (_BEND_GAP if a.bend else 1.0) / 2 + (_BEND_GAP if b.bend else 1.0) / 2


def _spread(layer: list[_Spot]) -> None:
    """Put a layer side by side, around 0."""
    _place(layer, [0.0] * len(layer))


def _place(layer: list[_Spot], wanted: list[float]) -> None:
    """Put each spot as near to where it is wanted as its neighbours allow, in this order.

    With the gaps taken off, the nearest places that do not decrease: neighbours that push each
    other move as one, to the mean of what they want.
    """
    offsets = [0.0]
    for a, b in pairwise(layer):
        offsets.append(offsets[-1] + _gap(a, b))
    groups: list[tuple[float, int]] = []  # mean, number
    for place, offset in zip(wanted, offsets, strict=False):
        mean, number = place - offset, 1
        while groups and groups[-1][0] > mean:
            other, count = groups.pop()
            mean, number = (mean * number + other * count) / (number + count), number + count
        groups.append((mean, number))
    places = [mean for mean, number in groups for _ in range(number)]
    for spot, place, offset in zip(layer, places, offsets, strict=False):
        spot.x = place + offset


def _crossings(layers: list[list[_Spot]]) -> int:
    """How many pairs of lines between neighbouring layers cross."""
    count = 0
    for layer in layers:
        order = {id(spot): i for i, spot in enumerate(layer)}
        lines = [(order[id(s)], below.x) for s in layer for below in s.down]
        for i, (a, x) in enumerate(lines):
            count += sum((a - b) * (x - y) < 0 for b, y in lines[:i])
    return count
