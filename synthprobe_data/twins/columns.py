"""The columns of twins: those of RDE, of the whole picture, and what makes two samples twins."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from synthprobe_data.dataset import ColumnSpec
from synthprobe_data.rde.columns import COLUMNS as SCENE_COLUMNS

_WHOLE: Final = {"height": "picture_height", "n_rectangles": "most_rectangles"}
"""By settings of a scene: those of a picture, which may have several scenes as bands."""


def _of_whole_picture(column: ColumnSpec) -> ColumnSpec:
    dims = tuple(_WHOLE.get(d, d) if isinstance(d, str) else d for d in column.dims)
    # Bands are low: what is said of codes first takes more than lines that repeat would save.
    return replace(column, dims=dims, lines_repeat=False)


_SCENE: Final = tuple(map(_of_whole_picture, SCENE_COLUMNS))
_INPUT_AND_TARGET: Final = 2

COLUMNS: Final = (
    *_SCENE[:_INPUT_AND_TARGET],
    ColumnSpec(
        name="distance",
        dtype="uint16",
        dims=("picture_height", "width"),
        role="fact",
        meaning="information distance where a pixel counts; 0 elsewhere",
        export="picture",
    ),
    ColumnSpec(
        name="pair",
        dtype="uint8",
        dims=(2,),
        role="fact",
        meaning="the rows of `rectangles` that are exchanged; one rectangle is first in both",
    ),
    *_SCENE[_INPUT_AND_TARGET:],
)
