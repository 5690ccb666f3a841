"""The three tables of the paper: what was measured, with how many parameters, and what is possible.

For each row also how many parameters our network of the same width has. These agree exactly, but
for the Non-Local U-Net, of which the paper does not describe every part (see STRUCTURES.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from synthprobe_data.color_code import PAPER, ceiling

_SQUARE: Final = 21
_NETWORK_WIDTHS: Final = {2: 128, 3: 256}
_PROBES: Final = {1: "rde", 2: "centered-square", 3: "color-code"}
_SCALES: Final = 11
_CEILING: Final = 100 * float(ceiling(PAPER))


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table of the paper."""

    table: int
    title: str
    """As printed."""
    name: str
    """Of the structure or the network in the registry."""
    probe: str
    width: int
    """Channels of the published network."""
    parameters: int
    """As printed; 0 for a row that is not of the paper."""
    trainable: int
    """Those of our network of the same width that are trained; 0 as above."""
    figures: Mapping[str, float]
    """The published figures: times 100 in table 1, in percent in tables 2 and 3."""
    bound: float | None = None
    """What bounds the figures, in percent: `window_share`, or Color Code's `ceiling`."""
    ambiguous: bool = False
    """Whether it was trained on ambiguous data; all are evaluated on unambiguous data."""
    note: str = ""
    """What else there is to know."""


def non_local_parameters(width: int, layer: int) -> int:
    """The parameters of the paper's Non-Local U-Net, as found from its counts.

    Five printed counts at three widths, those of Global Context, Global Average Pooling and the
    three with Lambda, are 443 w^2 + 1487 w + 1 and 11 times the layer's own parameters. Of these,
    88 w^2 + 121 w are the frames of the 11 layers, and 5 w + 1 the 1x1 convolutions at both ends.

    Parameters
    ----------
    width
        w.
    layer
        Parameters of the non-local layer alone, in one scale.
    """
    return 443 * width**2 + 1487 * width + 1 + _SCALES * layer


def window_share(window: int, square: int = _SQUARE) -> float:
    """How much of the square a window around the white pixel covers, in percent: (R/w)^2.

    It bounds the intersection over union of a layer that sees a window only and draws nothing where
    the white pixel is out of sight. Such places cannot be told from one another, but for those
    near the border. To draw all but those near the border can be better only for small windows: on
    64 x 64 pixels it gives 13.1% for R = 7 while the square is off the border, against 11.1%.

    Parameters
    ----------
    window
        R, its width.
    square
        w, the width of the square.
    """
    return 100 * min(window / square, 1) ** 2


def _row(
    table: int,
    title: str,
    name: str,
    parameters: int,
    trainable: int,
    figures: Mapping[str, float],
    *,
    width: int | None = None,
    bound: float | None = None,
    ambiguous: bool = False,
    note: str = "",
) -> Row:
    return Row(
        table=table,
        title=title,
        name=name,
        probe=_PROBES[table],
        width=_NETWORK_WIDTHS[table] if width is None else width,
        parameters=parameters,
        trainable=trainable,
        figures=figures,
        bound=bound,
        ambiguous=ambiguous,
        note=note,
    )


def _rde(
    loss: float, gap: float | None, ordinal: float, delta: float, rmse: float
) -> dict[str, float]:
    figures = {"loss": loss, "gap": gap, "ord": ordinal, "delta_1.25": delta, "rmse": rmse}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _iou(train: float, test: float) -> dict[str, float]:
    return {"train_iou": train, "test_iou": test}


def _code(title: str, name: str, parameters: int, accuracy: float) -> Row:
    return _row(3, title, name, parameters, parameters, {"accuracy": accuracy}, bound=_CEILING)


_BUFFER: Final = "The printed count has one more, which we take for a buffer."
_READING: Final = (
    "That the encoding is cosine, and added to the input of Q, K and V, is our reading."
)
_GLUE: Final = "What joins the modules of a scale is not published."

