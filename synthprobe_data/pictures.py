"""Pictures of samples: side by side, and as PNG."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_GAP: Final = 8
_LEAST: Final = 96
_MOST: Final = 256
"""Panels of other sizes than these, in pixels, are scaled."""


def tiled(rows: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Put rows of panels below one another, with white gaps.

    A row has one picture for each sample, in grey (n, height, width) or RGB (n, height, width, 3).
    """
    rows = [np.stack([_scaled(_coloured(panel)) for panel in panels]) for panels in rows]
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


def _coloured(panel: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return panel if panel.ndim == 3 else np.repeat(panel[..., None], 3, axis=-1)


def png(picture: NDArray[Any]) -> bytes:
    """A picture as the bytes of a PNG file: (height, width) grey, (height, width, 3) coloured.

    Grey ones may be uint16; then the PNG has 16 bits for each pixel, too.
    """
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG")
    return stream.getvalue()


def base64_png(picture: NDArray[np.uint8]) -> str:
    """The same in the letters of Base64, for a page."""
    return base64.b64encode(png(picture)).decode()


def side_by_side(panels: Sequence[Image.Image], gap: int = _GAP) -> Image.Image:
    """Panels of one sample in one picture, with white gaps."""
    width = sum(panel.width for panel in panels) + gap * (len(panels) - 1)
    strip = Image.new("RGB", (width, max(panel.height for panel in panels)), (255, 255, 255))
    left = 0
    for panel in panels:
        strip.paste(panel, (left, 0))
        left += panel.width + gap
    return strip
