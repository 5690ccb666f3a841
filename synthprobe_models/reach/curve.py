"""Curves of accuracy by distance, with the band over seeds and the line of one half."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_models.files import replaced
from synthprobe_models.reach.by_distance import BINS, bin_title

Curve = Mapping[str, Mapping[str, Any]]
"""By the title of a bin, as `DistanceScores.to_dict` has it."""
_COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Told apart by the colour-blind, too."""
HALF: Final = 0.5


def draw_curves(axis: Any, curves: Mapping[str, Sequence[Curve]]) -> None:
    """Draw curves: by label, one for each seed; the mean as a line, lowest to highest as a band.

    Parameters
    ----------
    axis
        Of matplotlib.
    curves
        What was measured.
    """
    titles = [bin_title(bounds) for bounds in BINS]
    used = 0
    for (label, seeds), color in zip(curves.items(), _cycled(len(curves)), strict=True):
        shares = [[curve[title]["share"] for title in titles] for curve in seeds]
        there = [i for i in range(len(titles)) if all(row[i] is not None for row in shares)]
        values = [[100 * row[i] for row in shares] for i in there]
        used = max(used, *there, 0) if there else used
        axis.plot(
            there, [statistics.fmean(v) for v in values], "o-", color=color, label=label, ms=3
        )
        axis.fill_between(
            there, [min(v) for v in values], [max(v) for v in values], color=color, alpha=0.2, lw=0
        )
    axis.axhline(100 * HALF, color="black", linestyle="--", linewidth=1)
    axis.text(used + 0.4, 100 * HALF, "blind", va="bottom", ha="right", fontsize=8)
    axis.set_xticks(
        range(used + 1),
        [title.replace(" to ", "-").replace(" or more", "+") for title in titles[: used + 1]],
        rotation=45,
        fontsize=8,
    )
    axis.set_xlim(-0.4, used + 0.4)
    axis.set_ylim(35, 103)
    axis.set_xlabel("pixels from the difference", fontsize=9)
    axis.set_ylabel("right, %; band: lowest to highest seed", fontsize=9)
    if len(curves) > 1:
        axis.legend(fontsize=8, frameon=False)


def write_curves(path: Path, curves: Mapping[str, Sequence[Curve]], title: str) -> None:
    """Write a PNG file with curves, as by `draw_curves`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(6.4, 4.4), layout="constrained")
    FigureCanvasAgg(canvas)
    axis = canvas.subplots()
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(title, fontsize=10, parse_math=False)
    draw_curves(axis, curves)
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})


def draw_results(axis: Any, results: Sequence[Mapping[str, Any]]) -> None:
    """Draw the curves of some runs of a structure: on test samples as trained on, and on others."""
    draw_curves(axis, result_curves(results))


def result_curves(results: Sequence[Mapping[str, Any]]) -> dict[str, list[Curve]]:
    """By the kind of samples: a curve for each run, of those that all runs could be given."""
    config = results[0]["data"]["config"]
    own = f"{config['height']} x {config['width']}, as trained"
    curves = {own: [result["order"]["by_distance"] for result in results]}
    for label in results[0].get("further", {}):
        found = [result["further"][label].get("order") for result in results]
        if all(found):
            curves[label] = [order["by_distance"] for order in found]
    return curves


def _cycled(count: int) -> list[str]:
    return [_COLORS[i % len(_COLORS)] for i in range(count)]
