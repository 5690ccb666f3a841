"""A sample as strips, one cell for each position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from synthprobe_data.color_code.config import ColorCodeConfig

WIDTH: Final = 1024
"""Strips are about so many pixels wide."""
MOST_POSITIONS: Final = 128
"""Only so many positions are drawn, the first ones."""
LEGEND: Final = (
    "the colour of each position; its code, bit by bit (white is 1, black is 0), where the input "
    "shows it and grey where it is masked; the code to find"
)
_LABELS: Final = ("colour", "shown", "to find")
_LABEL_WIDTH: Final = 64
_COLOR_HEIGHT: Final = 24
_BIT_HEIGHT: Final = 10
_GAP: Final = 4
_TEXT: Final = 14
_GREY: Final = 150
_LINE: Final = 200


def strips(sample: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Draw a sample: its colours, the codes that are shown, and the codes to find; RGB."""
    color, code = sample["color"][:MOST_POSITIONS], sample["code"][:MOST_POSITIONS]
    revealed = sample["revealed"][:MOST_POSITIONS]
    cell = max(4, min(32, WIDTH // len(color)))
    bits = np.where(code.T > 0, 255, 0).astype(np.uint8)
    shown = np.where(revealed[None] > 0, bits, np.uint8(_GREY))
    rows = [
        _cells(color[None], cell, _COLOR_HEIGHT),
        _cells(np.repeat(shown[..., None], 3, axis=-1), cell, _BIT_HEIGHT),
        _cells(np.repeat(bits[..., None], 3, axis=-1), cell, _BIT_HEIGHT),
    ]
    height = sum(len(row) for row in rows) + _GAP * (len(rows) - 1)
    sheet = Image.new("RGB", (_LABEL_WIDTH + rows[0].shape[1], height), (255, 255, 255))
    draw, font, top = ImageDraw.Draw(sheet), ImageFont.load_default(_TEXT), 0
    for label, row in zip(_LABELS, rows, strict=True):
        draw.text((0, top + len(row) // 2), label, (0, 0, 0), font, anchor="lm")
        sheet.paste(Image.fromarray(row), (_LABEL_WIDTH, top))
        top += len(row) + _GAP
    return np.array(sheet)


def panels(sample: dict[str, NDArray[Any]], _config: ColorCodeConfig) -> list[Image.Image]:
    """One sample, as strips."""
    return [Image.fromarray(strips(sample))]


def _cells(values: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Each value as a cell of this size, with thin lines around them."""
    cells = values.repeat(height, axis=0).repeat(width, axis=1)
    cells[::height] = _LINE
    cells[:, ::width] = _LINE
    return np.pad(cells, ((0, 1), (0, 1), (0, 0)), constant_values=_LINE)
