"""When the runs of several seeds say for sure that something is above or below a threshold.

Two tests must agree. The t-interval of the mean needs seeds that are about normally distributed,
which those of trainings are not: some fail altogether. The sign test needs nothing, but says less:
it counts on which side of the threshold the seeds are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from synthprobe_models.seeds.interval import interval_of

CHANCE: Final = 0.05
"""At most so often a fair coin gives as many seeds beyond the threshold as the sign test asks."""
LEAST: Final = 5
"""With fewer seeds the sign test cannot be passed: all of four are beyond it in 1 of 16 cases."""
WRONG_NORMAL: Final = 0.025
"""How often at most a sure sentence is wrong if the seeds are normally distributed."""
WRONG_ANY: Final = 1 / 32
"""The same for `LEAST` seeds of any distribution whose median is at most the threshold."""
POWER: Final = 0.86
"""How often at least `LEAST` seeds are sure if they are normally distributed and their mean is two
standard deviations beyond the threshold."""

RATES: Final = (
    f"*Surely* beyond a threshold means: the 95% t-interval of the mean over seeds lies beyond it, "
    f"and so many of the seeds do that a fair coin would give as many in at most {CHANCE:.0%} of "
    f"cases; of {LEAST} seeds, all. With {LEAST} seeds this is wrongly said in at most "
    f"{WRONG_NORMAL:.1%} of cases if the seeds are normally distributed and their mean is not "
    f"beyond it, and in at most {WRONG_ANY:.1%} if they are distributed in any way and their "
    f"median is not. If they are normally distributed and their mean is two standard deviations "
    f"beyond it, this is said in {POWER:.0%} of cases or more."
)
"""For people, below every rule that is sure of something."""


def surely_above(values: Sequence[float], threshold: float) -> bool:
    """Whether the seeds say for sure that something is above a threshold.

    Parameters
    ----------
    values
        One for each seed.
    threshold
        What they must be above.
    """
    needed = beyond_by_sign(len(values))
    if needed is None or sum(value > threshold for value in values) < needed:
        return False
    return interval_of(values)[0] > threshold


def surely_below(values: Sequence[float], threshold: float) -> bool:
    """Whether the seeds say for sure that something is below a threshold.

    Parameters
    ----------
    values
        One for each seed.
    threshold
        What they must be below.
    """
    return surely_above([-value for value in values], -threshold)


def beyond_by_sign(count: int) -> int | None:
    """So many of the seeds must be beyond a threshold; ``None`` if not even all are enough.

    Parameters
    ----------
    count
        The seeds.
    """
    tail, needed = 0, None
    for beyond in range(count, -1, -1):
        tail += math.comb(count, beyond)
        if tail > CHANCE * 2**count:
            return needed
        needed = beyond
    return needed
