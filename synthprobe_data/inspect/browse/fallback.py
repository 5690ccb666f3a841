"""Samples in the page as `preview` draws them, for a dataset that declares nothing else."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from synthprobe_data.dataset import BrowseEntries, Sample
from synthprobe_data.pictures import base64_png, side_by_side
from synthprobe_data.shards.collection import OpenDataset, Split

_SMALL: Final = ("int8", "uint8", "int16", "uint16")
"""The page counts every value from the least to the greatest of a figure."""


def entries_from_preview(data: OpenDataset, split: Split) -> BrowseEntries:
    """The panels of the preview in one picture; figures are the columns with one small number.

    All pictures are taken to be as large as the first.
    """
    preview = data.dataset.preview
    figures = {
        column.name: column.meaning
        for column in data.dataset.columns
        if not column.dims and column.dtype in _SMALL and column.is_stored(data.config)
    }
    first = side_by_side(preview.panels(split[0], data.config))

    def entry(sample: Sample, config: Any) -> dict[str, Any]:
        picture = base64_png(np.asarray(side_by_side(preview.panels(sample, config))))
        return {
            "png": picture,
            "f": [int(sample[name]) for name in figures],
            "panels": [picture],
        }

    return BrowseEntries(
        figures=figures,
        entry=entry,
        size=lambda _config: (first.height, first.width),
        captions=(preview.legend,),
        hint="it larger",
    )
