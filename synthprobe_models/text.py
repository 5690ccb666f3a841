"""Text for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def columns(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Rows of cells as lines, in columns of which some are aligned at the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    aligned = set(right)
    return [
        "  ".join(
            cell.rjust(width) if k in aligned else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
