"""Files with selected samples of a dataset: where they are from, and which they are.

All other files have consecutive samples of each split, from ``index_start`` on. A file with
selected ones has three things more:

- the dataset ``index``, i64 (n): the index of each sample within its split, ascending there;
- the attribute ``selected_from``: the content digest of the dataset that they were taken from;
- the attribute ``selection``: in words, which ones were taken.

``index`` is a dataset as the others are, and part of the content digest. In ``index_start`` stands
the first index of each split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import h5py
import numpy as np

from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.chunks import decode_rows
from synthprobe_data.shards.layout import Column

INDEX: Final = Column("index", np.dtype(np.int64), ())
INDEX_MEANING: Final = "which sample of its split it is, from 0"
SELECTED_FROM: Final = "selected_from"
SELECTION: Final = "selection"
MAX_TEXT: Final = 20_000
_ROWS_AT_ONCE: Final = 2**20
# No line breaks, nothing that a terminal obeys, and nothing that ends a text in Markdown.
_TEXT: Final = re.compile(rf"[ -_a-~]{{1,{MAX_TEXT}}}")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Where the samples of a file were taken from."""

    selected_from: str
    """The content digest of the dataset that they are from."""
    selection: str
    """Which ones were taken, in words."""

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-f]{64}", self.selected_from):
            raise SynthprobeError(f"its {SELECTED_FROM} is not a SHA-256.")
        if not _TEXT.fullmatch(self.selection):
            raise SynthprobeError(f"its {SELECTION} is not a line of plain text.")

    def attributes(self) -> dict[str, str]:
        """What the file says about it."""
        return {SELECTED_FROM: self.selected_from, SELECTION: self.selection}


def with_index(columns: list[Column]) -> list[Column]:
    """The columns of a file with selected samples."""
    return sorted([*columns, INDEX], key=lambda column: column.name)


def check_indices(
    stored: h5py.Dataset, splits: Mapping[str, tuple[int, int]], index_start: Mapping[str, int]
) -> None:
    """Raise `SynthprobeError` unless the indices of each split ascend from where they start."""
    for name, (first, stop) in splits.items():
        last = index_start[name] - 1
        for start in range(first, stop, _ROWS_AT_ONCE):
            rows = decode_rows(stored, INDEX, start, min(start + _ROWS_AT_ONCE, stop))
            if start == first and rows[0] != index_start[name]:
                raise SynthprobeError("its index does not begin as its index_start says.")
            if rows[0] <= last or (rows[1:] <= rows[:-1]).any():
                raise SynthprobeError(f"its index does not ascend in {name[:40]!r}.")
            last = int(rows[-1])


def column_meanings(dataset: Dataset) -> dict[str, str]:
    """What the columns of a file are, by their names, also those that only some files have."""
    return {column.name: column.meaning for column in dataset.columns} | {INDEX.name: INDEX_MEANING}
