"""The rules of twins, slowly and plainly: what is fast must equal it.

This module follows ``RULES.md``. What a scene is, which rules it keeps and what its picture is,
`synthprobe_data.rde.reference` says. Rectangles count from 0, labels from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from synthprobe_data.random import draw_below, draw_two_pairs, shuffle
from synthprobe_data.rde import reference as rde
from synthprobe_data.rde.kernels.apart import drawn_apart
from synthprobe_data.rde.reference import LabelMap, Rectangles
from synthprobe_data.rde.reference_difficulty import meets_demands
from synthprobe_data.twins.config import TwinsConfig

Picture = npt.NDArray[np.uint8]
Distances = npt.NDArray[np.int64]


def exchanged(values: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    """The rectangles, or their colours, with k and k + 1 exchanged in the painting order."""
    order = np.arange(len(values))
    order[[k, k + 1]] = k + 1, k
    return values[order]


def can_be_exchanged(config: TwinsConfig, rectangles: Rectangles, k: int) -> bool:
    """Whether the scene of a band and its twin can both be kept, and order k and k + 1."""
    return all(
        _can_be_kept(config, scene) and _is_above(config, scene, k + 1, k)
        for scene in (rectangles, exchanged(rectangles, k))
    )


def _can_be_kept(config: TwinsConfig, rectangles: Rectangles) -> bool:
    band = config.band
    if not all(rde.accepts(band, rectangles[:n]) for n in range(1, len(rectangles) + 1)):
        return False
    if config.mode != "certified":
        return True
    return rde.certificate_failure(rectangles, band.height, band.width) is None


def _is_above(config: TwinsConfig, rectangles: Rectangles, upper: int, lower: int) -> bool:
    relation = rde.relation_of_scene(rectangles, config.height, config.width)
    return bool(relation.has_edge(upper, lower))


# ---------------------------------------------------------------------------------------- distance


def differences(first: Picture, second: Picture) -> npt.NDArray[np.bool_]:
    """The pixels in which two pictures differ."""
    differ: npt.NDArray[np.bool_] = (first != second).any(axis=2)
    return differ


def distance_to(marked: npt.NDArray[np.bool_]) -> Distances:
    """How far each pixel is from the nearest marked one: the greater of columns and rows."""
    y, x = np.indices(marked.shape)
    nearest = np.full(marked.shape, np.iinfo(np.int64).max)
    for row, column in np.argwhere(marked):
        nearest = np.minimum(nearest, np.maximum(abs(y - row), abs(x - column)))
    return nearest


def counts(labels: tuple[LabelMap, LabelMap], ranks: tuple[LabelMap, LabelMap], k: int) -> Any:
    """The pixels in which both twins show the same rectangle of the pair, in different ranks."""
    one = (labels[0] == k + 1) & (labels[1] == k + 2)
    other = (labels[0] == k + 2) & (labels[1] == k + 1)
    return (one | other) & (ranks[0] != ranks[1])


def distance_map(
    config: TwinsConfig,
    rectangles: Rectangles,
    color: Any,
    k: int,
    palette: Picture | None = None,
) -> Distances:
    """The information distance where a pixel counts, 0 elsewhere.

    Parameters
    ----------
    rectangles, color
        Of the whole picture, or of one of its bands.
    k
        The rectangles k and k + 1 are exchanged.
    palette
        The colours that ``color`` counts; those of the config unless stated.
    """
    height, width = config.picture_height, config.width
    scenes = rectangles, exchanged(rectangles, k)
    colors = np.asarray(color), exchanged(np.asarray(color), k)
    labels = [rde.paint(scene, height, width) for scene in scenes]
    if palette is None:
        palette = rde.fixed_palette(config.palette, config.palette_size)
    pictures = [
        rde.render(label, given.tolist(), palette, config.blur)
        for label, given in zip(labels, colors, strict=True)
    ]
    ranks = [rde.rank_map(labels[i], _ranks(scenes[i], height, width)) for i in range(2)]
    differ = differences(*pictures)
    if not differ.any():
        return np.zeros((height, width), np.int64)
    counted = counts((labels[0], labels[1]), (ranks[0], ranks[1]), k)
    return np.where(counted, distance_to(differ), 0)


def _ranks(rectangles: Rectangles, height: int, width: int) -> tuple[int, ...]:
    found = rde.ranks(rde.relation_of_scene(rectangles, height, width))
    assert found is not None  # the relation of a scene has no cycle
    return found


# ------------------------------------------------------------------------------------------- pairs


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two twins, as they are drawn."""

    rectangles: Rectangles
    """Of the first of the two."""
    color: npt.NDArray[np.uint8]
    """Of the first of the two."""
    k: int
    """The rectangles k and k + 1 are exchanged in the other one."""
    distance: Distances
    palette: Picture
    """The colours of both."""


