"""Sentences that the card for people and the card for machines share."""

from __future__ import annotations

from typing import Final

from synthprobe_data.cards.facts import CardFacts

HOME: Final = "https://github.com/synthprobe/synthprobe"
"""Where the program and the rules of its datasets are; data has no page of its own yet."""

NOTHING_OF_OTHERS: Final = (
    "It is synthetic throughout: it holds no personal data and no material of others."
)

MAINTENANCE: Final = (
    "The data does not change: the version of the dataset is raised whenever a sample does, "
    "and the content digest tells one set of samples from any other. A sample depends only on "
    "dataset, version, config, seed, split and index, so any part can be made again, on any "
    "machine. It is maintained by the synthprobe developers; if you find a sample that breaks "
    "a rule, report its split and index with the content digest."
)


def files_state(facts: CardFacts) -> str:
    """The beginning of a sentence about what nobody has compared."""
    return "the file states" if len(facts.files) == 1 else "the files state"
