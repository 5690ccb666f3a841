"""Where a trained answer seems to contradict the check without training, and how both can hold."""

from __future__ import annotations

from typing import Any, Final

from synthprobe_models.experiments.profile.facts import Profile
from synthprobe_models.probes.ability import IN_PART, NO, YES

_PAINTS: Final = "centered-square"
_LINKS: Final = "twins"
_BY_HEART: Final = 0.5
"""From this training IOU on, it did learn to paint where it was trained."""


def contradictions(profile: Profile) -> list[str]:
    """A sentence for each answer that the check without training seems to deny.

    Parameters
    ----------
    profile
        Of one structure.
    """
    if profile.inspection is None:
        return []
    sight = profile.inspection["sights"][0]
    found = [_painting(profile, sight), _linking(profile, sight)]
    return [sentence for sentence in found if sentence is not None]


def _painting(profile: Profile, sight: dict[str, Any]) -> str | None:
    cell = profile.cells.get(_PAINTS)
    if cell is None or cell.evidence is None:
        return None
    covariant = sight["translation_covariant"] or sight["covariant_but_for_a_pattern"]
    answer, train = cell.outcome.answer, cell.evidence.train
    if covariant and answer == NO and sum(train) / len(train) < _BY_HEART:
        return (
            "It is translation covariant, and does not paint: wherever the white pixel is, it does "
            "the same, but what it does cannot be, or was not, made into a square."
        )
    if covariant and answer in (NO, IN_PART) and sum(train) / len(train) >= _BY_HEART:
        return (
            "It is translation covariant without training, and painted worse where it was not "
            "trained. Both hold: a pixel near the middle never lies at the largest offsets from "
            "other pixels, so weights for these offsets, and what the edge does, are hardly "
            "trained and disturb the picture elsewhere. It says how much training finds, not what "
            "the structure could do."
        )
    if not covariant and answer == YES:
        return (
            "It is not translation covariant without training, and paints everywhere: training "
            "has made use of what it has in common at all positions."
        )
    return None


def _linking(profile: Profile, sight: dict[str, Any]) -> str | None:
    cell = profile.cells.get(_LINKS)
    if cell is None or cell.evidence is None:
        return None
    answer = cell.outcome.answer
    if sight["sees_all"] and answer == NO:
        return (
            "One layer sees all positions without training, and knows nothing of a distant cue "
            "after it: that the way is there does not say that training finds it."
        )
    if not sight["can_see_all"] and answer == YES:
        return (
            "One layer does not see all positions, and knows the order far from the cue: it sees "
            "as far as these strips ask for."
        )
    return None
