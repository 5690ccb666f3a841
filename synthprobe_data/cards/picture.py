"""The picture of a card."""

from __future__ import annotations

import io

from PIL import Image

from synthprobe_data.cards.registry import find_about
from synthprobe_data.shards.opened import OpenDataset


def picture_split(splits: dict[str, int]) -> str:
    """The split that is shown: the test split, or the first one there is."""
    return "test" if splits.get("test") else next(name for name, size in splits.items() if size)


def draw_picture(data: OpenDataset) -> bytes:
    """Some samples of a split, as PNG."""
    about = find_about(data.dataset.name)
    split = data[picture_split(data.splits)]
    count = min(about.picture_samples, len(split))
    step = len(split) / count if about.picture_spread else 1
    block = split.read([int(i * step) for i in range(count)], about.picture_columns)
    png = io.BytesIO()
    Image.fromarray(about.picture(block)).save(png, "PNG", optimize=True)
    return png.getvalue()
