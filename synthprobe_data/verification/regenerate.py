"""Making rows again, and comparing them with what a file has.

A sample is a function of dataset, version, config, seed, split and index. A row that keeps every
rule may still be another sample than the one that the header of its file states: so every row is
made again, and all of its bytes are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.header import Header

REGENERATED = "regenerated"
"""The name of the check."""
_INDEX_LIMIT = 2**63
_WORD = 8
"""Bytes that are compared at once."""


def why_not_regenerated(header: Header) -> str | None:
    """Why the rows of a file cannot be made again; ``None`` if they can."""
    made_by, ours = header.version, header.dataset.version
    if made_by == ours:
        return None
    return (
        f"not regenerated: made by version {made_by[:40]!r} of {header.dataset.name}, this is "
        f"version {ours!r}; its rows were held to the rules alone."
    )


def differing_rows(
    header: Header, block: Block, row_ids: Sequence[tuple[str, int]]
) -> list[tuple[int, str]]:
    """The rows of a block that are not the samples of their split and index, each with a sentence.

    Parameters
    ----------
    header
        What the file states: dataset, config and seed.
    block
        Rows of the file, decoded, with all of its datasets.
    row_ids
        The split and the index of each row.
    """
    found: list[tuple[int, str]] = []
    for start, stop in _runs(row_ids):
        split, index = row_ids[start]
        try:
            made = _make(header, split, index, stop - start)
        except (SynthprobeError, UnicodeEncodeError) as error:
            sentence = f"it cannot be made again: {str(error).rstrip('.')}."
            found += [(row, sentence) for row in range(start, stop)]
            continue
        differing: dict[int, list[str]] = {}
        for name, column in made.items():
            stored = block[name][start:stop]
            if alike(stored, column):  # nearly always, and the fastest way to know
                continue
            rows = (stored != column).reshape(stop - start, -1).any(axis=1)
            for row in np.flatnonzero(rows).tolist():
                differing.setdefault(row, []).append(name)
        found += [
            (start + row, _sentence(header, *row_ids[start + row], differing[row], len(made)))
            for row in sorted(differing)
        ]
    return found


def alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two arrays of whole numbers are the same (`numpy.array_equal`)."""
    words = a.dtype == b.dtype and a.nbytes % _WORD == 0 and a.size > 0
    if words and a.flags.c_contiguous and b.flags.c_contiguous and a.shape == b.shape:
        return bool(np.array_equal(a.reshape(-1).view(np.uint64), b.reshape(-1).view(np.uint64)))
    return bool(np.array_equal(a, b))


def _make(header: Header, split: str, start: int, count: int) -> Block:
    if start + count > _INDEX_LIMIT:
        raise SynthprobeError(f"no sample has an index beyond {_INDEX_LIMIT - 1}")
    block = header.dataset.generate_block(header.config, header.seed, split, start, count)
    return block


def _runs(row_ids: Sequence[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Spans of rows that follow one another in one split: start and stop."""
    start = 0
    for row in range(1, len(row_ids) + 1):
        if row == len(row_ids) or row_ids[row] != (row_ids[row - 1][0], row_ids[row - 1][1] + 1):
            yield start, row
            start = row


def _sentence(header: Header, split: str, index: int, names: list[str], columns: int) -> str:
    which = "all of its datasets" if len(names) == columns else ", ".join(names)
    verb = "differs" if len(names) == 1 else "differ"
    seed = f" by seed {header.seed}" if header.dataset.drawn else ""
    return f"it keeps the rules, but is not sample {index} of {split!r}{seed}: {which} {verb}."