def rows(config: TwinsConfig, pair: Pair) -> tuple[dict[str, npt.NDArray[Any]], ...]:
    """The two rows of a file, without those that say how hard a sample is."""
    height, width = config.picture_height, config.width
    most, n = config.most_rectangles, len(pair.rectangles)
    found = []
    for twin in range(2):
        scene, color, named = pair.rectangles, pair.color, (pair.k, pair.k + 1)
        if twin == 1:
            scene, color, named = exchanged(scene, pair.k), exchanged(color, pair.k), named[::-1]
        label, ranks = rde.paint(scene, height, width), _ranks(scene, height, width)
        by_t_junction = rde.above_by_t_junction(scene, height, width)
        row: dict[str, Any] = {
            "above": np.zeros((most, most), np.uint8),
            "color": np.zeros(most, np.uint8),
            "distance": pair.distance.astype(np.uint16),
            "image": rde.render(label, color.tolist(), pair.palette, config.blur),
            "label": label.astype(np.uint8),
            "n_rectangles": np.uint8(n),
            "pair": np.array(named, np.uint8),
            "rank": rde.rank_map(label, ranks).astype(np.uint8),
            "rectangle_rank": np.zeros(most, np.uint8),
            "rectangles": np.full((most, 4), -1, np.int16),
        }
        row["above"][:n, :n] = by_t_junction + 2 * rde.above_by_convexity(label, n)
        row["color"][:n], row["rectangle_rank"][:n] = color, ranks
        row["rectangles"][:n] = scene
        if config.random_palette:
            row["palette"] = pair.palette
        found.append(row)
    return tuple(found)


def draw_pair(config: TwinsConfig, stream: npt.NDArray[np.uint64]) -> Pair:
    """Draw a pair of twins: the colours, the band to be exchanged, then band after band."""
    color = np.arange(config.palette_size, dtype=np.uint8)
    if config.random_palette:
        apart = drawn_apart(config.mode, config.blur)
        palette = rde.draw_palette(stream, apart, config.palette_size)
    else:
        palette = rde.fixed_palette(config.palette, config.palette_size)
        shuffle(stream, color)
    chosen = draw_below(stream, config.bands)
    scene = np.zeros((0, 4), np.int64)
    result: dict[str, Any] = {}
    for band in range(config.bands):
        first = len(scene)
        drawn, k, distance = _draw_band(config, stream, band, color[first:], palette)
        scene = np.concatenate([scene, drawn])
        if band == chosen:
            result = {"k": first + k, "distance": distance}
        if draw_below(stream, 2) == 1:  # which of the two orders comes first
            scene, color = exchanged(scene, first + k), exchanged(color, first + k)
    return Pair(rectangles=scene, color=color[: len(scene)], palette=palette, **result)


def _draw_band(
    config: TwinsConfig, stream: npt.NDArray[np.uint64], band: int, color: Any, palette: Picture
) -> tuple[Rectangles, int, Distances]:
    """Draw scenes of a band until one has a pair that can be exchanged, with a far pixel."""
    asked = rde.draw_number(config.band, stream)
    while True:
        scene = _place(config, stream, asked)
        pairs = [k for k in range(len(scene) - 1) if can_be_exchanged(config, scene, k)]
        if not pairs:
            continue
        k = pairs[draw_below(stream, len(pairs))]
        if not all(
            meets_demands(config, one, config.height, config.width)
            for one in (scene, exchanged(scene, k))
        ):
            continue
        top = config.band_top(band)
        moved = scene + np.array([0, top, 0, top])
        distance = distance_map(config, moved, color[: len(scene)], k, palette)
        if distance.max() >= config.min_distance:
            return moved, k, distance


def _place(config: TwinsConfig, stream: npt.NDArray[np.uint64], asked: int) -> Rectangles:
    """Place so many in a band by the rules; of two, the second may make a pair."""
    scene = np.zeros((0, 4), np.int64)
    trials = config.trials
    while len(scene) < asked and trials > 0:
        a, b, c, d = draw_two_pairs(stream, config.width + 1, config.height + 1)
        candidate = [min(a, b), min(c, d), max(a, b), max(c, d)]
        with_it = np.concatenate([scene, [candidate]]).astype(np.int64)
        fits = rde.rule_size(config.band, with_it[-1])
        if fits and asked == len(with_it) == 2:
            fits = may_make_a_pair(config, with_it)
        if fits and rde.accepts(config.band, with_it):
            scene = with_it
        else:
            trials -= 1
    return scene


def may_make_a_pair(config: TwinsConfig, rectangles: Rectangles) -> bool:
    """Whether two rectangles share pixels, and have one far enough from those that they share.

    How far is only asked for where the pictures of twins surely differ in every shared pixel:
    where the middle weight of the blur, on both axes, times the least difference of two colours
    makes a grey level.
    """
    shared = rde.paint(rectangles[:1], config.height, config.width) > 0
    either = shared | (rde.paint(rectangles[1:], config.height, config.width) > 0)
    shared &= rde.paint(rectangles[1:], config.height, config.width) > 0
    if not shared.any():
        return False
    if config.random_palette:
        least = drawn_apart(config.mode, config.blur)
    else:
        palette = rde.fixed_palette(config.palette, config.palette_size).astype(np.int64)
        least = min(abs(a - b).max() for i, a in enumerate(palette) for b in palette[:i])
    middle = rde.blur_weights(config.blur).max()
    surely = middle**2 * least >= rde.WEIGHT_SUM**2
    return not surely or bool(distance_to(shared)[either].max() >= config.min_distance)
