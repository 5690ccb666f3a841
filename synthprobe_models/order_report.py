"""What a network makes of the cues of RDE, as text and as JSON."""

from __future__ import annotations

from typing import Any, Final

from synthprobe_models.evaluate import Evaluation
from synthprobe_models.missed import Explained
from synthprobe_models.order import OrderScores, Share
from synthprobe_models.report import columns

_TITLES: Final = {
    "cue": "decided by",
    "distance": "pixels that the cue must reach",
    "pieces": "visible pieces of the more divided one",
    "depth": "depth of the order",
}
NONE: Final = "none"


def order_lines(scores: OrderScores) -> list[str]:
    """The figures, for people; a share always with what it is a share of."""
    rows = [("pairs that a cue orders", "in order", "of"), ("all", *_cells(scores.pairs))]
    for split, bins in scores.by.items():
        rows.append((_TITLES[split], "", ""))
        rows += [(f"  {title}", *_cells(share)) for title, share in bins.items()]
    spread = NONE if scores.spread is None else f"{scores.spread:.2f}"
    rows += [
        ("rectangles in several pieces", "", ""),
        ("  whose pieces are within half a rank step", *_cells(scores.consistent)),
        ("  rank steps between pieces, on average", spread, f"{scores.consistent.of:,}"),
        ("pixels within half a rank step of their piece", *_cells(scores.even)),
    ]
    return columns(rows, right=(1, 2))


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


def _cells(share: Share) -> tuple[str, str]:
    found = NONE if share.share is None else f"{share.share:.1%}"
    return found, f"{share.of:,}"
