"""What the page of ``browse`` shows of a sample: the picture and the square to paint."""

from __future__ import annotations

from typing import Any, Final

from synthprobe_data.centered_square.centres import central_half, fitting
from synthprobe_data.centered_square.config import CenteredSquareConfig
from synthprobe_data.dataset import BrowseEntries, Sample
from synthprobe_data.pictures import base64_png


def _entry(sample: Sample, config: CenteredSquareConfig) -> dict[str, Any]:
    center = [int(coordinate) for coordinate in sample["center"]]
    away = 0
    for coordinate, size in zip(center, (config.height, config.width), strict=True):
        trained = central_half(fitting(size, config.square))
        if trained:  # a single centre along an axis has no central half
            away = max(away, trained.start - coordinate, coordinate - (trained.stop - 1))
    picture = base64_png(sample["image"])
    return {
        "png": picture,
        "f": [*center, away],
        "panels": [picture, base64_png(sample["target"])],
    }


def _size(config: CenteredSquareConfig) -> tuple[int, int]:
    return config.height, config.width


ENTRIES: Final = BrowseEntries(
    figures={
        "row": "row of the pixel",
        "column": "column of the pixel",
        "away": "pixels from the region of training",
    },
    entry=_entry,
    size=_size,
    captions=("Picture, as stored", "The square to paint"),
    hint="the square to paint",
)
