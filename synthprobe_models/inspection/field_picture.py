"""A receptive field as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from synthprobe_models.files import replaced
from synthprobe_models.inspection.symmetry import ReceptiveField

_SIZE: Final = 504
"""The field is about so many pixels wide."""
_SMALL: Final = 168
"""The same, for one field of many."""
_STRIP: Final = 120
"""Height of a row of positions."""
_GAP: Final = 12
_TEXT: Final = 14
_DECADES: Final = 6
"""Shades span so many powers of ten below the largest gradient."""
_BLACK: Final = (0, 0, 0)
_WHITE: Final = (255, 255, 255)
_UNSEEN: Final = (255, 255, 255)
_SHADES: Final = np.array(
    [[13, 27, 62], [38, 84, 124], [93, 154, 139], [214, 199, 112], [246, 114, 53], [180, 4, 38]],
    np.float64,
)
"""From the smallest gradient to the largest."""
_MARK: Final = (255, 255, 255)


def draw_field(field: ReceptiveField, title: str) -> Image.Image:
    """Draw how much one position hears of each: the stronger the redder, white where nothing.

    Parameters
    ----------
    field
        Of one axis of positions, or two.
    title
        A line to stand above.
    """
    values = field.sensitivity.numpy()
    rows = np.atleast_2d(values)
    across = max(1, _SIZE // rows.shape[1])
    down = across if values.ndim == 2 else _STRIP
    shades = _shade(rows, values.max()).repeat(down, 0).repeat(across, 1)
    height, width = shades.shape[:2]
    size = (max(width, _SIZE) + 2 * _GAP, height + 5 * _GAP + 3 * _TEXT)
    sheet = Image.new("RGB", size, _WHITE)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_TEXT)
    draw.text((_GAP, _GAP), title, _BLACK, font)
    top = 2 * _GAP + _TEXT
    sheet.paste(Image.fromarray(shades), (_GAP, top))
    draw.rectangle((_GAP - 1, top - 1, _GAP + width, top + height), outline=_BLACK)
    row, column = (field.at if values.ndim == 2 else (0, *field.at))[:2]
    left, above = _GAP + column * across, top + row * down
    draw.rectangle((left, above, left + across - 1, above + down - 1), outline=_MARK)
    _legend(sheet, draw, font, top + height + _GAP)
    return sheet


def draw_sheet(fields: Mapping[str, ReceptiveField], columns: int = 6) -> Image.Image:
    """Draw many fields of two axes side by side.

    Parameters
    ----------
    fields
        By their titles.
    columns
        How many beside one another.
    """
    rows = -(-len(fields) // columns)
    cell = (_SMALL + _GAP, _SMALL + _GAP + _TEXT + 4)
    sheet = Image.new("RGB", (columns * cell[0] + _GAP, rows * cell[1] + _GAP), _WHITE)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_TEXT - 1)
    for k, (title, field) in enumerate(fields.items()):
        left, top = _GAP + k % columns * cell[0], _GAP + k // columns * cell[1]
        values = field.sensitivity.numpy()
        shades = Image.fromarray(_shade(values, values.max()))
        draw.text((left, top), title, _BLACK, font)
        top += _TEXT + 4
        sheet.paste(shades.resize((_SMALL, _SMALL), Image.Resampling.NEAREST), (left, top))
        draw.rectangle((left - 1, top - 1, left + _SMALL, top + _SMALL), outline=_BLACK)
    return sheet


def write_png(picture: Image.Image, out: Path) -> None:
    """Write a PNG file, whole or not at all.

    Parameters
    ----------
    picture
        What to write.
    out
        The file to write.
    """
    with replaced(out) as part:
        picture.save(part, "PNG")


def _shade(values: NDArray[np.float64], largest: float) -> NDArray[np.uint8]:
    """Colours on a logarithmic scale."""
    seen = values > 0
    decades = np.zeros_like(values)
    np.log10(values / largest if largest else values, out=decades, where=seen)
    at = np.clip(1 + decades / _DECADES, 0, 1) * (len(_SHADES) - 1)
    below = np.minimum(at.astype(np.int64), len(_SHADES) - 2)
    part = (at - below)[..., None]
    colors = (1 - part) * _SHADES[below] + part * _SHADES[below + 1]
    return np.where(seen[..., None], colors, _UNSEEN).round().astype(np.uint8)


def _legend(sheet: Image.Image, draw: ImageDraw.ImageDraw, font: object, top: int) -> None:
    scale = np.logspace(-_DECADES, 0, _SIZE)[None].repeat(_GAP, 0)
    sheet.paste(Image.fromarray(_shade(scale, 1.0)), (_GAP, top))
    lines = (
        f"shades: mean absolute gradient, from 1e-{_DECADES} of the largest (and less) to it;",
        "white: none. The framed position is the one that hears.",
    )
    for k, line in enumerate(lines):
        place = (_GAP, top + _GAP + 4 + k * (_TEXT + 2))
        draw.text(place, line, _BLACK, font)  # type: ignore[arg-type]
