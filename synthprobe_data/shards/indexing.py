"""Which samples are meant: by slices, lists, arrays and masks, or texts such as 1,5,10-20."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.text import counted

MAX_LISTED: Final = 500
"""Characters of a list of rows; of a longer one only the ends are written."""


def positions(index: Any, length: int, name: str) -> NDArray[np.int64]:
    """The positions of these samples, from 0, as NumPy would find them.

    Parameters
    ----------
    index
        A slice, a mask with one entry for each sample, or whole numbers, negative ones counted from
        the end. `IndexError` if it is none of them, or out of bounds.
    length
        The number of samples.
    name
        Of what they are, for the sentence.
    """
    if isinstance(index, slice):
        return np.arange(*index.indices(length), dtype=np.int64)
    try:
        found = np.asarray(index)
    except ValueError:  # lists of different lengths
        found = np.empty((0, 0))
    if found.ndim == 1 and found.size == 0:
        found = found.astype(np.int64) if found.dtype != bool or length else found
    if found.ndim != 1 or found.dtype.kind not in "biu":
        raise IndexError(
            f"samples of {name} are named by whole numbers, a slice, a mask, or a list of them"
        )
    if found.dtype == bool:
        if len(found) != length:
            raise IndexError(
                f"{name} has {counted(length, 'sample')}, and the mask {len(found)} entries"
            )
        return np.flatnonzero(found)
    outside = (found < -length) | (found >= length)
    if outside.any():
        raise IndexError(f"{name} has {counted(length, 'sample')}, none at {found[outside][0]}")
    numbers = found.astype(np.int64)
    return np.where(numbers < 0, numbers + length, numbers)


def parse_rows(text: str) -> list[range]:
    """The rows of a text such as ``1,5,10-20``, in which both ends count."""
    spans = []
    for word in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?", word, re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if last < first:
            raise SynthprobeError(
                f"rows has {word.strip()[:40]!r}: write numbers and ranges, such as 1,5,10-20."
            )
        spans.append(range(first, last + 1))
    return spans


def rows_text(rows: Sequence[int] | NDArray[np.int64]) -> str:
    """Ascending rows as such a text; of very many ranges only the first and the last."""
    numbers = np.asarray(rows, np.int64)
    if not len(numbers):
        return ""
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    firsts = numbers[np.concatenate([[0], breaks + 1])]
    lasts = numbers[np.concatenate([breaks, [len(numbers) - 1]])]
    if len(firsts) > MAX_LISTED:  # no need to write what is cut out
        return f"{firsts[0]},...,{lasts[-1]} ({counted(len(numbers), 'row')})"
    spans = [f"{a}" if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True)]
    text = ",".join(spans)
    if len(text) <= MAX_LISTED:
        return text
    return f"{spans[0]},...,{spans[-1]} ({counted(len(numbers), 'row')})"
