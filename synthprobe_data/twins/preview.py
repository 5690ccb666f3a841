"""Some samples drawn: the panels of RDE, and how far the pixels that count are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from synthprobe_data.rde import preview as rde
from synthprobe_data.twins.config import TwinsConfig

LEGEND: Final = (
    f"{rde.LEGEND}; distance, the farthest pixel that counts in white. Samples 2 i and 2 i + 1 are "
    "twins"
)


def panels(sample: dict[str, NDArray[Any]], config: TwinsConfig) -> list[Image.Image]:
    """One sample: its picture, its ranks, its relation and its distances."""
    shown = rde.panels(sample, config)
    distance = sample["distance"].astype(np.uint32)
    grey = (distance * 255 // max(1, int(distance.max()))).astype(np.uint8)
    panel = Image.fromarray(grey).convert("RGB")
    return [*shown, panel.resize(shown[0].size, Image.Resampling.NEAREST)]