ROWS: Final = (
    _row(
        1, "Baseline*", "unet", 871_729, 871_729, _rde(1.78, None, 6.03, 7.36, 4.91),
        width=48, ambiguous=True, note="Trained on ambiguous data, evaluated on unambiguous data.",
    ),
    _row(1, "Baseline", "unet", 871_729, 871_729, _rde(0.72, 0.36, 1.79, 1.98, 1.95), width=48),
    _row(
        1, "Global Context", "global-context", 864_477, 914_079,
        _rde(0.54, 0.32, 1.09, 1.39, 1.49), width=42, note=_GLUE,
    ),
    _row(
        1, "Global Average Pooling", "global-average-pooling", 883_049, 934_735,
        _rde(0.60, 0.31, 1.47, 1.51, 1.71), width=43, note=_GLUE,
    ),
    _row(
        1, "Deformable", "deformable", 864_844, 651_463,
        _rde(0.94, 0.54, 2.43, 2.83, 2.44), width=21,
        note=f"{_GLUE} Neither is the layer: 7 x 7 is our choice.",
    ),
    _row(
        1, "Lambda", "lambda-cosine-sum-qkv", 871_945, 917_505,
        _rde(0.28, 0.14, 0.47, 0.64, 0.82), width=40, note=f"{_GLUE} {_READING}",
    ),
    _row(
        1, "Lambda + PE", "lambda-pe", 871_945, 917_505,
        _rde(0.25, 0.15, 0.50, 0.58, 0.77), width=40, note=_GLUE,
    ),
    _row(
        1, "Lambda + PE + TT", "lambda-pe-tt", 928_969, 974_529,
        _rde(0.28, 0.18, 0.59, 0.65, 0.85), width=40, note=_GLUE,
    ),
    _row(
        2, "Cosine + Sum + QKV", "lambda-cosine-sum-qkv", 182_018, 182_017,
        _iou(98.70, 24.71), note=_BUFFER,
    ),
    _row(
        2, "Cosine + Sum + QV", "lambda-cosine-sum-qv", 182_018, 182_017,
        _iou(98.67, 35.66), note=_BUFFER,
    ),
    _row(
        2, "Cosine + Decor.", "lambda-cosine-decor", 182_018, 182_017,
        _iou(84.78, 84.79), note=_BUFFER,
    ),
    _row(
        2, "Fourier + Decor.", "lambda-pe", 182_018, 182_017, _iou(100.0, 100.0), note=_BUFFER
    ),
    _row(
        2, "CoordConv", "lambda-coordconv", 184_066, 184_065, _iou(80.71, 56.16), note=_BUFFER
    ),
    _row(
        2, "Lambda (R = 7)", "lambda-local-7", 182_818, 182_817, _iou(11.11, 11.11),
        bound=window_share(7), note=_BUFFER,
    ),
    _row(
        2, "Lambda (R = 19)", "lambda-local-19", 187_810, 187_809, _iou(19.50, 14.81),
        bound=window_share(19), note=_BUFFER,
    ),
    _code("Transformer", "transformer", 2_373_379, 99.87),
    _code("MLP-Mixer", "mlp-mixer", 1_979_011, 69.77),
    _code("Nyströmformer-32", "nystromformer", 2_176_003, 99.66),
    _code("Linformer-32", "linformer", 2_208_771, 99.15),
    _code("Reformer-32", "reformer", 2_176_003, 77.59),
    _code("Lambda", "lambda", 2_175_235, 99.52),
    _code("Lambda + TT", "lambda-tt", 2_569_987, 99.85),
)  # fmt: skip
"""Every row of every table, in the paper's order."""


def further_row(table: int, name: str, title: str) -> Row:
    """A row for a structure or network that the paper has not in this table."""
    bound = _CEILING if table == 3 else None  # of the samples, not of a structure
    return _row(table, title, name, 0, 0, {}, width=0, bound=bound, note="Not of the paper.")


def probe_of(table: int) -> str:
    """The name of the probe that a table is about."""
    return _PROBES[table]


def find_rows(
    table: int | None = None, name: str | None = None, probe: str | None = None
) -> tuple[Row, ...]:
    """The rows of a table, of a structure or network, or of a probe; all of them by default."""
    wanted = {"table": table, "name": name, "probe": probe}
    return tuple(
        row
        for row in ROWS
        if all(value is None or getattr(row, key) == value for key, value in wanted.items())
    )
