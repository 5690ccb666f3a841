"""The columns of RDE."""

from __future__ import annotations

from typing import Final

from synthprobe_data.dataset import ColumnSpec

COLUMNS: Final = (
    ColumnSpec(
        name="image",
        dtype="uint8",
        dims=("height", "width", 3),
        role="input",
        meaning="the blurred picture",
        fill=None,
        lines_repeat=True,
        export="picture",
    ),
    ColumnSpec(
        name="rank",
        dtype="uint8",
        dims=("height", "width"),
        role="target",
        meaning="the ground truth; 0 is the background",
        fill=None,
        lines_repeat=True,
        export="picture",
    ),
    ColumnSpec(
        name="label",
        dtype="uint8",
        dims=("height", "width"),
        role="fact",
        meaning="0 for the background, k for the k-th placed rectangle, from 1",
        fill=None,
        lines_repeat=True,
        export="no",
    ),
    ColumnSpec(
        name="n_rectangles",
        dtype="uint8",
        role="fact",
        meaning="how many were placed",
    ),
    ColumnSpec(
        name="rectangles",
        dtype="int16",
        dims=("n_rectangles", 4),
        role="fact",
        meaning="x0, y0, x1, y1 in placement order; -1 where unused",
        fill=-1,
    ),
    ColumnSpec(
        name="color",
        dtype="uint8",
        dims=("n_rectangles",),
        role="fact",
        meaning="row of the attribute `palette`, or of the column `palette` where there is one",
    ),
    ColumnSpec(
        name="palette",
        dtype="uint8",
        dims=("n_rectangles", 3),
        role="fact",
        meaning="red, green and blue of the colours that this picture drew",
        only_if="random_palette",
    ),
    ColumnSpec(
        name="rectangle_rank",
        dtype="uint8",
        dims=("n_rectangles",),
        role="fact",
        meaning="the rank of each rectangle; 0 where unused",
    ),
    ColumnSpec(
        name="above",
        dtype="uint8",
        dims=("n_rectangles", "n_rectangles"),
        role="fact",
        meaning="row above column: bit 0 by a T-junction, bit 1 by convexity",
    ),
    ColumnSpec(
        name="convexity_only",
        dtype="uint16",
        role="fact",
        meaning="pairs that convexity orders, and no T-junction",
        only_if="difficulty",
    ),
    ColumnSpec(
        name="cue_distance",
        dtype="uint16",
        role="fact",
        meaning="pixels from a visible pixel to the nearest cue of its rectangle, at most",
        only_if="difficulty",
    ),
    ColumnSpec(
        name="depth",
        dtype="uint8",
        role="fact",
        meaning="the highest rank",
        only_if="difficulty",
    ),
    ColumnSpec(
        name="pieces",
        dtype="uint16",
        dims=("n_rectangles",),
        role="fact",
        meaning="in how many pieces each rectangle shows; 0 where unused",
        only_if="difficulty",
    ),
)

DIFFICULTY: Final = tuple(column for column in COLUMNS if column.only_if == "difficulty")
"""How hard a sample is; stored on demand, and always to be computed."""
