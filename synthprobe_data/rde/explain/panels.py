"""The panels of the figure of one sample, each drawn into axes that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.rde.explain.explanation import Explanation
from synthprobe_data.rde.explain.graph import curve
from synthprobe_data.rde.geometry import Point
from synthprobe_data.rde.scene import T_JUNCTION
from synthprobe_data.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path as Line

_INK: Final = "#1a1a1a"
_GREY: Final = "#8c8c8c"
# From the palette of Okabe and Ito, which the colour-blind can tell apart; the widths differ, too.
_BAR: Final = "#0072b2"
_STEM: Final = "#d55e00"


def frame(ax: Axes, shown: Explanation) -> None:
    """A panel with the coordinates of the picture, at the top of its axes."""
    height, width = shown.size
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[], anchor="NW")
    for spine in ax.spines.values():
        spine.set(color=_GREY, linewidth=0.6)


def _paint(
    ax: Axes, shown: Explanation, colors: NDArray[np.float64], edge: str, line: float
) -> None:
    """The rectangles in their order, which gives the label map without a single pixel."""
    from matplotlib.patches import Rectangle

    for k, (x0, y0, x1, y1) in enumerate(shown.rectangles.tolist()):
        ax.add_patch(
            Rectangle(
                (x0, y0),
                x1 - x0,
                y1 - y0,
                facecolor=tuple(colors[k]),
                edgecolor=edge,
                linewidth=line,
                joinstyle="miter",
            )
        )


def write_numbers(
    ax: Axes,
    centres: Mapping[int, Point],
    numbers: Sequence[float | str],
    colors: NDArray[np.float64],
    seam: float = 0,
) -> None:
    """A number at the centre of each rectangle, with a seam of the rectangle's colour."""
    from matplotlib.patheffects import withStroke

    for k, (x, y) in centres.items():
        ax.text(
            x,
            y,
            str(numbers[k]),
            color="black" if _brightness(colors[k]) > 0.45 else "white",
            ha="center",
            va="center_baseline",
            fontsize=7.5 if len(numbers) <= 16 else 5.5,
            path_effects=[withStroke(linewidth=seam, foreground=tuple(colors[k]))],
            zorder=5,
        )


def draw_picture(ax: Axes, shown: Explanation) -> None:
    """The stored picture: as pixels also in vector files, because these are what is stored."""
    height, width = shown.size
    ax.imshow(shown.image, interpolation="none", extent=(0, width, height, 0))


def grey_of(rank: NDArray[Any], highest: int) -> NDArray[np.float64]:
    """The grey values of ranks, as colours: the background (0) is black, well below rank 1."""
    grey = np.where(rank < 1, rank * (0.15 + 0.85 / highest), 0.15 + 0.85 * rank / highest)
    return np.repeat(np.clip(grey, 0, 1)[..., None], 3, axis=-1)


def draw_ranks(ax: Axes, shown: Explanation) -> None:
    """The ranks as grey values, and as numbers."""
    colors = grey_of(shown.rectangle_rank, int(shown.rectangle_rank.max()))
    ax.set_facecolor("black")
    _paint(ax, shown, colors, edge=_INK, line=0.4)
    write_numbers(ax, shown.centres, shown.rectangle_rank.tolist(), colors)


def draw_labels(ax: Axes, shown: Explanation) -> None:
    """The rectangles in their colours, numbered in the order of their placement."""
    colors = shown.colors / 255
    ax.set_facecolor("black")
    _paint(ax, shown, colors, edge="none", line=0)
    write_numbers(ax, shown.centres, range(1, len(colors) + 1), colors)


def draw_cues(ax: Axes, shown: Explanation) -> None:
    """T-junctions with stem and bar, hidden sides dashed, where convexity alone decides hatched."""
    from matplotlib.patches import Rectangle

    _paint(ax, shown, _faded(shown.colors), edge=_GREY, line=0.5)
    for x0, y0, x1, y1 in shown.overlaps.values():
        ax.add_patch(
            Rectangle(
                (x0, y0),
                x1 - x0,
                y1 - y0,
                fill=False,
                hatch="/////",
                edgecolor=_GREY,
                linewidth=0.6,
            )
        )
    for k, x0, y0, x1, y1 in shown.hidden_sides:
        color = tuple(0.55 * shown.colors[k] / 255)
        ax.plot([x0, x1], [y0, y1], color=color, linewidth=0.7, dashes=(3, 2))
    arm = max(shown.size) / 28
    for t in shown.t_junctions:
        bar = [t.x - arm * t.dy, t.x + arm * t.dy], [t.y - arm * t.dx, t.y + arm * t.dx]
        stem = [t.x, t.x + 1.3 * arm * t.dx], [t.y, t.y + 1.3 * arm * t.dy]
        ax.plot(*stem, color=_STEM, linewidth=1.1, solid_capstyle="butt", zorder=3)
        ax.plot(*bar, color=_BAR, linewidth=2.2, solid_capstyle="butt", zorder=4)
    write_numbers(ax, shown.centres, range(1, len(shown.colors) + 1), _faded(shown.colors), 2)


