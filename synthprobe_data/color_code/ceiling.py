"""How well the best possible solver does."""

from __future__ import annotations

from fractions import Fraction

from synthprobe_data.color_code.config import ColorCodeConfig
from synthprobe_data.errors import SynthprobeError


def ceiling(config: ColorCodeConfig, *, over: str = "positions") -> Fraction:
    """The greatest accuracy of masked codes that any solver can be expected to reach, exactly.

    A masked position counts as right when all bits of its code are, as in the paper's metric. Where
    its colour is revealed somewhere, the code can be copied from there; where it is not, no solver
    does better than to guess one of the 2^bits codes. Of the other N - 1 positions, each reveals
    the colour with probability (1 - masked) / colors, so that it is revealed nowhere with
    probability (1 - (1 - masked) / colors)^(N - 1): 0.95^127 with the paper's settings, which
    makes the ceiling 99.870%. In the mode ``"well-posed"`` it is 1.

    That two of the colours of a sample are the same by chance is left out: with the paper's
    settings it happens in one sample of 370,000.

    Parameters
    ----------
    config
        The settings.
    over
        ``"positions"``: of all masked positions of all samples, the share that is right.
        ``"samples"``: the mean, over the samples that have a masked position, of the share of each
        of them; samples with few masked positions, which reveal more, then count for more (99.877%
        with the paper's settings).

    Returns
    -------
    Fraction
        1 when nothing is masked.
    """
    if over not in ("positions", "samples"):
        raise SynthprobeError(f"over is {over!r}: it must be positions or samples.")
    masked = config.masked_share
    if config.mode == "well-posed" or masked == 0:
        return Fraction(1)
    open_, n = 1 - masked, config.positions
    nowhere = (1 - open_ / config.colors) ** (n - 1)
    if over == "samples":
        # Over all samples but those with nothing masked, by the number of masked positions.
        other = Fraction(config.colors - 1, config.colors)
        whole = (masked + open_ * other) ** n - (open_ * other) ** n
        nowhere = whole / (1 - open_**n)
    return 1 - nowhere * (1 - Fraction(1, 2**config.bits))
