"""Table 2: Centered Square, with one Lambda layer and several encodings of positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from synthprobe_data import CenteredSquareConfig, Config
from synthprobe_models.experiments.table import Column, Row, Table
from synthprobe_models.probes.centered_square import CENTERED_SQUARE_PROBE
from synthprobe_models.probes.probe import PresetData

_SQUARE: Final = 21
_BUFFER: Final = "The printed count has one more, which we take for a buffer."


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


def _bound(row: Row, config: Config, options: Mapping[str, Any]) -> float | None:
    """How much of the square of these samples the window of a row covers."""
    assert isinstance(config, CenteredSquareConfig)
    if row.bound is None:
        return None
    window = options.get("window", int(row.name.rpartition("-")[2]))
    return window_share(window, config.square)


def _row(
    title: str,
    name: str,
    parameters: int,
    trainable: int,
    published: dict[str, float],
    *,
    bound: float | None = None,
    note: str = "",
) -> Row:
    return Row(
        table=2,
        title=title,
        name=name,
        probe=CENTERED_SQUARE_PROBE.name,
        width=CENTERED_SQUARE_PROBE.width,
        parameters=parameters,
        trainable=trainable,
        published=published,
        bound=bound,
        note=note,
    )


def _iou(train: float, test: float) -> dict[str, float]:
    return {"train_iou": train, "test_iou": test}


_ROWS: Final = (
    _row(
        "Cosine + Sum + QKV", "lambda-cosine-sum-qkv", 182_018, 182_017,
        _iou(98.70, 24.71), note=_BUFFER,
    ),
    _row(
        "Cosine + Sum + QV", "lambda-cosine-sum-qv", 182_018, 182_017,
        _iou(98.67, 35.66), note=_BUFFER,
    ),
    _row(
        "Cosine + Decor.", "lambda-cosine-decor", 182_018, 182_017,
        _iou(84.78, 84.79), note=_BUFFER,
    ),
    _row(
        "Fourier + Decor.", "lambda-pe", 182_018, 182_017, _iou(100.0, 100.0), note=_BUFFER
    ),
    _row(
        "CoordConv", "lambda-coordconv", 184_066, 184_065, _iou(80.71, 56.16), note=_BUFFER
    ),
    _row(
        "Lambda (R = 7)", "lambda-local-7", 182_818, 182_817, _iou(11.11, 11.11),
        bound=window_share(7), note=_BUFFER,
    ),
    _row(
        "Lambda (R = 19)", "lambda-local-19", 187_810, 187_809, _iou(19.50, 14.81),
        bound=window_share(19), note=_BUFFER,
    ),
)  # fmt: skip

TABLE: Final = Table(
    number=2,
    probe=CENTERED_SQUARE_PROBE.name,
    published=_ROWS,
    data={"paper": PresetData(), "mini": CENTERED_SQUARE_PROBE.data["mini"]},
    reference="lambda-pe",
    compared="test_iou",
    columns=(
        Column("train IOU", ("train", "iou"), "train_iou", 100, lower_is_better=False),
        Column("test IOU", ("test", "iou"), "test_iou", 100, lower_is_better=False),
    ),
    note="In percent. Higher is better.\n",
    bound=_bound,
)
