"""Pictures for the solver's tests, rendered by the reference of the generator."""

from __future__ import annotations

import numpy as np

from synthprobe_data.rde import reference


def picture(label: np.ndarray, *, blur: float = 0.7) -> np.ndarray:
    """The picture of a label map, as many hues as labels."""
    n = int(label.max())
    return reference.render(label, range(n), reference.palette(n), blur)


def painted(rectangles: np.ndarray, height: int, width: int) -> np.ndarray:
    """The label map of those rectangles that show, numbered from 1 without gaps."""
    label = reference.paint(rectangles, height, width)
    shown = np.unique(label[label > 0])
    return np.searchsorted(np.array([0, *shown]), label).astype(np.uint8)
