"""Table 1: Rectangle Depth Estimation with the Non-Local U-Net, beside the reference solver.

Beside what was published, each row has the parameters of our network of the same width. They differ
where the paper does not describe every part of the network (see STRUCTURES.md).
"""

from __future__ import annotations

from typing import Final

from synthprobe_models.experiments.local_reader import LOCAL_READER, local_reader_result
from synthprobe_models.experiments.solver_row import SOLVER, solver_result
from synthprobe_models.experiments.table import Column, Row, Table, Untrained
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.probes.rde import RDE_PROBE

_SCALES: Final = 11
_READING: Final = (
    "That the encoding is cosine, and added to the input of Q, K and V, is our reading."
)
_GLUE: Final = "What joins the modules of a scale is not published."


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


def _row(
    title: str,
    name: str,
    parameters: int,
    trainable: int,
    published: dict[str, float],
    *,
    width: int,
    ambiguous: bool = False,
    note: str = "",
) -> Row:
    return Row(
        table=1,
        title=title,
        name=name,
        probe=RDE_PROBE.name,
        width=width,
        parameters=parameters,
        trainable=trainable,
        published=published,
        ambiguous=ambiguous,
        note=note,
    )


def _rde(
    loss: float, gap: float | None, ordinal: float, delta: float, rmse: float
) -> dict[str, float]:
    figures = {"loss": loss, "gap": gap, "ord": ordinal, "delta_1.25": delta, "rmse": rmse}
    return {name: figure for name, figure in figures.items() if figure is not None}


_ROWS: Final = (
    _row(
        "Baseline*", "unet", 871_729, 871_729, _rde(1.78, None, 6.03, 7.36, 4.91),
        width=48, ambiguous=True, note="Trained on ambiguous data, evaluated on unambiguous data.",
    ),
    _row("Baseline", "unet", 871_729, 871_729, _rde(0.72, 0.36, 1.79, 1.98, 1.95), width=48),
    _row(
        "Global Context", "global-context", 864_477, 914_079,
        _rde(0.54, 0.32, 1.09, 1.39, 1.49), width=42, note=_GLUE,
    ),
    _row(
        "Global Average Pooling", "global-average-pooling", 883_049, 934_735,
        _rde(0.60, 0.31, 1.47, 1.51, 1.71), width=43, note=_GLUE,
    ),
    _row(
        "Deformable", "deformable", 864_844, 651_463,
        _rde(0.94, 0.54, 2.43, 2.83, 2.44), width=21,
        note=f"{_GLUE} Neither is the layer: 7 x 7 is our choice.",
    ),
    _row(
        "Lambda", "lambda-cosine-sum-qkv", 871_945, 917_505,
        _rde(0.28, 0.14, 0.47, 0.64, 0.82), width=40, note=f"{_GLUE} {_READING}",
    ),
    _row(
        "Lambda + PE", "lambda-pe", 871_945, 917_505,
        _rde(0.25, 0.15, 0.50, 0.58, 0.77), width=40, note=_GLUE,
    ),
    _row(
        "Lambda + PE + TT", "lambda-pe-tt", 928_969, 974_529,
        _rde(0.28, 0.18, 0.59, 0.65, 0.85), width=40, note=_GLUE,
    ),
)  # fmt: skip
_LAMBDA: Final = {"heads": 2, "keys": 32}
"""Heads of 16 keys each, as published."""

TABLE: Final = Table(
    number=1,
    probe=RDE_PROBE.name,
    published=_ROWS,
    untrained=(
        Untrained(
            LOCAL_READER, local_reader_result, "reads cues in the baseline's field, guesses else"
        ),
        Untrained(SOLVER, solver_result, "reads the answers off the pixels"),
    ),
    data={
        "paper": PresetData(),
        **{
            size: PresetData(
                config=RDE_PROBE.data[size].config,
                sizes=RDE_PROBE.data[size].sizes,
                options={
                    "lambda-cosine-sum-qkv": _LAMBDA,
                    "lambda-pe": _LAMBDA,
                    "lambda-pe-tt": _LAMBDA,
                    "deformable": {"size": 3},  # a kernel that leaves the network some width
                },
            )
            for size in ("mini", "midi")
        },
    },
    reference="unet",
    compared="rmse",
    columns=(
        Column("test loss", ("test", "loss"), "loss", 1),
        Column("gen. gap", ("gap",), "gap", 1),
        Column("Ord", ("test", "ord"), "ord", 100),
        Column("pixels off by > 1.25", ("test", "delta"), "delta_1.25", 100),
        Column("RMSE", ("test", "rmse"), "rmse", 100),
    ),
    note=(
        "Lower is better in every column. *Pixels off by > 1.25* is the share of pixels that are "
        "off by a factor of more than 1.25, the paper's δ1.25; what others call δ1.25 is the share "
        "of those that are not. It, Ord (pairs of pixels in the wrong order) and RMSE are "
        "multiplied by 100; losses are as they are. (The paper says that all of its figures are "
        "multiplied by 100; beside its RMSE a rooted loss cannot be so small, so its losses are "
        "read as they are, too.)\n"
    ),
)
