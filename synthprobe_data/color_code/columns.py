"""The columns of Color Code."""

from __future__ import annotations

from typing import Final

from synthprobe_data.dataset import ColumnSpec

COLUMNS: Final = (
    ColumnSpec(
        name="color",
        dtype="uint8",
        dims=("positions", 3),
        role="input",
        meaning="red, green and blue of each position",
    ),
    ColumnSpec(
        name="code",
        dtype="uint8",
        dims=("positions", "bits"),
        role="target",
        meaning="the ground truth: the bits of the code of each position, masked ones included",
    ),
    ColumnSpec(
        name="revealed",
        dtype="uint8",
        dims=("positions",),
        role="input",
        meaning="the mask: 1 where the input shows the code, 0 where it must be found",
    ),
    ColumnSpec(
        name="group",
        dtype="uint8",
        dims=("positions",),
        role="fact",
        meaning="which of the colours each position has, from 0",
    ),
)
