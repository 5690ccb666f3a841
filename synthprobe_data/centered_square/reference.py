"""Centered Square, slowly and plainly: pixel by pixel.

This module says what is right; whatever is fast must equal it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square.config import CenteredSquareConfig

Picture = NDArray[np.uint8]  # (height, width)


def image(config: CenteredSquareConfig, row: int, column: int) -> Picture:
    """All black but for the pixel in this place."""
    picture = np.zeros((config.height, config.width), np.uint8)
    picture[row, column] = 255
    return picture


def target(config: CenteredSquareConfig, row: int, column: int) -> Picture:
    """All black but for the pixels that are near enough to this place on both axes."""
    picture = np.zeros((config.height, config.width), np.uint8)
    for y in range(config.height):
        for x in range(config.width):
            if 2 * abs(y - row) < config.square and 2 * abs(x - column) < config.square:
                picture[y, x] = 255
    return picture


def is_whole(config: CenteredSquareConfig, row: int, column: int) -> bool:
    """Whether the border of the picture cuts nothing off the square around this place."""
    return bool(np.sum(target(config, row, column) == 255) == config.square**2)


def centres(config: CenteredSquareConfig) -> dict[str, list[tuple[int, int]]]:
    """The row and the column of all centres, in the order of the samples of each split."""
    whole = [
        (row, column)
        for row in range(config.height)
        for column in range(config.width)
        if is_whole(config, row, column)
    ]
    rows = _central_half(sorted({row for row, _ in whole}))
    columns = _central_half(sorted({column for _, column in whole}))
    train = [(row, column) for row, column in whole if row in rows and column in columns]
    return {"train": train, "test": [centre for centre in whole if centre not in train]}


def _central_half(places: list[int]) -> list[int]:
    """Take places away at the end and at the start, in turn, until half are left, rounded down."""
    left = list(places)
    while 2 * len(left) > len(places):
        left.pop(-1 if (len(places) - len(left)) % 2 == 0 else 0)
    return left
