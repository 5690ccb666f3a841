"""The steps of the solver, slowly and plainly: dense matrices, whole pictures, networkx.

Each function has the name of the kernel that must equal it, but works on pixels where the kernel
works on cells. A map has 0 for the background and regions from 1; matrices count regions from 0.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy import ndimage

LabelMap: TypeAlias = npt.NDArray[np.uint8]
Matrix: TypeAlias = npt.NDArray[np.bool_]  # (n, n): the row is above the column


def blur_matrix(weights: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """The blur of a row of ``size`` pixels, reflected at its ends: blurred = matrix @ row."""
    reach = len(weights) - 1
    places = np.pad(np.arange(size), reach, mode="symmetric")  # d c b a | a b c d
    matrix = np.zeros((size, size), np.int64)
    for pixel in range(size):
        for t in range(-reach, reach + 1):
            matrix[pixel, places[reach + pixel + t]] += int(weights[abs(t)])
    return matrix


def render(
    label: LabelMap, colors: npt.NDArray[Any], weights: npt.NDArray[Any]
) -> npt.NDArray[np.uint8]:
    """The picture of a label map; ``colors`` has the background first."""
    height, width = label.shape
    painted = np.moveaxis(colors.astype(np.int64)[label], 2, 0)
    total = blur_matrix(weights, height) @ painted @ blur_matrix(weights, width).T
    return np.moveaxis((total + 2**23) >> 24, 0, 2).astype(np.uint8)


def deblur(image: npt.NDArray[Any], weights: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """What was painted, up to the rounding: solve for rows, then for columns."""
    height, width = image.shape[:2]
    unit = int(weights[0]) + 2 * int(np.sum(weights[1:]))
    channels = np.moveaxis(image.astype(np.float64), 2, 0)
    columns = np.linalg.solve(blur_matrix(weights, height) / unit, channels)
    rows = np.linalg.solve(blur_matrix(weights, width) / unit, np.swapaxes(columns, 1, 2))
    return np.transpose(rows, (2, 1, 0))


def count_hues(picture: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """How many pixels have each of the 1530 hues; pixels of no bright channel are black."""
    red, green, blue = np.moveaxis(picture, 2, 0).reshape(3, -1)
    bright = np.stack([red, green, blue]) > 127.5
    corners = {  # which channels are bright there, and the hue beside it
        (True, False, False): green - blue,
        (True, True, False): 255 + green - red,
        (False, True, False): 510 + blue - red,
        (False, True, True): 765 + blue - green,
        (False, False, True): 1020 + red - green,
        (True, False, True): 1275 + red - blue,
        (True, True, True): 1275 + red - blue,
    }
    found = [
        hue[(bright == np.reshape(channels, (3, 1))).all(axis=0)]
        for channels, hue in corners.items()
    ]
    hues = np.floor(np.concatenate(found) + picture.dtype.type(0.5)).astype(np.int64)
    return np.bincount(hues % 1530, minlength=1530)


def find_nearest(picture: npt.NDArray[Any], colors: npt.NDArray[Any]) -> LabelMap:
    """The nearest colour of every pixel, by the channel farthest off."""
    apart = abs(picture[:, :, None] - colors[None, None]).max(axis=3)
    return np.argmin(apart, axis=2).astype(np.uint8)


def find_lines(label: LabelMap) -> tuple[list[int], list[int]]:
    """The lines across which the map changes, with the borders: x, then y."""
    x = np.flatnonzero((label[:, 1:] != label[:, :-1]).any(axis=0)) + 1
    y = np.flatnonzero((label[1:] != label[:-1]).any(axis=1)) + 1
    height, width = label.shape
    return [0, *x.tolist(), width], [0, *y.tolist(), height]


def number_regions(label: LabelMap) -> LabelMap:
    """The map with its regions numbered by their first pixel in reading order."""
    values, first = np.unique(label, return_index=True)
    regions = values[np.argsort(first)]
    numbered = np.zeros_like(label)
    for k, value in enumerate(regions[regions > 0], start=1):
        numbered[label == value] = k
    return numbered


def find_boxes(label: LabelMap) -> list[tuple[int, int, int, int]]:
    """The visible extent of each region: x0, y0, x1, y1."""
    return [(x.start, y.start, x.stop, y.stop) for y, x in ndimage.find_objects(label)]


def find_convexity(label: LabelMap) -> Matrix:
    """Whoever shows in the box of a region is above it."""
    n = int(label.max())
    above = np.zeros((n, n), np.bool_)
    for k, box in enumerate(ndimage.find_objects(label)):
        for shown in np.unique(label[box]):
            if shown not in (0, k + 1):
                above[shown - 1, k] = True
    return above


def is_painted(label: LabelMap) -> bool:
    """Whether rectangles, painted in some order, give this label map.

    If they do, the visible boxes do, too: a later box that covers a pixel of region k is part of a
    later rectangle, which would hide it. So paint the boxes in an order that fits convexity.
    """
    relation = nx.from_numpy_array(find_convexity(label), create_using=nx.DiGraph)
    if not nx.is_directed_acyclic_graph(relation):
        return False
    painted = np.zeros_like(label)
    boxes = ndimage.find_objects(label)
    for k in reversed(list(nx.topological_sort(relation))):
        painted[boxes[k]] = k + 1
    return bool((painted == label).all())


def find_junctions(label: LabelMap) -> list[tuple[int, ...]]:
    """All T-junctions, row by row, each as a row that the kernel gives."""
    height, width = label.shape
    found = []
    for y in range(1, height):
        for x in range(1, width):
            for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                first, second = _beside(label, y, x, down, right)
                bar, same = _beside(label, y, x, -down, -right)
                if bar == same != 0 and first != second and bar not in (first, second):
                    walks = (down, right), (-abs(right), -abs(down)), (abs(right), abs(down))
                    lengths = [_walk(label, y, x, *step) for step in walks]
                    found.append((y, x, bar, first, second, down, right, *lengths))
    return found


def _beside(label: LabelMap, y: int, x: int, down: int, right: int) -> tuple[int, int]:
    """The pixels on both sides of the first step from point (y, x), left or upper one first."""
    if down:
        row = y if down > 0 else y - 1
        return int(label[row, x - 1]), int(label[row, x])
    column = x if right > 0 else x - 1
    return int(label[y - 1, column]), int(label[y, column])


def _walk(label: LabelMap, y: int, x: int, down: int, right: int) -> int:
    """How many steps the same two regions lie on both sides."""
    height, width = label.shape
    ahead, steps = _beside(label, y, x, down, right), 0
    while True:
        steps += 1
        at_y, at_x = y + steps * down, x + steps * right
        inside = 0 < at_y < height and 0 < at_x < width
        if not inside or _beside(label, at_y, at_x, down, right) != ahead:
            return steps


def find_touching(label: LabelMap) -> Matrix:
    """Which regions share a pixel side."""
    n = int(label.max())
    touching = np.zeros((n + 1, n + 1), np.bool_)
    for a, b in ((label[:, 1:], label[:, :-1]), (label[1:], label[:-1])):
        touching[a, b] = touching[b, a] = True
    np.fill_diagonal(touching, False)
    return touching[1:, 1:]


def close(relation: Matrix) -> Matrix:
    """All that follows through others; a region on a cycle is above itself."""
    graph = nx.from_numpy_array(relation, create_using=nx.DiGraph)
    return nx.to_numpy_array(nx.transitive_closure(graph, reflexive=False), dtype=np.bool_)


def find_ranks(relation: Matrix) -> list[int]:
    """The longest way down from each region, counted from 1; the relation has no cycle."""
    graph = nx.from_numpy_array(relation, create_using=nx.DiGraph)
    rank: dict[int, int] = {}
    for k in reversed(list(nx.topological_sort(graph))):
        rank[k] = 1 + max((rank[lower] for lower in graph.successors(k)), default=0)
    return [rank[k] for k in range(len(relation))]
