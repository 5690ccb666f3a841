"""Where the white pixel may be, in train and in test.

In the paper's words, train has the central H/2 x W/2 of the picture. Its count of 484 is that of
the central half of the centres: 22 of 44 on each axis. Here the count decides.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square.config import CenteredSquareConfig
from synthprobe_data.errors import SynthprobeError


def fitting(size: int, square: int) -> range:
    """The centres, along one axis, at which the square is not cut off by the border."""
    return range(square // 2, size - square // 2)


def central_half(centres: range) -> range:
    """The central half of the centres along one axis.

    Of n centres these are ``n // 2``. As many are left out before as after them, or one more after
    them. A single centre has no central half.
    """
    kept = len(centres) // 2
    first = (len(centres) - kept) // 2
    return centres[first : first + kept]


def sizes(config: CenteredSquareConfig) -> dict[str, int]:
    """How many samples each split has: all that there are."""
    rows, columns = fitting(config.height, config.square), fitting(config.width, config.square)
    train = len(central_half(rows)) * len(central_half(columns))
    return {"train": train, "test": len(rows) * len(columns) - train}


@functools.lru_cache(maxsize=8)
def centres_of(config: CenteredSquareConfig, split: str) -> NDArray[np.int16]:
    """Row and column of the centre of each sample of a split, row by row: (n, 2).

    ``train`` has the centres that are in the central half on both axes, ``test`` all others.
    """
    if split not in ("train", "test"):
        raise SynthprobeError(f"centered-square has no split {split!r}: it has train and test.")
    rows, columns = fitting(config.height, config.square), fitting(config.width, config.square)
    central = np.outer(np.isin(rows, central_half(rows)), np.isin(columns, central_half(columns)))
    places = np.argwhere(central if split == "train" else ~central)
    centres = (places + np.array([rows.start, columns.start])).astype(np.int16)
    centres.flags.writeable = False  # it is shared by all who ask
    return centres
