"""The figure of one sample: picture, ranks, label map, T-junctions, hidden sides, relation."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.opened import open_dataset
from synthprobe_data.shards.writer import check_target, write_bytes
from synthprobe_data.views.explanation import Explanation, explain, pick_split
from synthprobe_data.views.panels import (
    draw_cues,
    draw_labels,
    draw_legend,
    draw_picture,
    draw_ranks,
    draw_relation,
    frame,
)
from synthprobe_data.words import counted
from synthprobe_data.words import file_name as file_name  # for the figures of others, too

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS: Final = ("png", "svg", "pdf")
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
                f"index is {index}: {chosen.name} has {counted(len(chosen), 'sample')}, counted "
                "from 0."
            )
        if out is None:
            out = f"{Path(path).resolve().stem}-{file_name(chosen.name)}-{index}.png"
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
    return rendered(lambda figure: _compose(figure, explanation), kind)


def rendered(compose: Callable[[Figure], None], kind: str = "png") -> bytes:
    """What is composed into a figure, as the bytes of a file.

    Parameters
    ----------
    compose
        Draws into the figure that it is given.
    kind
        One of `FORMATS`.
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
    for place, title in enumerate(titles):
        left = _MARGIN + place % 3 * (wide + _GAP)
        bottom = _MARGIN if place > 2 else _MARGIN + lower + _GAP + _TITLE
        tall = lower if place > 2 else upper
        axes.append(figure.add_axes((left / _WIDTH, bottom / total, wide / _WIDTH, tall / total)))
        top = (bottom + tall + 0.06) / total
        figure.text(left / _WIDTH, top, title[:1], weight="bold")
        figure.text((left + 0.13) / _WIDTH, top, title[1:])
    for ax in axes[:4]:
        frame(ax, shown)
    return axes, wide, lower
