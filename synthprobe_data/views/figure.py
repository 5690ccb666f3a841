"""The figure of one sample: picture, ranks, label map, T-junctions, hidden sides, relation."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.scene import T_JUNCTION
from synthprobe_data.shards.opened import open_dataset
from synthprobe_data.shards.writer import check_target, write_bytes
from synthprobe_data.views.explanation import Explanation, explain, pick_split
from synthprobe_data.views.graph import Place, curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Line

FORMATS: Final = ("png", "svg", "pdf")
_DPI: Final = 200
_WIDTH: Final = 7.2
"""Of the figure, in inches: both columns of a paper."""
_MARGIN: Final = 0.08
_GAP: Final = 0.12
_TITLE: Final = 0.2
_TITLES: Final = (
    "a picture",
    "b ranks",
    "c label map",
    "d T-junctions and hidden sides",
    "e relation, a layer for each rank",
    "  ",
)
_INK: Final = "#1a1a1a"
_GREY: Final = "#8c8c8c"
# From the palette of Okabe and Ito, which the colour-blind can tell apart; the widths differ, too.
_BAR: Final = "#0072b2"
_STEM: Final = "#d55e00"

_SETTINGS: Final[dict[str, Any]] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "svg.fonttype": "path",
    "svg.hashsalt": "synthprobe",  # the same names in the file on every run
    "pdf.fonttype": 42,  # letters stay letters
}


def explain_to_file(
    path: str | Path,
    index: int,
    *,
    split: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Draw one RDE sample into a file; return the file.

    Parameters
    ----------
    path
        A file, or a folder of shards.
    index
        The sample, counted from the first of the split that is there.
    split
        Which split; the first by default.
    out
        The file to write: ``.png``, ``.svg`` or ``.pdf``. By default a PNG in the current folder,
        such as ``rde-test-7.png`` for sample 7 of the split test of ``rde.h5``.
    force
        Replace an existing file.
    """
    with open_dataset(path) as data:
        chosen = pick_split(data, split)
        if isinstance(index, bool) or not 0 <= index < len(chosen):
            raise SynthprobeError(
                f"index is {index}: {chosen.name} has {len(chosen)} samples, counted from 0."
            )
        if out is None:
            # The name of a split may come from a stranger, and must not lead elsewhere.
            split_name = re.sub(r"[^\w.-]", "_", chosen.name)
            out = f"{Path(path).resolve().stem}-{split_name}-{index}.png"
        out = Path(out)
        kind = out.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise SynthprobeError(f"{out} is no name for a figure: end it with .png, .svg or .pdf.")
        check_target(out, force=force)
        explanation = explain(data, chosen, index)
    write_bytes(out, draw(explanation, kind))
    return out


def draw(explanation: Explanation, kind: str = "png") -> bytes:
    """The figure as the bytes of a file: the same for the same sample and matplotlib."""
    # Here, because it is slow to import; without pyplot, which keeps figures alive and wants a
    # display on some machines.
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        figure = Figure()
        FigureCanvasAgg(figure)
        _compose(figure, explanation)
        stream = io.BytesIO()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(stream, format=kind, dpi=_DPI, metadata=dates.get(kind))
    return stream.getvalue()


def _compose(figure: Figure, shown: Explanation) -> None:
    """Three panels above, two and the legend below."""
    height, width = shown.size
    wide = (_WIDTH - 2 * _MARGIN - 2 * _GAP) / 3
    tall = min(max(wide * height / width, 0.8 * wide), 1.6 * wide)
    total = 2 * (tall + _TITLE) + 2 * _MARGIN + _GAP
    figure.set_size_inches(_WIDTH, total)
    axes = []
    for place, title in enumerate(_TITLES):
        left = _MARGIN + place % 3 * (wide + _GAP)
        bottom = total - _MARGIN - _TITLE - tall - place // 3 * (tall + _TITLE + _GAP)
        ax = figure.add_axes((left / _WIDTH, bottom / total, wide / _WIDTH, tall / total))
        top = (bottom + tall + 0.06) / total
        figure.text(left / _WIDTH, top, title[:1], weight="bold")
        figure.text((left + 0.13) / _WIDTH, top, title[1:])
        axes.append(ax)
    for ax in axes[:4]:
        _frame(ax, shown)
    # As pixels also in vector files, because these are what is stored.
    axes[0].imshow(shown.image, interpolation="none", extent=(0, width, height, 0))
    _draw_ranks(axes[1], shown)
    _draw_labels(axes[2], shown)
    _draw_cues(axes[3], shown)
    _draw_relation(axes[4], shown)
    _draw_legend(axes[5], shown, tall)


def _frame(ax: Axes, shown: Explanation) -> None:
    """A panel with the coordinates of the picture."""
    height, width = shown.size
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])
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


def _write_numbers(
    ax: Axes,
    shown: Explanation,
    numbers: list[int],
    colors: NDArray[np.float64],
    seam: float = 0,
) -> None:
    """A number into the visible part of each rectangle, with a seam of the rectangle's colour."""
    from matplotlib.patheffects import withStroke

    for k, (x, y) in shown.centres.items():
        ax.text(
            x,
            y,
            str(numbers[k]),
            color="black" if _brightness(colors[k]) > 0.45 else "white",
            ha="center",
            va="center_baseline",
            fontsize=7.5,
            path_effects=[withStroke(linewidth=seam, foreground=tuple(colors[k]))],
            zorder=5,
        )


