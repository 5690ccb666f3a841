"""Some samples drawn: the picture, the ranks, and the relation with its cues."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from synthprobe_data.rde.geometry import Point, t_junctions, visible_centres
from synthprobe_data.rde.palette import Colored, palette_of
from synthprobe_data.rde.scene import T_JUNCTION

LEGEND: Final = (
    "picture; rank; who is above whom: solid by a T-junction, dashed by convexity only, "
    "red rings are T-junctions"
)
_PANEL: Final = 320
"""Panels are about so many pixels wide."""
_TEXT: Final = 15
_SMOOTH: Final = 2
"""Drawn so many times too large, then reduced."""
_BLACK: Final = (0, 0, 0)
_WHITE: Final = (255, 255, 255)
_MARK: Final = (200, 0, 0)

Sample = dict[str, NDArray[Any]]


def panels(sample: Sample, config: Colored) -> list[Image.Image]:
    """One sample: its picture, its ranks and its relation."""
    height, width = sample["label"].shape
    times = max(1, round(_PANEL / max(height, width)))
    palette = palette_of(config, sample)
    colors = palette[np.minimum(sample["color"], len(palette) - 1)]
    return [
        Image.fromarray(sample["image"].repeat(times, 0).repeat(times, 1)),
        _rank_panel(sample, times),
        _relation_panel(sample, colors, times),
    ]


def _rank_panel(sample: Sample, times: int) -> Image.Image:
    """The ranks as grey values, each written into the rectangles that have it."""
    rank = sample["rank"].astype(np.uint32)
    highest = max(int(rank.max()), 1)
    grey = (rank * 255 // highest).astype(np.uint8)
    panel = Image.fromarray(grey.repeat(times, 0).repeat(times, 1)).convert("RGB")
    draw = ImageDraw.Draw(panel)
    font = ImageFont.load_default(_TEXT)
    for k, (x, y) in visible_centres(sample["label"]).items():
        if k < len(sample["rectangle_rank"]):
            level = int(sample["rectangle_rank"][k])
            ink = _BLACK if 2 * level > highest else _WHITE
            draw.text((x * times, y * times), str(level), ink, font, anchor="mm")
    return panel


def _relation_panel(sample: Sample, colors: NDArray[np.uint8], times: int) -> Image.Image:
    """Arrows from each rectangle to those that it is above, over the faded label map."""
    label = sample["label"]
    faded = np.full((256, 3), 255, np.uint8)
    faded[1 : len(colors) + 1] = 255 - (255 - colors.astype(np.uint16)) * 2 // 5
    scale = times * _SMOOTH
    large = faded[label].repeat(scale, 0).repeat(scale, 1)
    panel = Image.fromarray(large)
    draw = ImageDraw.Draw(panel)
    centres = {
        k: (x * scale, y * scale)
        for k, (x, y) in visible_centres(label).items()
        if k < len(sample["above"])
    }
    for upper, lower in np.argwhere(sample["above"]).tolist():
        if upper in centres and lower in centres:
            solid = bool(sample["above"][upper, lower] & T_JUNCTION)
            _arrow(draw, centres[upper], centres[lower], solid)
    n = min(int(sample["n_rectangles"]), len(sample["rectangles"]))
    for t in t_junctions(sample["rectangles"][:n], label):
        _ring(draw, (t.x * scale, t.y * scale), 5 * _SMOOTH)
    for x, y in centres.values():
        r = 3 * _SMOOTH
        draw.ellipse((x - r, y - r, x + r, y + r), _BLACK)
    draw.rectangle((0, 0, panel.width - 1, panel.height - 1), None, (160, 160, 160), _SMOOTH)
    size = (label.shape[1] * times, label.shape[0] * times)
    return panel.resize(size, Image.Resampling.LANCZOS)


def _arrow(draw: ImageDraw.ImageDraw, start: Point, stop: Point, solid: bool) -> None:
    """An arrow from one point to another, a line or dashes."""
    (x0, y0), (x1, y1) = start, stop
    length = math.hypot(x1 - x0, y1 - y0)
    if length < 1:
        return
    right, down = (x1 - x0) / length, (y1 - y0) / length
    end = length - 4 * _SMOOTH
    dash, step = (end, end) if solid else (5 * _SMOOTH, 9 * _SMOOTH)
    at = 0.0
    while at < end:
        to = min(at + dash, end)
        line = (x0 + at * right, y0 + at * down, x0 + to * right, y0 + to * down)
        draw.line(line, _BLACK, _SMOOTH)
        at += step
    back, side = end - 8 * _SMOOTH, 4 * _SMOOTH
    draw.polygon(
        [
            (x0 + end * right, y0 + end * down),
            (x0 + back * right - side * down, y0 + back * down + side * right),
            (x0 + back * right + side * down, y0 + back * down - side * right),
        ],
        _BLACK,
    )


def _ring(draw: ImageDraw.ImageDraw, centre: Point, radius: float) -> None:
    x, y = centre
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), None, _MARK, 2 * _SMOOTH)
