"""The error distribution function of a design space, and whether one is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS: Final = 20_000
SURE: Final = 0.05
"""Below this p-value, the difference of two spaces counts as shown."""


def distribution(errors: Sequence[float], at: Sequence[float]) -> NDArray[np.float64]:
    """F(e), the share of networks with an error below e.

    Parameters
    ----------
    errors
        Of the networks.
    at
        The e.
    """
    return np.searchsorted(np.sort(errors), np.asarray(at), side="left") / len(errors)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two spaces by the mean errors of their networks: by the area above F, up to an error of 1."""

    better: str
    worse: str
    difference: float
    """How much lower the mean error of the better one is."""
    p: float
    """How often labels dealt out at random have such a difference, in either direction."""

    @property
    def sentence(self) -> str:
        """Which one is better, or that it cannot be told."""
        if self.p >= SURE:
            return (
                f"{self.better} and {self.worse} cannot be told apart: their mean errors differ "
                f"by {100 * self.difference:.2f} percentage points (p = {self.p:.2g})."
            )
        return (
            f"{self.better} is better than {self.worse}: its mean error is lower by "
            f"{100 * self.difference:.2f} percentage points (p = {self.p:.2g})."
        )


def compare(names: tuple[str, str], errors: tuple[Sequence[float], Sequence[float]]) -> Comparison:
    """Compare two spaces by a permutation test of the difference of their mean errors.

    Parameters
    ----------
    names
        Of the spaces.
    errors
        Of their networks.
    """
    first, second = (np.asarray(one, dtype=np.float64) for one in errors)
    difference = float(first.mean() - second.mean())
    both = np.concatenate([first, second])
    generator = np.random.default_rng(0)
    drawn = np.empty(PERMUTATIONS)
    for k in range(PERMUTATIONS):
        mixed = generator.permutation(both)
        drawn[k] = mixed[: len(first)].mean() - mixed[len(first) :].mean()
    # What is equal but for rounding counts as such a difference.
    extreme = int((np.abs(drawn) >= abs(difference) - 1e-12).sum())
    better, worse = names if difference < 0 else names[::-1]
    return Comparison(
        better=better,
        worse=worse,
        difference=abs(difference),
        p=(extreme + 1) / (PERMUTATIONS + 1),
    )