def draw_relation(ax: Axes, shown: Explanation, wide: float) -> None:
    """A layer for each rank, the highest on top; an arrow from above to beneath.

    ``wide`` is the width of the axes in inches.
    """
    from matplotlib.patches import FancyArrowPatch, PathPatch

    drawing = shown.drawing
    highest = int(shown.rectangle_rank.max())
    room = max(0.6, 1.5 - drawing.width / 2)
    left, right = -room - 0.5, drawing.width + room
    ax.set(xlim=(left, right), ylim=(0.4, highest + 0.6), xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    for rank in range(1, highest + 1):
        ax.plot([left + 0.3, right], [rank, rank], color="#e4e4e4", linewidth=0.6, zorder=0)
        ax.text(left, rank, str(rank), color=_GREY, ha="left", va="center_baseline", fontsize=7)
    size = min(11.5, 0.9 * 72 * wide / (right - left))  # of a rectangle, in points
    for arrow in drawing.arrows:
        points = curve(arrow.points)
        solid = bool(arrow.cue & T_JUNCTION)
        ax.add_patch(
            PathPatch(
                _smooth(points),
                fill=False,
                edgecolor=_INK,
                linewidth=0.9,
                linestyle="solid" if solid else (0, (3, 2)),
                zorder=1,
            )
        )
        # The head alone, where the line meets the rim of the lower one.
        (x0, y0), (x1, y1) = points[-2:]
        ax.add_patch(
            FancyArrowPatch(
                (x1 + 9 * (x0 - x1), y1 + 9 * (y0 - y1)),
                (x1, y1),
                arrowstyle="-|>",
                mutation_scale=8,
                shrinkA=0,
                shrinkB=size / 2,
                linewidth=0,
                color=_INK,
                zorder=1.5,
            )
        )
    for k, (x, y) in enumerate(drawing.points):
        color = shown.colors[k] / 255
        ax.plot(
            [x],
            [y],
            "o",
            markersize=size,
            markerfacecolor=tuple(color),
            markeredgecolor=_INK,
            markeredgewidth=0.6,
            zorder=2,
        )
        ink = "black" if _brightness(color) > 0.45 else "white"
        ax.text(
            x, y, str(k + 1), color=ink, ha="center", va="center_baseline", fontsize=0.62 * size
        )


def _smooth(points: list[Point]) -> Line:
    from matplotlib.path import Path as Line

    return Line(points, [Line.MOVETO] + [Line.CURVE4] * (len(points) - 1))


def draw_legend(ax: Axes, shown: Explanation, tall: float) -> None:
    """What the lines mean, and how hard the sample is."""
    from matplotlib.patches import Rectangle

    line_height = 0.155 / tall
    ax.axis("off")
    ax.set(xlim=(0, 1), ylim=(1, 0))
    y = line_height / 2
    lines: tuple[tuple[str, Any], ...] = (
        ("bar of a T-junction: this one is above", {"color": _BAR, "linewidth": 2.2}),
        ("stem: this one goes on beneath", {"color": _STEM, "linewidth": 1.1}),
        ("hidden side", {"color": _INK, "linewidth": 0.7, "dashes": (3, 2)}),
        ("where visible boxes intersect, if only", None),
        ("that (convexity) orders the pair", None),
        ("above, by a T-junction", {"color": _INK, "linewidth": 0.9}),
        ("above, by convexity only", {"color": _INK, "linewidth": 0.9, "dashes": (3, 2)}),
    )
    for words, line in lines:
        if line is not None:
            ax.plot([0.02, 0.13], [y, y], solid_capstyle="butt", **line)
        ax.text(0.17, y, words, va="center", fontsize=7)
        y += line_height
    # Beside the two lines about convexity.
    style: dict[str, Any] = {"fill": False, "hatch": "/////", "edgecolor": _GREY, "linewidth": 0.6}
    ax.add_patch(Rectangle((0.025, 3.15 * line_height), 0.1, 1.7 * line_height, **style))
    difficulty = shown.difficulty
    y += line_height / 2
    ax.text(0.02, y, _name(shown), va="center", fontsize=7, weight="bold")
    for words, number in (
        ("rectangles", len(shown.rectangles)),
        ("occluded pairs", shown.occluded_pairs),
        ("pairs ordered by convexity only", difficulty.convexity_only),
        ("visible pieces", int(difficulty.pieces.sum())),
        ("depth of the order", difficulty.depth),
        ("pixels, the longest way to a cue", difficulty.cue_distance),
    ):
        y += line_height
        ax.text(0.13, y, str(number), va="center", ha="right", fontsize=7)
        ax.text(0.17, y, words, va="center", fontsize=7)


def _name(shown: Explanation) -> str:
    """Split and index, fit to be drawn."""
    return f"{printable(shown.split)[:30]} {shown.index}"


def _faded(colors: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Light enough that lines stand out."""
    faded: NDArray[np.float64] = 1 - (1 - colors / 255) * 0.3
    return faded


def _brightness(color: NDArray[np.float64]) -> float:
    """How bright a colour looks, from 0 to 1."""
    return float(np.dot(color, (0.299, 0.587, 0.114)))
