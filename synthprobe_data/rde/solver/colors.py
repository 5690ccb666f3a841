"""Which colours a deblurred picture has, and which of them each pixel has.

Fully saturated colours of full value lie on a circle of 1530 whole hues: from red (0) over yellow
(255), green, cyan, blue and magenta back to red. The pixels of one rectangle gather around its hue,
those of different rectangles are far apart. Where a rectangle is flat its pixels have its hue
exactly, so the commonest hue of a cluster is nearly always the right one; `steps` mends the others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import kernel

CIRCLE: Final = 6 * 255
_HALF: Final = 127.5
_PACKED: Final = np.array([1 << 16, 1 << 8, 1])


@kernel
def count_hues(picture: NDArray[np.float32], count: NDArray[np.int64]) -> None:
    """How many pixels have each hue; black ones have none (`reference.count_hues`).

    Each of the six corners of the circle has two channels by whose difference the hue departs from
    it. Taken from the nearest corner, the difference does not favour one direction when there is
    noise on both channels.
    """
    for y in range(len(picture)):
        row = picture[y]
        for x in range(0, len(row), 3):
            red, green, blue = row[x], row[x + 1], row[x + 2]
            bright = 4 * (red > _HALF) + 2 * (green > _HALF) + (blue > _HALF)
            if bright == 0:
                continue
            if bright == 4:
                hue = green - blue
            elif bright == 6:
                hue = 255 + green - red
            elif bright == 2:
                hue = 510 + blue - red
            elif bright == 3:
                hue = 765 + blue - green
            elif bright == 1:
                hue = 1020 + red - green
            else:  # magenta; white, which no picture has, counts anywhere
                hue = 1275 + red - blue
            count[int(np.floor(hue + np.float32(0.5))) % CIRCLE] += 1


def hue_colors(hues: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The colours at these hues: (n, 3)."""
    distance = abs((hues[:, None] - [0, 510, 1020] + 765) % CIRCLE - 765)  # to red, green, blue
    return np.clip(510 - distance, 0, 255).astype(np.uint8)


def cluster_hues(count: NDArray[np.int64], gap: float) -> NDArray[np.int64]:
    """The hues of a picture from the number of pixels at each hue.

    Hues with no pixel for more than ``gap`` steps between them are of different colours.
    """
    taken = np.flatnonzero(count)
    if len(taken) == 0:
        return taken
    steps = np.diff(taken, append=taken[0] + CIRCLE)
    # Begin the circle after its widest gap, so that no cluster is cut in two.
    taken = np.roll(taken, -1 - int(np.argmax(steps)))
    clusters = np.split(taken, np.flatnonzero(np.diff(taken) % CIRCLE > gap) + 1)
    return np.array([cluster[np.argmax(count[cluster])] for cluster in clusters], np.int64)


def separation(colors: NDArray[np.uint8]) -> int:
    """How far the two nearest colours are apart, in the channel in which they differ most."""
    values = colors.astype(np.int64)
    apart = abs(values[:, None] - values).max(axis=2)
    np.fill_diagonal(apart, 255)
    return int(apart.min())


def is_saturated(picture: NDArray[np.float32], error: float) -> bool:
    """Whether every pixel, (n, 3), may be black or fully saturated and of full value, to an error.

    What is not so near has another colour for certain.
    """
    most, least = picture.max(axis=1), picture.min(axis=1)
    may_be = (most <= error) | ((most >= 255 - error) & (least <= error))
    return bool(may_be.all())


def cluster_colors(
    picture: NDArray[np.float32], error: float, most: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """The colours of a picture that may have any, and the cluster of each pixel; 0 is black.

    All pixels, (n, 3), of one colour are within ``error`` of it, so within twice that of each
    other. If colours are more than four times the error apart, pixels of two colours are not; then
    what is near any one pixel is just its cluster. The colour is the commonest value in it, which
    where a rectangle is flat is its own. ``None`` if there are more than so many colours.
    """
    label = np.zeros(len(picture), np.uint8)
    left = np.flatnonzero(picture.max(axis=1) > 2 * error)
    colors: list[list[int]] = []
    while len(left):
        if len(colors) == most:
            return None
        near = np.abs(picture[left] - picture[left[0]]).max(axis=1) <= 2 * error
        members = left[near]
        values = np.clip(np.floor(picture[members] + 0.5), 0, 255).astype(np.int64)
        packed, count = np.unique(values @ _PACKED, return_counts=True)
        commonest = int(packed[count.argmax()])
        colors.append([commonest >> 16, commonest >> 8 & 255, commonest & 255])
        label[members] = len(colors)
        left = left[~near]
    return np.array(colors, np.uint8).reshape(-1, 3), label


@kernel
def find_nearest(
    picture: NDArray[np.float32],
    colors: NDArray[np.float32],
    certain: float,
    nearest: NDArray[np.uint8],
) -> None:
    """The nearest colour of every pixel, by the channel farthest off (`reference.find_nearest`).

    A colour that is less than ``certain`` away, half the separation of the colours, is the
    nearest; mostly it is that of the pixel to the left or of the one above.
    """
    height, width = nearest.shape
    for y in range(height):
        row = picture[y]
        found = 0
        for x in range(width):
            red, green, blue = row[3 * x], row[3 * x + 1], row[3 * x + 2]
            if _distance(colors[found], red, green, blue) >= certain:
                found = nearest[y - 1, x] if y > 0 else 0
                best = _distance(colors[found], red, green, blue)
                if best >= certain:
                    for k in range(len(colors)):
                        distance = _distance(colors[k], red, green, blue)
                        if distance < best:
                            best, found = distance, k
            nearest[y, x] = found


@kernel
def _distance(color: NDArray[np.float32], red: float, green: float, blue: float) -> float:
    return max(abs(color[0] - red), max(abs(color[1] - green), abs(color[2] - blue)))
