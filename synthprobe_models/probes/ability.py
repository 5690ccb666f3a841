"""An ability: what is measured to find out whether a structure has it, and how the answer reads."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from synthprobe_models.seeds.interval import interval_of
from synthprobe_models.seeds.rules import LEAST

YES: Final = "yes"
IN_PART: Final = "in part"
NO: Final = "no"
NOT_LEARNT: Final = "not learnt"
"""The task was not learnt even where it asks for nothing of the ability."""
TOO_FEW: Final = "too few seeds"
"""No answer can be sure."""
NOT_TRIED: Final = "not tried"
"""It does not fit, its training failed, or the samples ask for nothing."""
ANSWERS: Final = (YES, IN_PART, NO, NOT_LEARNT, TOO_FEW, NOT_TRIED)

DISAGREE: Final = 0.5
"""If shares differ by more than this from seed to seed, the answer says that seeds disagree."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was measured on one probe, in the measure of its ability."""

    train: Sequence[float]
    """On training samples, for each seed."""
    test: Sequence[float]
    """On test samples, for each seed."""
    guess: float
    """What is reached without the ability, by a rule that was not trained."""
    more: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By the name of another metric that the answer rests on: that on test samples, for each
    seed."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "train": list(self.train),
            "test": list(self.test),
            "guess": self.guess,
            "more": {name: list(values) for name, values in self.more.items()},
        }


@dataclass(frozen=True)
class Outcome:
    """An answer, and what it rests on."""

    answer: str
    """One of `ANSWERS`."""
    because: str
    """In a few words."""


def too_few(seeds: int) -> Outcome | None:
    """The answer of every ability if there are too few seeds; ``None`` if there are enough.

    Parameters
    ----------
    seeds
        How many there are.
    """
    if seeds >= LEAST:
        return None
    return Outcome(TOO_FEW, f"{LEAST} are needed to be sure of anything, there are {seeds}")


def agreement(values: Sequence[float]) -> str:
    """How far the seeds agree, for the reason of an answer that is neither yes nor no.

    Parameters
    ----------
    values
        Shares, one for each seed.
    """
    low, high = min(values), max(values)
    said = f"{low:.0%} to {high:.0%}"
    return f"seeds disagree: {said}" if high - low > DISAGREE else f"seeds {said}"


def with_half(values: Sequence[float]) -> str:
    """The mean of shares over seeds, and half of its 95% t-interval, as short as can be.

    Parameters
    ----------
    values
        Shares, one for each seed.
    """
    mean = f"{statistics.fmean(values):.0%}"
    if len(values) < 2:
        return mean
    low, high = interval_of(values)
    return f"{mean} ± {50 * (high - low):.0f}"


@dataclass(frozen=True, kw_only=True)
class Ability:
    """One ability, and how it is found out.

    The thresholds of its rule are ours and are printed beside every answer, so that a reader can
    disagree.
    """

    name: str
    measure: str
    """The metric of a result that the answer rests on."""
    more: tuple[str, ...] = ()
    """Other metrics of a result that it rests on."""
    seeds: int = LEAST
    """Runs that an answer needs, at least."""
    title: str
    """That metric, as people write it."""
    higher_is_better: bool = True
    percent: bool = True
    """Whether it is a share, which people read in percent."""
    guess: str
    """What the guess of `Evidence` is."""
    decide: Callable[[Evidence], Outcome] = field(repr=False)
    rule: str
    """The rule in words, with its thresholds."""
    measured: str = "{heading} {test}; guess {guess}"
    """The figures that an answer rests on, in a line; ``{train}`` and the names of ``more`` may be
    there, too."""
    bars: Callable[[Evidence], Mapping[str, Sequence[float]]] = field(
        default=lambda found: {"test samples": found.test}, repr=False
    )
    """The bars of the figure, by their labels."""
    brief: Callable[[Evidence], str] = field(
        default=lambda found: with_half(found.test), repr=False
    )
    """The means that an answer rests on, as short as can be."""
    brief_heading: str
    """What those are, above their column."""
    draw: Callable[[Any, Sequence[Mapping[str, Any]]], None] | None = field(
        default=None, repr=False
    )
    """``draw(axis, results)``: what a figure shows of the results of the runs, instead of bars."""
    details: Callable[[Sequence[Mapping[str, Any]]], Sequence[Sequence[str]]] | None = field(
        default=None, repr=False
    )
    """``details(results)``: a table for the page of a structure, its head first."""
    brief_details: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], str]] = field(
        default_factory=dict, repr=False
    )
    """By the head of a further column of the matrix: what that says of the results of the runs."""

    @property
    def heading(self) -> str:
        """The metric, with an arrow to where it is better."""
        return f"{self.title} {'↑' if self.higher_is_better else '↓'}"

    @property
    def axis(self) -> str:
        """The metric beside an axis."""
        better = "higher" if self.higher_is_better else "lower"
        return f"{self.heading}{', %' * self.percent}, {better} is better"

    def describe(self, found: Evidence) -> str:
        """The figures that an answer rests on, in a line."""
        guess = format(found.guess, ".0%" if self.percent else ".4f")
        shown = {"train": found.train, "test": found.test, **found.more}
        spans = {name: self._span(values) for name, values in shown.items()}
        return self.measured.format(heading=self.heading, guess=guess, **spans)

    def _span(self, values: Sequence[float]) -> str:
        """The mean, and of several seeds its 95% interval, the lowest and the highest."""
        style = ".1%" if self.percent else ".4f"
        mean = format(statistics.fmean(values), style)
        if len(values) == 1:
            return mean
        low, high = interval_of(values)
        if self.percent:  # no share is less than nothing or more than all
            low, high = max(low, 0.0), min(high, 1.0)
        ends = [format(value, style) for value in (low, high, min(values), max(values))]
        return "{} (95% interval {} to {}, seeds {} to {})".format(mean, *ends)
