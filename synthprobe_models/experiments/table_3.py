"""Table 3: Color Code, with three layers of each structure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from synthprobe_data import ColorCodeConfig, Config, ceiling
from synthprobe_models.experiments.table import Column, Row, Table
from synthprobe_models.probes.color_code import COLOR_CODE_PROBE
from synthprobe_models.probes.probe import PresetData

_MODE: Final = {"mode": "paper"}
_CEILING: Final = 100 * float(ceiling(ColorCodeConfig.from_dict({**_MODE}), over="samples"))
_MINI: Final = COLOR_CODE_PROBE.data["mini"]


def _row(title: str, name: str, parameters: int, accuracy: float) -> Row:
    return Row(
        table=3,
        title=title,
        name=name,
        probe=COLOR_CODE_PROBE.name,
        width=COLOR_CODE_PROBE.width,
        parameters=parameters,
        trainable=parameters,
        published={"accuracy": accuracy},
        bound=_CEILING,
    )


def _bound(row: Row, config: Config, _options: Mapping[str, Any]) -> float | None:
    """The share of masked codes that the best possible solver is expected to find."""
    assert isinstance(config, ColorCodeConfig)
    return None if row.bound is None else 100 * float(ceiling(config, over="samples"))


def _describe(config: Mapping[str, Any], bound: float | None) -> str:
    """What samples a table is made with, and what can be reached on them."""
    reached = "all masked codes can be found"
    if bound is not None and bound < 100:
        reached = (
            f"the best possible solver is expected to find {bound:.2f}% of the masked codes, "
            f"as a colour may be revealed nowhere"
        )
    return (
        f"The samples have {config['positions']} positions and {config['colors']} colours and are "
        f"drawn in the mode `{config['mode']}`: {reached}.\n"
    )


TABLE: Final = Table(
    number=3,
    probe=COLOR_CODE_PROBE.name,
    published=(
        _row("Transformer", "transformer", 2_373_379, 99.87),
        _row("MLP-Mixer", "mlp-mixer", 1_979_011, 69.77),
        _row("Nyströmformer-32", "nystromformer", 2_176_003, 99.66),
        _row("Linformer-32", "linformer", 2_208_771, 99.15),
        _row("Reformer-32", "reformer", 2_176_003, 77.59),
        _row("Lambda", "lambda", 2_175_235, 99.52),
        _row("Lambda + TT", "lambda-tt", 2_569_987, 99.85),
    ),
    data={
        "paper": PresetData(config=_MODE),
        "mini": dataclasses.replace(_MINI, config={**_MINI.config, **_MODE}),
    },
    reference="transformer",
    compared="accuracy",
    columns=(
        Column(
            "accuracy", ("test", "masked_code_accuracy"), "accuracy", 100, lower_is_better=False
        ),
    ),
    note="Accuracy of the masked codes, in percent. Higher is better.\n",
    bound=_bound,
    bound_of_samples=_CEILING,
    describe=_describe,
    named_settings=("mode",),
)
