"""The columns of Centered Square."""

from __future__ import annotations

from typing import Final

from synthprobe_data.dataset import ColumnSpec

COLUMNS: Final = (
    ColumnSpec(
        name="image",
        dtype="uint8",
        dims=("height", "width"),
        role="input",
        meaning="black (0) but for one white pixel (255)",
        export="picture",
    ),
    ColumnSpec(
        name="target",
        dtype="uint8",
        dims=("height", "width"),
        role="target",
        meaning="the ground truth: the white square centred on it",
        export="picture",
    ),
    ColumnSpec(
        name="center",
        dtype="int16",
        dims=(2,),
        role="fact",
        meaning="row and column of the white pixel",
    ),
)
