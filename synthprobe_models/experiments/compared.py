"""What a table says of its rows beside one another: who is better, and with how many parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from synthprobe_models.experiments.table import Column, Table
from synthprobe_models.seeds.compare import RATES, TOO_FEW, Comparison, compare_rows

if TYPE_CHECKING:
    from synthprobe_models.experiments.table_runs import Line

ALIKE: Final = 0.02
"""Parameters that differ by no more than this share count as equal."""


def values_of(column: Column, line: Line) -> list[float]:
    """A column of a row, for each seed, scaled as in the paper."""
    values = []
    for result in line.results:
        value: object = result
        for name in column.path:
            assert isinstance(value, dict)
            value = value[name]
        values.append(float(value) * column.times)  # type: ignore[arg-type]
    return values


def comparisons(table: Table, lines: Sequence[Line]) -> dict[str, Comparison]:
    """By key: every trained row compared with the reference of the table, where it is there."""
    column = compared_column(table)
    if column is None:
        return {}
    rows = {line.row.key: values_of(column, line) for line in trained(lines)}
    return compare_rows(rows, table.reference, lower_is_better=column.lower_is_better)


def comparison_cell(found: Comparison | None) -> str:
    """What a table says of a row."""
    if found is None:
        return "-"
    if found.answer == TOO_FEW:
        return f"{found.answer} ({found.needed} needed)"
    return f"{found.answer} (p {found.corrected:.2g})"


def comparison_note(table: Table, lines: Sequence[Line]) -> list[str]:
    """How the rows were compared, as a paragraph, if any were."""
    column = compared_column(table)
    if column is None or not comparisons(table, lines):
        return []
    return [f"*Beside {_reference(table)}*: {column.title} {RATES}.\n"]


def parameters_note(table: Table, lines: Sequence[Line]) -> list[str]:
    """Which rows have other numbers of parameters than the reference, as a paragraph."""
    counts = {line.row.key: line.results[0]["parameters"] for line in trained(lines)}
    base = counts.get(table.reference)
    if base is None or len(counts) < 2:
        return []
    shares = {
        line.row.title: counts[line.row.key] / base - 1
        for line in trained(lines)
        if line.row.key != table.reference
    }
    others = [f"{title} ({share:+.1%})" for title, share in shares.items() if abs(share) > ALIKE]
    named = _reference(table)
    if not others:
        return [f"All rows have as many parameters as {named}, within {ALIKE:.0%}.\n"]
    return [
        f"Not as many parameters as {named} within {ALIKE:.0%}, so that a difference may be one of "
        f"size: {', '.join(others)}.\n"
    ]


def compared_column(table: Table) -> Column | None:
    """The column in which rows are compared, if they are."""
    found = (column for column in table.columns if column.published == table.compared)
    return next(found, None)


def trained(lines: Sequence[Line]) -> list[Line]:
    """The rows of networks that have results."""
    return [line for line in lines if line.results and line.results[0]["parameters"]]


def _reference(table: Table) -> str:
    return next(row.title for row in table.rows if row.key == table.reference)
