"""The picture of a card: samples side by side."""

from __future__ import annotations

import io
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from synthprobe_data.cards.registry import find_about
from synthprobe_data.shards.opened import OpenDataset

SAMPLES: Final = 8
_GAP: Final = 8
_LEAST: Final = 96
_MOST: Final = 256
"""Panels of other sizes than these, in pixels, are scaled."""


def picture_split(splits: dict[str, int]) -> str:
    """The split that is shown: the test split, or the first one there is."""
    return "test" if splits.get("test") else next(name for name, size in splits.items() if size)


def draw_picture(data: OpenDataset) -> bytes:
    """The first samples of a split, as PNG."""
    about = find_about(data.dataset.name)
    split = data[picture_split(data.splits)]
    block = split.read(range(min(SAMPLES, len(split))), about.picture_columns)
    rows = [np.stack([_scaled(panel) for panel in panels]) for panels in about.panels(block)]
    sheet = _tiled(rows)
    png = io.BytesIO()
    Image.fromarray(sheet).save(png, "PNG", optimize=True)
    return png.getvalue()


def _tiled(rows: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Put rows of panels below one another, with white gaps."""
    count = len(rows[0])
    width = max(row.shape[2] for row in rows)
    height = sum(row.shape[1] + _GAP for row in rows) + _GAP
    sheet = np.full((height, count * (width + _GAP) + _GAP, 3), 255, np.uint8)
    top = _GAP
    for row in rows:
        for i, panel in enumerate(row):
            left = _GAP + i * (width + _GAP)
            sheet[top : top + row.shape[1], left : left + row.shape[2]] = panel
        top += row.shape[1] + _GAP
    return sheet


def _scaled(panel: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Small panels enlarged by a whole number, pixel by pixel; large ones reduced."""
    height, width = panel.shape[:2]
    if max(height, width) > _MOST:
        image = Image.fromarray(panel)
        image.thumbnail((_MOST, _MOST), Image.Resampling.BOX)
        return np.asarray(image)
    times = -(-_LEAST // max(height, width))
    return panel.repeat(times, axis=0).repeat(times, axis=1)
