"""A sample drawn: the picture and the square to paint."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray
from PIL import Image, ImageDraw

from synthprobe_data.centered_square.centres import central_half, fitting
from synthprobe_data.centered_square.config import CenteredSquareConfig

LEGEND: Final = "picture, the region of training framed in red; the square to paint"
_PANEL: Final = 192
"""Panels are about so many pixels wide."""
_MARK: Final = (200, 0, 0)


def panels(sample: dict[str, NDArray[Any]], config: CenteredSquareConfig) -> list[Image.Image]:
    """One sample: its picture and its target."""
    times = max(1, round(_PANEL / max(config.height, config.width)))
    image, target = (
        Image.fromarray(sample[name].repeat(times, 0).repeat(times, 1)).convert("RGB")
        for name in ("image", "target")
    )
    rows, columns = (
        central_half(fitting(size, config.square)) for size in (config.height, config.width)
    )
    if rows and columns:
        # Around the region, so that it hides no white pixel.
        near, far = (columns.start, rows.start), (columns.stop, rows.stop)
        box = [times * line - 1 for line in near] + [times * line for line in far]
        ImageDraw.Draw(image).rectangle(box, None, _MARK)
    return [image, target]
