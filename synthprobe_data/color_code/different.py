"""Why no two samples are equal: there are far more possible ones than anybody asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from synthprobe_data.color_code.config import ALL_COLORS, ColorCodeConfig
from synthprobe_data.errors import SynthprobeError

RISK: Final = Fraction(1, 2**20)
"""With so many samples that two might be equal by this chance, a run is refused."""


def chance_of_equal(config: ColorCodeConfig) -> Fraction:
    """An upper bound of the probability that two samples are equal.

    Equal samples agree in sigma, in the mask, and in the colour and the code of each of the g
    colours that occur. At most ``C(colors, g) g^N`` maps sigma have g colours. Two independent
    masks agree with probability ``(p^2 + q^2)^N``. In the mode ``"well-posed"`` a colour is one of
    at least half of all, and the mask of a colour is one of those that reveal it, which have at
    least the share q of the probability.
    """
    p, n, k = config.masked_share, config.positions, config.colors
    q = 1 - p
    same = Fraction(1, ALL_COLORS * 2**config.bits)
    if config.mode == "well-posed":
        same *= 2 / q**2
    maps = sum(math.comb(k, g) * g**n * same**g for g in range(1, min(k, n) + 1))
    return (p**2 + q**2) ** n * maps / Fraction(k) ** (2 * n)


def check_sizes(config: ColorCodeConfig, splits: Mapping[str, int]) -> None:
    """Raise `SynthprobeError` if two of so many samples might be equal."""
    samples = sum(splits.values())
    if math.comb(samples, 2) * chance_of_equal(config) > RISK:
        raise SynthprobeError(
            f"{samples} samples are too many to be all different, with positions = "
            f"{config.positions}, colors = {config.colors} and bits = {config.bits}: give fewer "
            "samples, or more of these."
        )
