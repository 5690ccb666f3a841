"""The figure of one sample: picture, ranks, label map, T-junctions, hidden sides, relation."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data.rde.explain.explanation import Explanation, explain
from synthprobe_data.rde.explain.panels import (
    draw_cues,
    draw_labels,
    draw_legend,
    draw_picture,
    draw_ranks,
    draw_relation,
    frame,
)
from synthprobe_data.shards.collection import OpenDataset, Split
from synthprobe_data.text import file_name as file_name  # for the figures of others, too

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI: Final = 200
_WIDTH: Final = 7.2
"""Of the figure, in inches: both columns of a paper."""
_MARGIN: Final = 0.08
_GAP: Final = 0.12
_TITLE: Final = 0.2
_LEGEND: Final = 2.25
"""The legend is so many inches high."""
_TITLES: Final = (
    "a picture",
    "b ranks",
    "c label map",
    "d T-junctions and hidden sides",
    "e relation, a layer for each rank",
    "  ",
)
_SETTINGS: Final[Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "svg.fonttype": "path",
    "svg.hashsalt": "synthprobe",  # the same names in the file on every run
    "pdf.fonttype": 42,  # letters stay letters
    "text.parse_math": False,  # the name of a split may have any signs
}


def draw_sample(data: OpenDataset, split: Split, position: int, kind: str) -> bytes:
    """The figure of one sample, counted from the first of the split that is there."""
    return draw(explain(data, split, position), kind)


def draw(explanation: Explanation, kind: str = "png") -> bytes:
    """The figure as the bytes of a file: the same for the same sample and matplotlib."""
    return rendered(lambda figure: _compose(figure, explanation), kind)


def rendered(compose: Callable[[Figure], None], kind: str = "png") -> bytes:
    """What is composed into a figure, as the bytes of a file.

    Parameters
    ----------
    compose
        Draws into the figure that it is given.
    kind
        ``png``, ``svg`` or ``pdf``.
    """
    # Here, because it is slow to import; without pyplot, which keeps figures alive and wants a
    # display on some machines.
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user has set for other figures
        matplotlib.rcParams.update(_SETTINGS)
        figure = Figure()
        FigureCanvasAgg(figure)
        compose(figure)
        stream = io.BytesIO()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(stream, format=kind, dpi=_DPI, metadata=dates.get(kind))
    return stream.getvalue()


def _compose(figure: Figure, shown: Explanation) -> None:
    """Three panels above, two and the legend below."""
    axes, wide, lower = add_panels(figure, shown, _TITLES, _LEGEND)
    draw_picture(axes[0], shown)
    draw_ranks(axes[1], shown)
    draw_labels(axes[2], shown)
    draw_cues(axes[3], shown)
    draw_relation(axes[4], shown, wide)
    draw_legend(axes[5], shown, lower)


def add_panels(
    figure: Figure, shown: Explanation, titles: Sequence[str], least: float
) -> tuple[list[Axes], float, float]:
    """Two rows of three panels, the first four of them with the coordinates of the picture.

    Parameters
    ----------
    figure
        Gets its size here.
    shown
        The sample.
    titles
        Of the panels, each with its letter first.
    least
        The lower row is at least so many inches high.

    Returns
    -------
    list, float, float
        The panels; how wide each is, and how high the lower row is, in inches.
    """
    height, width = shown.size
    wide = (_WIDTH - 2 * _MARGIN - 2 * _GAP) / 3
    upper = wide * min(max(height / width, 0.2), 1.6)
    lower = max(upper, least)
    total = 2 * _MARGIN + 2 * _TITLE + _GAP + upper + lower
    figure.set_size_inches(_WIDTH, total)
    axes = []
    for number, title in enumerate(titles):
        left = _MARGIN + number % 3 * (wide + _GAP)
        bottom = _MARGIN if number > 2 else _MARGIN + lower + _GAP + _TITLE
        tall = lower if number > 2 else upper
        axes.append(figure.add_axes((left / _WIDTH, bottom / total, wide / _WIDTH, tall / total)))
        top = (bottom + tall + 0.06) / total
        figure.text(left / _WIDTH, top, title[:1], weight="bold")
        figure.text((left + 0.13) / _WIDTH, top, title[1:])
    for ax in axes[:4]:
        frame(ax, shown)
    return axes, wide, lower
