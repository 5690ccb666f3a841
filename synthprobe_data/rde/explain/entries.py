"""What the page of ``browse`` shows of a scene: its rectangles, its cues and how hard it is."""

from __future__ import annotations

from typing import Any, Final

from synthprobe_data.dataset import BrowseEntries, Sample
from synthprobe_data.pictures import base64_png
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.palette import palette_of

_FIGURES: Final = {
    "depth": "depth of the order",
    "occluded_pairs": "occluded pairs",
    "convexity_only": "pairs ordered by convexity only",
    "pieces": "visible pieces",
    "cue_distance": "longest way to a cue, in pixels",
}


def _entry(sample: Sample, config: RdeConfig) -> dict[str, Any]:
    from synthprobe_data.rde.explain.explanation import explain_sample  # which needs the dataset

    shown = explain_sample(sample, palette_of(config, sample))
    difficulty = shown.difficulty
    figures = {
        "depth": difficulty.depth,
        "occluded_pairs": shown.occluded_pairs,
        "convexity_only": difficulty.convexity_only,
        "pieces": int(difficulty.pieces.sum()),
        "cue_distance": difficulty.cue_distance,
    }
    return {
        "png": base64_png(shown.image),
        "f": [figures[name] for name in _FIGURES],
        "rects": shown.rectangles.tolist(),
        "rgb": ["#" + bytes(color).hex() for color in shown.colors],
        "rank": shown.rectangle_rank.tolist(),
        "pieces": difficulty.pieces.tolist(),
        "at": [shown.centres.get(k) for k in range(len(shown.rectangles))],
        "t": [list(t) for t in shown.t_junctions],
        "hidden": [list(segment) for segment in shown.hidden_sides],
        "meet": [[a, b, *box] for (a, b), box in shown.overlaps.items()],
        "x": [round(x, 2) for x, _ in shown.drawing.points],
        # Who, whom, by which cue, and where it passes each layer between the two.
        "above": [
            [arrow.upper, arrow.lower, arrow.cue, *(round(x, 2) for x, _ in arrow.points[1:-1])]
            for arrow in shown.drawing.arrows
        ],
        "wide": round(shown.drawing.width, 2),
    }


def _size(config: RdeConfig) -> tuple[int, int]:
    return config.height, config.width


ENTRIES: Final = BrowseEntries(
    figures=_FIGURES,
    entry=_entry,
    size=_size,
    layout="scene",
    hint="what tells its ranks",
    ignored_checks=frozenset({"rules", "certificate"}),
)
