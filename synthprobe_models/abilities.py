"""Which ability a structure has: the rules, from figures that were measured to an answer.

The thresholds are ours and are printed beside every answer, so that a reader can disagree.
"""

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
NOT_TRIED: Final = "not tried"
"""It does not fit, or its training failed."""
ANSWERS: Final = (YES, IN_PART, NO, NOT_SEEN, NOT_TRIED)

WHOLE: Final = 0.8
"""From this IOU on, the square counts as painted."""
ALIKE: Final = 0.9
"""From this share of the training IOU on, the test IOU counts as alike."""
BY_HEART: Final = 0.5
"""Below this share of the training IOU, the positions count as learnt by heart."""
PIXELS: Final = 2
"""Up to the IOU of so many white pixels, nothing but the white pixel of the input is painted."""
GROUPED: Final = 0.9
"""From this share of the way from guessing to all codes on, colours count as grouped."""
BEYOND_GUESSING: Final = 0.1
"""Below this share of the way, it counts as guessing."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was measured on one probe: shares from 0 to 1, or the RMSE on RDE."""

    train: Sequence[float]
    """On training samples, for each seed."""
    test: Sequence[float]
    """On test samples, for each seed."""
    guess: float
    """What is reached without the ability, by a rule that was not trained."""
    baseline: Sequence[float] = ()
    """On RDE: the U-Net without the structure on test samples, for each of its seeds."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            name: value if name == "guess" else list(value) for name, value in vars(self).items()
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
    """One ability, and how it is found out."""

    name: str
    probe: str
    measure: str
    """The metric of a result that the answer rests on."""
    title: str
    """That metric, as people write it."""
    higher_is_better: bool
    guess: str
    """What the guess of `Evidence` is."""
    decide: Callable[[Evidence], Outcome] = field(repr=False)
    rule: str
    """The rule in words, with its thresholds."""

    @property
    def heading(self) -> str:
        """The metric, with an arrow to where it is better."""
        return f"{self.title} {'↑' if self.higher_is_better else '↓'}"


def decide_covariance(found: Evidence) -> Outcome:
    """Centered Square: whether the square is painted as well where the pixel never was before."""
    train, test = statistics.fmean(found.train), statistics.fmean(found.test)
    if train <= PIXELS * found.guess:
        return Outcome(NO, "paints no more than the white pixel itself")
    share = test / train
    if share < BY_HEART:
        return Outcome(NO, "paints where it was trained, not elsewhere: learnt by heart")
    if share < ALIKE:
        return Outcome(IN_PART, "paints worse where it was not trained")
    if train < WHOLE:
        return Outcome(IN_PART, f"paints alike everywhere, but only {train:.0%} of it")
    return Outcome(YES, "paints as well where it was never trained")


def way_to_all(found: Evidence) -> float | None:
    """How much of the way from guessing to all codes is gone; ``None`` if there is none to go."""
    if found.guess == 1:
        return None
    return (statistics.fmean(found.test) - found.guess) / (1 - found.guess)


def decide_grouping(found: Evidence) -> Outcome:
    """Color Code: whether a masked code is looked up by its colour."""
    way = way_to_all(found)
    if way is None:
        return Outcome(NOT_SEEN, "guessing finds every code of these samples")
    if way < BEYOND_GUESSING:
        return Outcome(NO, "no better than guessing without colours")
    if way < GROUPED:
        return Outcome(IN_PART, f"{way:.0%} of the way from guessing to all codes")
    return Outcome(YES, "finds masked codes by their colours")


def decide_linking(found: Evidence) -> Outcome:
    """RDE: whether the U-Net does better with the structure than without it."""
    if min(statistics.fmean(found.test), statistics.fmean(found.baseline)) >= found.guess:
        return Outcome(NOT_SEEN, "nothing was learnt beyond guessing, with it or without it")
    gain = statistics.fmean(found.baseline) - statistics.fmean(found.test)
    spread = max(max(values) - min(values) for values in (found.test, found.baseline))
    if gain > spread and max(found.test) < min(found.baseline):
        return Outcome(YES, "better than the baseline by more than the spread of seeds")
    if -gain > spread and min(found.test) > max(found.baseline):
        return Outcome(NO, "worse than the baseline by more than the spread of seeds")
    return Outcome(NOT_SEEN, "no difference from the baseline seen at this size")


ABILITIES: Final[Mapping[str, Ability]] = {
    ability.probe: ability
    for ability in (
        Ability(
            name="paints anywhere",
            probe="centered-square",
            measure="iou",
            title="IOU",
            higher_is_better=True,
            guess="the white pixel alone",
            decide=decide_covariance,
            rule=(
                f"One layer must paint a square around a white pixel, which in the test is where "
                f"it never was in training. *no*: the training IOU is at most {PIXELS} times that "
                f"of the white pixel alone, or the test IOU is below {BY_HEART:.0%} of the "
                f"training IOU. *in part*: it is below {ALIKE:.0%} of it, or the training IOU is "
                f"below {WHOLE:.0%}. *yes*: neither. So a structure that treats positions as a "
                f"set does not pass, though it is translation covariant, as the check without "
                f"training says: it has no place to paint at."
            ),
        ),
        Ability(
            name="grouping",
            probe="color-code",
            measure="masked_code_accuracy",
            title="accuracy of masked codes",
            higher_is_better=True,
            guess="the code shown most often, whatever its colour",
            decide=decide_grouping,
            rule=(
                f"Three layers must find masked codes, which are shown elsewhere beside the same "
                f"colour; all of them can be found. What counts is the share of the way from the "
                f"guess to 100%. *no*: below {BEYOND_GUESSING:.0%}. *in part*: below "
                f"{GROUPED:.0%}. *yes*: from there on."
            ),
        ),
        Ability(
            name="linking local cues to distant inferences",
            probe="rde",
            measure="rmse",
            title="RMSE",
            higher_is_better=False,
            guess="every rectangle at the mean rank",
            decide=decide_linking,
            rule=(
                "A small U-Net is trained with the structure at each scale, and without it (the "
                "baseline, of the same width and so with fewer parameters). *yes*: the mean RMSE "
                "is lower than the baseline's by more than the spread, and every run is better "
                "than every run of the baseline. *no*: the same the other way round. *not seen*: "
                "anything else. The spread is from the lowest to the highest over seeds, of the "
                "structure or of the baseline, whichever is larger. The pictures are strips, "
                "longer than the 24 pixels or so that the baseline sees to each side. As training "
                "is short, how soon a network learns what a T-junction means counts, too: *yes* "
                "says that the structure helps here, *no* that it hinders here, and *not seen* is "
                "no proof that it cannot."
            ),
        ),
    )
}
"""By the name of the probe."""
