"""The figure of one sample that a network does badly on: which cues it missed, and where."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data import (
    Explanation,
    TJunction,
    add_panels,
    draw_cues,
    draw_picture,
    draw_ranks,
    grey_of,
    rendered,
    visible_centres,
    write_numbers,
)
from synthprobe_models.evaluation.rde.order import find_pieces, ranks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from synthprobe_models.evaluation.rde.missed import MissedPair

SHOWN: Final = 6
"""So many pairs are marked and explained, of those that were missed."""
_TITLES: Final = (
    "a picture",
    "b ranks",
    "c ranks that the network gives",
    "d cues that it missed",
    "  ",
    "  ",
)
_LINE: Final = 0.135
"""Height of a line of text, in inches."""
_SIGNS: Final = 96
"""Signs in a line."""


def draw_missed(
    shown: Explanation,
    label: NDArray[np.uint8],
    predicted: NDArray[np.float64],
    missed: Sequence[MissedPair],
) -> bytes:
    """Draw a sample and the cues that a network missed, as the bytes of a PNG file.

    Parameters
    ----------
    shown
        The sample.
    label
        Its label map.
    predicted
        The ranks that the network gives, (height, width), on the scale of the true ones.
    missed
        The pairs that it orders wrongly; the first `SHOWN` of them are marked.
    """

    def compose(figure: Figure) -> None:
        lines = _lines(shown, missed)
        axes, _, tall = add_panels(figure, shown, _TITLES, _LINE * (len(lines) + 1))
        draw_picture(axes[0], shown)
        draw_ranks(axes[1], shown)
        _draw_prediction(axes[2], shown, label, predicted)
        _draw_missed_cues(axes[3], shown, missed[:SHOWN])
        for ax in axes[4:]:
            ax.axis("off")
        for row, (words, bold) in enumerate(lines):
            axes[4].text(
                0,
                1 - (row + 0.5) * _LINE / tall,
                words,
                va="center",
                fontsize=6.5,
                weight="bold" if bold else "normal",
                transform=axes[4].transAxes,
            )

    return rendered(compose)


def _draw_prediction(
    ax: Axes, shown: Explanation, label: NDArray[np.uint8], predicted: NDArray[np.float64]
) -> None:
    """The prediction in the grey values of the ranks, and the rank of each piece as a number."""
    height, width = shown.size
    highest = int(shown.rectangle_rank.max())
    grey = grey_of(np.nan_to_num(predicted, posinf=highest), highest)
    ax.imshow(grey, interpolation="none", extent=(0, width, height, 0))
    piece, owner = find_pieces(label)
    rank = ranks_of(predicted, piece, len(owner))
    numbers, colors = [f"{value:.1f}" for value in rank], grey_of(np.nan_to_num(rank), highest)
    write_numbers(ax, visible_centres(piece), numbers, colors, 1.5)


def _draw_missed_cues(ax: Axes, shown: Explanation, missed: Sequence[MissedPair]) -> None:
    """The cues of some pairs alone, as the figure of a sample draws them, each with a letter."""
    from matplotlib.patheffects import withStroke

    of_pairs = {k - 1 for pair in missed for k in (pair.upper, pair.lower)}
    junctions = [
        [
            TJunction(
                junction.column,
                junction.row,
                pair.upper - 1,
                pair.lower - 1,
                junction.direction[1],
                junction.direction[0],
            )
            for junction in pair.junctions
        ]
        for pair in missed
    ]
    only = dataclasses.replace(
        shown,
        t_junctions=[junction for found in junctions for junction in found],
        overlaps={
            (pair.upper - 1, pair.lower - 1): pair.overlap
            for pair in missed
            if pair.overlap is not None
        },
        hidden_sides=[side for side in shown.hidden_sides if side.rectangle in of_pairs],
    )
    draw_cues(ax, only)
    away = max(shown.size) / 24
    for letter, pair, found in zip(ascii_uppercase, missed, junctions, strict=False):
        # Beside the stem, in the picture; or in the corner of the overlap.
        places = [(t.x + away * (t.dx - t.dy), t.y + away * (t.dy + t.dx)) for t in found]
        if not places and pair.overlap is not None:
            x0, y0, _, _ = pair.overlap
            places = [(x0 + 0.6 * away, y0 + 0.6 * away)]
        for x, y in places:
            ax.text(
                x,
                y,
                letter,
                ha="center",
                va="center",
                fontsize=6,
                weight="bold",
                path_effects=[withStroke(linewidth=1.5, foreground="white")],
                zorder=6,
                clip_on=True,
            )


def _lines(shown: Explanation, missed: Sequence[MissedPair]) -> list[tuple[str, bool]]:
    """The text beside the cues, line by line, and whether it is a heading."""
    pairs = int(np.count_nonzero(shown.above))
    name = "".join(sign if sign.isprintable() else "?" for sign in shown.split[:30])
    lines = [(f"{name} {shown.index}: {len(missed)} of {pairs} pairs in the wrong order", True)]
    for letter, pair in zip(ascii_uppercase, missed[:SHOWN], strict=False):
        first, *rest = textwrap.wrap(f"{letter}  {pair.sentence}", _SIGNS)
        lines += [(first, False), *((f"    {line}", False) for line in rest)]
    if len(missed) > SHOWN:
        lines.append((f"and {len(missed) - SHOWN} more", False))
    legend = (
        "Points are (column, row). Blue: bar of a T-junction, of the upper one. Orange: its stem.",
        "Hatched: where visible extents overlap. Dashed: hidden sides.",
        "In c, every visible piece has the number that the network gives it.",
    )
    return [*lines, ("", False), *((line, False) for line in legend)]
