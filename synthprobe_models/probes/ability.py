"""An ability: what is measured to find out whether a structure has it, and how the answer reads."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

YES: Final = "yes"
IN_PART: Final = "in part"
NO: Final = "no"
NOT_SEEN: Final = "not seen"
"""Neither yes nor no: nothing was seen at the size that was tried."""
NOT_LEARNT: Final = "not learnt"
"""The task was not learnt even where it asks for nothing of the ability."""
NOT_TRIED: Final = "not tried"
"""It does not fit, or its training failed."""
ANSWERS: Final = (YES, IN_PART, NO, NOT_LEARNT, NOT_SEEN, NOT_TRIED)


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
    seeds: int = 1
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
        default=lambda found: f"{statistics.fmean(found.test):.0%}", repr=False
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
        """The mean, and over several seeds the lowest and the highest."""
        style = ".1%" if self.percent else ".4f"
        mean = format(statistics.fmean(values), style)
        if len(values) == 1:
            return mean
        return f"{mean} ({format(min(values), style)} to {format(max(values), style)})"
