"""The cards of all datasets, by the name of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from synthprobe_data.cards.about import About
from synthprobe_data.cards.centered_square import CENTERED_SQUARE_ABOUT
from synthprobe_data.cards.color_code import COLOR_CODE_ABOUT
from synthprobe_data.cards.rde import RDE_ABOUT
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.selection import INDEX, INDEX_MEANING

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


def column_meanings(dataset: str) -> dict[str, str]:
    """What the datasets of a file are, by their names, also those that only some files have."""
    return {**find_about(dataset).columns, INDEX.name: INDEX_MEANING}