def _draw_ranks(ax: Axes, shown: Explanation) -> None:
    highest = int(shown.rectangle_rank.max())
    grey = 0.15 + 0.85 * shown.rectangle_rank / highest
    colors = np.repeat(grey[:, None], 3, axis=1)
    ax.set_facecolor("black")
    _paint(ax, shown, colors, edge=_INK, line=0.4)
    _write_numbers(ax, shown, shown.rectangle_rank.tolist(), colors)


def _draw_labels(ax: Axes, shown: Explanation) -> None:
    colors = shown.colors / 255
    ax.set_facecolor("black")
    _paint(ax, shown, colors, edge="none", line=0)
    _write_numbers(ax, shown, list(range(1, len(colors) + 1)), colors)


def _draw_cues(ax: Axes, shown: Explanation) -> None:
    """T-junctions with stem and bar, hidden sides dashed, where convexity alone decides hatched."""
    from matplotlib.patches import Rectangle

    _paint(ax, shown, _faded(shown.colors), edge=_GREY, line=0.5)
    for x0, y0, x1, y1 in shown.overlaps.values():
        ax.add_patch(
            Rectangle(
                (x0, y0), x1 - x0, y1 - y0, fill=False, hatch="/////", edgecolor=_GREY, linewidth=0.6
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
    _write_numbers(ax, shown, list(range(1, len(shown.colors) + 1)), _faded(shown.colors), 2)


def _draw_relation(ax: Axes, shown: Explanation) -> None:
    """A layer for each rank, the highest on top; an arrow from above to beneath."""
    from matplotlib.patches import FancyArrowPatch

    drawing = shown.drawing
    highest = int(shown.rectangle_rank.max())
    margin = 0.6
    ax.set(xlim=(-margin - 0.5, drawing.width + margin), ylim=(0.4, highest + 0.6))
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    for rank in range(1, highest + 1):
        ax.axhline(rank, color="#e4e4e4", linewidth=0.6, zorder=0)
    size = 11.5 if len(drawing.places) <= 16 else 8.0
    for arrow in drawing.arrows:
        solid = bool(arrow.cue & T_JUNCTION)
        patch = FancyArrowPatch(
            path=_smooth(arrow.places),
            arrowstyle="-|>",
            mutation_scale=6,
            shrinkA=0,
            shrinkB=size / 2 + 0.5,
            linewidth=0.9,
            linestyle="solid" if solid else (0, (3, 2)),
            color=_INK,
            zorder=1,
        )
        ax.add_patch(patch)
    for k, (x, y) in enumerate(drawing.places):
        color = shown.colors[k] / 255
        ax.plot(
            [x], [y], "o", markersize=size, markerfacecolor=tuple(color), markeredgecolor=_INK,
            markeredgewidth=0.6, zorder=2,
        )
        ink = "black" if _brightness(color) > 0.45 else "white"
        ax.text(
            x, y, str(k + 1), color=ink, ha="center", va="center_baseline", fontsize=0.62 * size
        )
    for rank in range(1, highest + 1):
        ax.text(-margin - 0.45, rank, str(rank), color=_GREY, ha="left", va="center", fontsize=7)


def _smooth(places: tuple[Place, ...]) -> Line:
    from matplotlib.path import Path as Line

    points = curve(places)
    return Line(points, [Line.MOVETO] + [Line.CURVE4] * (len(points) - 1))


def _draw_legend(ax: Axes, shown: Explanation, tall: float) -> None:
    """What the lines mean, and how hard the sample is."""
    from matplotlib.patches import Rectangle

    line_height = 0.155 / tall
    ax.axis("off")
    ax.set(xlim=(0, 1), ylim=(1, 0))
    y = line_height / 2
    for words, line in (
        ("bar of a T-junction: this one is above", {"color": _BAR, "linewidth": 2.2}),
        ("stem: this one goes on beneath", {"color": _STEM, "linewidth": 1.1}),
        ("hidden side", {"color": _INK, "linewidth": 0.7, "dashes": (3, 2)}),
        ("where visible boxes intersect, if only", None),
        ("that (convexity) orders the pair", None),
        ("above, by a T-junction", {"color": _INK, "linewidth": 0.9}),
        ("above, by convexity only", {"color": _INK, "linewidth": 0.9, "dashes": (3, 2)}),
    ):
        if line is not None:
            ax.plot([0.02, 0.13], [y, y], solid_capstyle="butt", **line)
        ax.text(0.17, y, words, va="center", fontsize=7)
        y += line_height
    # Beside the two lines about convexity.
    style: dict[str, Any] = {"fill": False, "hatch": "/////", "edgecolor": _GREY, "linewidth": 0.6}
    ax.add_patch(Rectangle((0.025, 3.15 * line_height), 0.1, 1.7 * line_height, **style))
    difficulty = shown.difficulty
    y += line_height / 2
    ax.text(0.02, y, f"{shown.split} {shown.index}", va="center", fontsize=7, weight="bold")
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


def _faded(colors: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Light enough that lines stand out."""
    faded: NDArray[np.float64] = 1 - (1 - colors / 255) * 0.3
    return faded


def _brightness(color: NDArray[np.float64]) -> float:
    """How bright a colour looks, from 0 to 1."""
    return float(np.dot(color, (0.299, 0.587, 0.114)))
