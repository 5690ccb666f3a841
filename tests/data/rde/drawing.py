"""Hand-drawn scenes for the tests: boxes, pictures as text, turns and mirrors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Box = tuple[int, int, int, int]
Pairs = set[tuple[int, int]]


def boxes(*rectangles: Box) -> np.ndarray:
    return np.array(rectangles, dtype=np.int64).reshape(-1, 4)


def drawn(label: np.ndarray) -> list[str]:
    """A label map as text: a digit where a rectangle shows, counted from 1, and a dot elsewhere."""
    return ["".join(str(k) if k else "." for k in row) for row in label]


def pairs(above: np.ndarray) -> Pairs:
    """The pairs (above, below) of rectangles, counted from 0."""
    return {(int(a), int(b)) for a, b in np.argwhere(above)}


def random_boxes(rng: np.random.Generator, n: int, height: int, width: int) -> np.ndarray:
    """Boxes anywhere in the picture, none empty, as often aligned as not."""
    x = np.sort([rng.choice(width + 1, 2, replace=False) for _ in range(n)], axis=1)
    y = np.sort([rng.choice(height + 1, 2, replace=False) for _ in range(n)], axis=1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)


# The eight ways to turn and mirror a square picture of a given size.
SYMMETRIES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "as drawn": lambda r, s: r,
    "mirrored left to right": lambda r, s: mirrored(r, s),
    "upside down": lambda r, s: transposed(mirrored(transposed(r), s)),
    "half turn": lambda r, s: mirrored(transposed(mirrored(transposed(r), s)), s),
    "transposed": lambda r, s: transposed(r),
    "quarter turn right": lambda r, s: mirrored(transposed(r), s),
    "quarter turn left": lambda r, s: transposed(mirrored(r, s)),
    "mirrored at the other diagonal": lambda r, s: mirrored(transposed(mirrored(r, s)), s),
}
everywhere = pytest.mark.parametrize("turned", SYMMETRIES.values(), ids=SYMMETRIES.keys())


def mirrored(rectangles: np.ndarray, size: int) -> np.ndarray:
    x0, y0, x1, y1 = rectangles.T
    return np.stack([size - x1, y0, size - x0, y1], axis=1)


def transposed(rectangles: np.ndarray) -> np.ndarray:
    x0, y0, x1, y1 = rectangles.T
    return np.stack([y0, x0, y1, x1], axis=1)


SIZE = 64
BIG: Box = (16, 16, 48, 48)
