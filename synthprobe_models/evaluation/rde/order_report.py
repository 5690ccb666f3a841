"""What a network makes of the cues of RDE, as text and as JSON."""

from __future__ import annotations

from typing import Any

from synthprobe_models.evaluation.evaluate import Evaluation
from synthprobe_models.evaluation.rde.missed import Explained


def explained_lines(explained: Explained) -> list[str]:
    """A sample and the cues that were missed in it."""
    head = (
        f"{explained.index}: {len(explained.missed)} of {explained.pairs} pairs in the wrong order "
        f"({explained.figure})"
    )
    return [head, *(f"  {pair.sentence}" for pair in explained.missed)]


def order_facts(scores: Evaluation) -> dict[str, Any]:
    """The same as plain JSON values, as far as it was found out."""
    facts: dict[str, Any] = {}
    if scores.order is not None:
        facts["order"] = scores.order.to_dict()
    if scores.explained:
        facts["explained"] = [
            {
                "index": explained.index,
                "figure": str(explained.figure),
                "pairs": explained.pairs,
                "missed": [
                    {"upper": pair.upper, "lower": pair.lower, "sentence": pair.sentence}
                    for pair in explained.missed
                ],
            }
            for explained in scores.explained
        ]
    return facts
