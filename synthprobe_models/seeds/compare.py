"""Rows compared with one of them over their seeds: an exact permutation test, corrected by Holm.

If two rows do not differ, every way to deal their runs out to them is as likely as the one that was
seen. The p-value is the share of ways that set their means as far apart. With few seeds there are
few ways, and no p-value can be small: then the answer is that there are too few seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

SURE: Final = 0.05
"""Of all tables of rows without a difference, at most so many say of any row that it differs."""
MOST_WAYS: Final = 200_000
"""Up to so many ways all are tried; of more, this many are drawn, always the same ones."""
BETTER: Final = "better"
WORSE: Final = "worse"
NOT_SHOWN: Final = "no difference shown"
TOO_FEW: Final = "too few seeds"

RATES: Final = (
    f"compared over seeds by a permutation test of the difference of the means, two-sided and with "
    f"all ways to deal the runs out, corrected over the rows by Holm: of tables whose rows do not "
    f"differ, at most {SURE:.0%} call any of them better or worse. A difference of two standard "
    f"deviations is found in about half of the cases, with six seeds of eight rows. "
    f"*{NOT_SHOWN}* does not mean that there is none; "
    f"*{TOO_FEW}*: with so few no p-value can be small enough"
)
"""For people, below every table with comparisons."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A row beside the one that all are compared with."""

    answer: str
    """`BETTER`, `WORSE`, `NOT_SHOWN` or `TOO_FEW`."""
    p: float
    """Of the permutation test of this row alone."""
    corrected: float
    """The same, corrected over the rows."""
    needed: int
    """So many seeds of each row could show a difference."""


def compare_rows(
    rows: Mapping[str, Sequence[float]], reference: str, *, lower_is_better: bool
) -> dict[str, Comparison]:
    """Every other row compared with one of them, by name.

    Parameters
    ----------
    rows
        By name: a value for each seed.
    reference
        The row that the others are compared with; without it nothing is compared.
    lower_is_better
        Whether small values are good ones.
    """
    others = [name for name in rows if name != reference]
    if reference not in rows or not others:
        return {}
    base = rows[reference]
    ps = [permutation_p(rows[name], base) for name in others]
    found = {}
    for name, p, corrected in zip(others, ps, holm(ps), strict=True):
        if corrected <= SURE:
            lower = sum(rows[name]) / len(rows[name]) < sum(base) / len(base)
            answer = BETTER if lower == lower_is_better else WORSE
        elif least_p(len(rows[name]), len(base)) * len(others) > SURE:
            answer = TOO_FEW
        else:
            answer = NOT_SHOWN
        needed = seeds_needed(len(others))
        found[name] = Comparison(answer=answer, p=p, corrected=corrected, needed=needed)
    return found


def permutation_p(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided p-value of a difference of means, by a permutation test.

    Parameters
    ----------
    first, second
        One value for each seed. The seeds are not paired.
    """
    if len(first) < 2 or len(second) < 2:
        return 1.0
    import numpy as np
    from scipy import stats

    def difference(one: Any, other: Any, axis: int = -1) -> Any:
        return np.mean(one, axis=axis) - np.mean(other, axis=axis)

    found = stats.permutation_test(
        (np.asarray(first, float), np.asarray(second, float)),
        difference,
        permutation_type="independent",
        vectorized=True,
        n_resamples=MOST_WAYS,
        alternative="two-sided",
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for how many they are, in the same order.

    Parameters
    ----------
    ps
        One for each row.
    """
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, largest = [0.0] * len(ps), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, ps[i] * (len(ps) - place)))
        corrected[i] = largest
    return corrected


def least_p(first: int, second: int) -> float:
    """The smallest p-value that so many seeds of two rows can have.

    Parameters
    ----------
    first, second
        How many.
    """
    if min(first, second) < 2:
        return 1.0
    return 2 / math.comb(first + second, first)


def seeds_needed(rows: int) -> int:
    """So many seeds of each row are the fewest that can show a difference.

    Parameters
    ----------
    rows
        How many rows are compared with one.
    """
    seeds = 2
    while least_p(seeds, seeds) * rows > SURE:
        seeds += 1
    return seeds
