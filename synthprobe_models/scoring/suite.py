"""Scoring on a suite: one table of what was learnt once, over test splits of several settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthprobe_data import SynthprobeError, read_suite
from synthprobe_models.metrics import METRICS
from synthprobe_models.scoring.report import alignment, score_facts
from synthprobe_models.scoring.score import Score, score
from synthprobe_models.text import columns


@dataclass(frozen=True, kw_only=True)
class SuiteRow:
    """What something scores on one member of a suite."""

    member: str
    meaning: str
    score: Score | None
    cannot: str | None = None
    """Why there is no score, such as a structure that is tied to one size of pictures."""


def score_suite(what: Any, *, on: str | Path, **options: Any) -> list[SuiteRow]:
    """Score anything on each member of a suite, all of them aligned alike.

    Parameters
    ----------
    what, options
        As for `synthprobe_models.scoring.score.score`. The alignment is by scale and shift unless
        another one is asked for, as members have ranks on scales of their own.
    on
        The folder of the suite.

    Notes
    -----
    What cannot be given the first member, whose settings are those of the training, is refused; a
    later one that it cannot be given has a row that says why.
    """
    suite = read_suite(on)
    options = {**options, "split": suite.split}
    rows: list[SuiteRow] = []
    for entry in suite.members:
        found, cannot = None, None
        try:
            found = score(what, on=Path(on) / entry.file, **options)
        except SynthprobeError as error:
            if not rows:
                raise
            cannot = str(error)
        rows.append(SuiteRow(member=entry.name, meaning=entry.meaning, score=found, cannot=cannot))
    return rows


def suite_table(rows: Sequence[SuiteRow]) -> list[tuple[str, ...]]:
    """The table: a row for each member, beneath a heading; a column for each metric."""
    first = rows[0].score
    assert first is not None  # otherwise it was refused
    names = list(first.metrics)
    arrows = {name: "↑" if METRICS[name].higher_is_better else "↓" for name in names}
    heads = tuple(f"{METRICS[name].title} {arrows[name]}" for name in names)
    table = [("member", "samples", *heads)]
    for row in rows:
        if row.score is None:
            table.append((row.member, "cannot", *("-" for _ in names)))
            continue
        metrics = row.score.metrics
        cells = (f"{metrics[name]:.4g}" if name in metrics else "-" for name in names)
        table.append((row.member, f"{row.score.samples:,}", *cells))
    return table


def suite_lines(name: str, rows: Sequence[SuiteRow]) -> list[str]:
    """The table for a terminal, and what a reader must know of it."""
    first = rows[0].score
    assert first is not None
    table = suite_table(rows)
    lines = [f"{name}, aligned: {alignment(first)}"]
    lines += columns(table, right=tuple(range(1, len(table[0]))))
    lines += [f"{row.member}: {row.cannot}" for row in rows if row.cannot is not None]
    return lines


def suite_facts(rows: Sequence[SuiteRow], command: str | None = None) -> list[dict[str, Any]]:
    """All that the scores say, as plain JSON values, without those of every sample."""
    facts = []
    for row in rows:
        about: dict[str, Any] = {"member": row.member, "meaning": row.meaning}
        if row.score is None:
            facts.append({**about, "cannot": row.cannot})
            continue
        found = score_facts(row.score, command)
        facts.append({**about, **{name: found[name] for name in found if name != "values"}})
    return facts
