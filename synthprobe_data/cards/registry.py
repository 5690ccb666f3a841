"""The cards of all datasets, by the name of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from synthprobe_data.cards.about import About
from synthprobe_data.cards.centered_square import CENTERED_SQUARE_ABOUT
from synthprobe_data.cards.color_code import COLOR_CODE_ABOUT
from synthprobe_data.cards.rde import RDE_ABOUT
from synthprobe_data.errors import SynthprobeError

ABOUT: Final[Mapping[str, About]] = {
    "rde": RDE_ABOUT,
    "centered-square": CENTERED_SQUARE_ABOUT,
    "color-code": COLOR_CODE_ABOUT,
}


def find_about(name: str) -> About:
    """What to say about the dataset with this name; `SynthprobeError` if nothing is."""
    if name not in ABOUT:
        raise SynthprobeError(f"there is no card for the dataset {name!r} yet.")
    return ABOUT[name]
