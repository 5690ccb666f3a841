"""A contact sheet: some samples, drawn for people."""

from __future__ import annotations

import io
from math import ceil
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from synthprobe_data.atomic.files import check_target, write_bytes
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.collection import OpenDataset, open_dataset
from synthprobe_data.text import counted, file_name, printable

MAX_SAMPLES: Final = 200
_GAP: Final = 12
_TEXT: Final = 15
_BLACK: Final = (0, 0, 0)
_WHITE: Final = (255, 255, 255)


def contact_sheet(
    path: str | Path, *, samples: int = 6, split: str | None = None, start: int = 0
) -> tuple[Image.Image, int]:
    """Draw some samples of a dataset; return the sheet, and how many are on it.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    samples
        How many samples to draw.
    split
        Which split; the first by default.
    start
        The first sample to draw, counted from the first of the split that is there.
    """
    if isinstance(samples, bool) or not 1 <= samples <= MAX_SAMPLES:
        raise SynthprobeError(
            f"samples is {samples!r}: it must be a whole number from 1 to {MAX_SAMPLES}."
        )
    with open_dataset(path) as data:
        name = next(iter(data.splits)) if split is None else split
        if not 0 <= start < len(data[name]):
            raise SynthprobeError(
                f"start is {start}: {printable(name)} has {counted(len(data[name]), 'sample')}, "
                "counted from 0."
            )
        drawn = range(start, min(start + samples, len(data[name])))
        return _sheet(data, name, drawn), len(drawn)


def sheet_name(path: str | Path, split: str | None = None, start: int = 0) -> Path:
    """A name for the sheet in the current folder: ``rde-test.png`` for the split test of rde.h5.

    If it does not start with the first sample, the name says that, too.
    """
    with open_dataset(path) as data:
        name = next(iter(data.splits)) if split is None else data[split].name
    since = f"-from-{start}" if start else ""
    return Path(f"{Path(path).resolve().stem}-{file_name(name)}{since}.png")


def write_sheet(
    path: str | Path,
    out: str | Path,
    *,
    samples: int = 6,
    split: str | None = None,
    start: int = 0,
    force: bool = False,
) -> int:
    """Write a contact sheet to a PNG file; return how many samples are on it.

    Parameters
    ----------
    path, samples, split, start
        As for `contact_sheet`.
    out
        The file to write.
    force
        Replace an existing file.
    """
    out = Path(out)
    check_target(out, force=force)
    if out.suffix.lower() != ".png":
        raise SynthprobeError(f"{out} is not the name of a PNG file: end it with .png.")
    sheet, drawn = contact_sheet(path, samples=samples, split=split, start=start)
    stream = io.BytesIO()
    sheet.save(stream, "PNG")
    write_bytes(out, stream.getvalue())
    return drawn


def _sheet(data: OpenDataset, split: str, indices: range) -> Image.Image:
    preview, chosen = data.dataset.preview, data[split]
    strips = [
        _strip(f"{printable(split)} {chosen.index_of(i)}", preview.panels(chosen[i], data.config))
        for i in indices
    ]
    across = min(preview.across, len(strips))
    down = -(-len(strips) // across)
    width, height = strips[0].size
    font = ImageFont.load_default(_TEXT)
    legend = ceil(font.getlength(preview.legend)) + 2 * _GAP
    size = (max(across * (width + 2 * _GAP), legend), down * (height + _GAP) + 3 * _GAP)
    sheet = Image.new("RGB", size, _WHITE)
    for i, strip in enumerate(strips):
        left = _GAP + i % across * (width + 2 * _GAP)
        sheet.paste(strip, (left, _GAP + i // across * (height + _GAP)))
    corner = (_GAP, size[1] - 2 * _GAP)
    ImageDraw.Draw(sheet).text(corner, preview.legend, _BLACK, font)
    return sheet


def _strip(title: str, panels: list[Image.Image]) -> Image.Image:
    """One sample: its title, and its panels side by side."""
    width = sum(panel.width for panel in panels) + _GAP * (len(panels) - 1)
    strip = Image.new("RGB", (width, max(panel.height for panel in panels) + 2 * _GAP), _WHITE)
    ImageDraw.Draw(strip).text((0, 0), title, _BLACK, ImageFont.load_default(_TEXT))
    left = 0
    for panel in panels:
        strip.paste(panel, (left, 2 * _GAP))
        left += panel.width + _GAP
    return strip
