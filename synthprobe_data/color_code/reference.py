"""Color Code, slowly and plainly, with whole numbers of Python and NumPy's own Philox.

This module says what is right; whatever is fast must equal it. A colour is a tuple of red, green
and blue, a code a tuple of bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from synthprobe_data.color_code.config import ColorCodeConfig
from synthprobe_data.random import domain

Color: TypeAlias = tuple[int, int, int]
Code: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """A sample in the paper's terms."""

    colors: tuple[Color, ...]
    """c, the colours to choose from."""
    codes: tuple[Code, ...]
    """z, the code of each of them."""
    sigma: tuple[int, ...]
    """Which of them each position has, from 0."""
    mask: tuple[int, ...]
    """m: 1 where the code is revealed."""


# ----------------------------------------------------------------------------------------- drawing


def words(seed: int, split: str, index: int) -> Iterator[int]:
    """The 64-bit words of the random stream of a sample."""
    counter = ((index << 128) - 1) % 2**256  # NumPy counts up before each block
    key = seed | domain("color-code", split) << 64
    generator = np.random.Philox(key=key, counter=counter)
    while True:
        yield int(generator.random_raw())


def below(stream: Iterator[int], n: int) -> int:
    """A number from 0 to n - 1, each with the same probability."""
    while True:
        number, rest = divmod(next(stream) % 2**32 * n, 2**32)
        if rest >= 2**32 % n:
            return number


def draw_sample(config: ColorCodeConfig, stream: Iterator[int]) -> Sample:
    """Draw a sample: colours, codes, sigma and mask, in this order."""
    well_posed = config.mode == "well-posed"
    colors: list[Color] = []
    while len(colors) < config.colors:
        number = below(stream, 256**3)
        color = number // 256**2, number // 256 % 256, number % 256
        if not well_posed or all(distance(color, c) >= config.min_distance for c in colors):
            colors.append(color)
    numbers = [below(stream, 2**config.bits) for _ in colors]
    codes = [tuple(number // 2**bit % 2 for bit in range(config.bits)) for number in numbers]
    sigma = [below(stream, config.colors) for _ in range(config.positions)]
    mask = [_draw_mask(config, stream) for _ in sigma]
    if well_posed:
        for color_of_all in sorted(set(sigma)):
            places = [i for i, c in enumerate(sigma) if c == color_of_all]
            while not any(mask[i] for i in places):
                for i in places:
                    mask[i] = _draw_mask(config, stream)
    return Sample(tuple(colors), tuple(codes), tuple(sigma), tuple(mask))


def _draw_mask(config: ColorCodeConfig, stream: Iterator[int]) -> int:
    share = config.masked_share
    return int(below(stream, share.denominator) >= share.numerator)


def distance(a: Color, b: Color) -> int:
    """The greatest difference of two colours in red, green or blue."""
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def row(config: ColorCodeConfig, sample: Sample) -> dict[str, np.ndarray[Any, Any]]:
    """The sample as a row of a file."""
    n = config.positions
    return {
        "code": np.array([sample.codes[c] for c in sample.sigma], np.uint8).reshape(n, -1),
        "color": np.array([sample.colors[c] for c in sample.sigma], np.uint8),
        "group": np.array(sample.sigma, np.uint8),
        "revealed": np.array(sample.mask, np.uint8),
    }


# ----------------------------------------------------------------------------------------- solving


def solve(
    color: np.ndarray[Any, Any], code: np.ndarray[Any, Any], revealed: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """The code of every position, from what the input shows: the reference solver.

    A masked position gets the code of a revealed position of the same colour. Where there is none,
    it gets zeros, a guess as good as any other. Of ``code`` only revealed positions are looked at.
    """
    known: dict[Color, Any] = {}
    for i in np.flatnonzero(revealed):
        known[tuple(color[i].tolist())] = code[i]
    nothing = np.zeros(code.shape[1], code.dtype)
    return np.array([known.get(tuple(c.tolist()), nothing) for c in color], code.dtype)


# ------------------------------------------------------------------------------------------- rules


def broken_rules(config: ColorCodeConfig, sample: dict[str, Any]) -> set[str]:
    """The rules that a row of a file breaks, by name.

    The colour of a group is that of its first position, the others must have the same.
    """
    positions = [
        (int(g), tuple(c.tolist()), tuple(z.tolist()), int(m))
        for g, c, z, m in zip(
            sample["group"], sample["color"], sample["code"], sample["revealed"], strict=True
        )
    ]
    broken = set()
    if any(g >= config.colors for g, _, _, _ in positions):
        broken.add("group")
    if any(set(z) - {0, 1} for _, _, z, _ in positions):
        broken.add("code")
    if any(m not in (0, 1) for _, _, _, m in positions):
        broken.add("revealed")
    groups = {g: next(p for p in positions if p[0] == g) for g, _, _, _ in positions}
    if any(c != groups[g][1] for g, c, _, _ in positions):
        broken.add("color")
    if any(z != groups[g][2] for g, _, z, _ in positions):
        broken.add("code")
    if config.mode == "well-posed":
        colors = [c for _, c, _, _ in groups.values()]
        if any(distance(a, b) < config.min_distance for a, b in combinations(colors, 2)):
            broken.add("distance")
        if set(groups) != {g for g, _, _, m in positions if m}:
            broken.add("decided")
    return broken
