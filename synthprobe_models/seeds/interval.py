"""The interval of a mean over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

CONFIDENCE = 0.95


def interval_of(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The t-interval of the mean, from the lower to the upper end.

    Parameters
    ----------
    values
        One for each seed. Of a single one nothing is known: the interval has no ends.
    confidence
        How often such an interval has the true mean, if the values are normally distributed.
    """
    if len(values) < 2:
        return -math.inf, math.inf
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / math.sqrt(len(values))
    half = _quantile((1 + confidence) / 2, len(values) - 1) * error
    return mean - half, mean + half


@cache
def _quantile(share: float, freedom: int) -> float:
    from scipy import stats

    return float(stats.t.ppf(share, freedom))
