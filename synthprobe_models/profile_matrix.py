"""The matrix of structures by abilities, as files."""

from __future__ import annotations

import csv
import io
import statistics
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_models.abilities import ABILITIES, ANSWERS, NOT_TRIED, Evidence, way_to_all
from synthprobe_models.checkpoint import replaced
from synthprobe_models.profile_facts import Cell, Profile
from synthprobe_models.profile_page import (
    COLORS,
    left_grid,
    mark,
    outdated_lines,
    rule_text,
    safe,
    untrained,
)
from synthprobe_models.table_files import origins, write_text

MATRIX: Final = "matrix.md"
"""The name of its page."""
_CHECKS: Final = {
    "one layer sees all positions": "sees all, untrained",
    "translation covariant": "translation covariant, untrained",
    "permutation equivariant": "permutation equivariant, untrained",
}
"""By what `untrained` calls them: the heads of their columns."""
_CSV: Final = (
    "structure",
    "probe",
    "ability",
    "answer",
    "because",
    "measure",
    "seeds",
    "train",
    "test",
    "test_low",
    "test_high",
    "guess",
    "baseline",
    "parameters",
    "seconds",
    "commit",
)


@dataclass(frozen=True)
class MatrixPaths:
    """The files of a matrix."""

    markdown: Path
    csv: Path
    figure: Path


def write_matrix(out: Path, profiles: Sequence[Profile]) -> MatrixPaths:
    """Write the matrix of some profiles, one row for each."""
    paths = MatrixPaths(out / MATRIX, out / "matrix.csv", out / "matrix.png")
    write_text(paths.csv, _csv(profiles))
    _figure(paths.figure, profiles)
    write_text(paths.markdown, _markdown(profiles))
    return paths


def short(probe: str, found: Evidence) -> str:
    """The means that an answer rests on, as short as can be."""
    test = statistics.fmean(found.test)
    if probe == "rde":
        return f"{100 * test:.2f} / {100 * statistics.fmean(found.baseline):.2f}"
    if probe == "centered-square":
        return f"{statistics.fmean(found.train):.0%} / {test:.0%}"
    way = way_to_all(found)
    return f"{test:.0%}" if way is None else f"{test:.0%}, {way:.0%} of the way"


_SHORT: Final = {
    "rde": "100 RMSE, with it / baseline",
    "centered-square": "IOU, where trained / elsewhere",
    "color-code": "masked codes found, and of the way from guessing to all",
}


def _probes(profiles: Sequence[Profile]) -> list[str]:
    """Every probe that one of them was tried on."""
    return list(dict.fromkeys(probe for one in profiles for probe in one.cells))


def _markdown(profiles: Sequence[Profile]) -> str:
    first = profiles[0]
    probes = _probes(profiles)
    heads = [f"{ABILITIES[probe].name} ({_SHORT[probe]})" for probe in probes]
    rows = [["structure", *heads, *_CHECKS.values()]]
    for one in profiles:
        cells = [_words(probe, one.cells.get(probe)) for probe in probes]
        rows.append([one.name, *cells, *_untrained_cells(one)])
    results = [
        result
        for one in profiles
        for cell in one.cells.values()
        for result in (*cell.results, *cell.baseline)
    ]
    seeds = max((len(c.results) for one in profiles for c in one.cells.values()), default=0)
    text = [
        "# Structures by abilities",
        "",
        f"Preset `{first.preset}`, {seeds} {'seed' if seeds == 1 else 'seeds'}. The first columns "
        f"were trained, the last ones are checks of an untrained layer.",
        "",
        "![Structures by abilities](matrix.png)",
        "",
        *left_grid(rows),
        "",
        *outdated_lines(profiles),
    ]
    failed = [
        f"- {one.name}, {probe}: {safe(cell.outcome.because)}."
        for one in profiles
        for probe, cell in one.cells.items()
        if cell.outcome.because.startswith("failed")
    ]
    text += ["What failed:", "", *failed, ""] if failed else []
    text += [f"**Count of answers.** {_counts(profiles)}", "", "## How the answers were found", ""]
    text += [line for probe in probes for line in (rule_text(ABILITIES[probe]), "")]
    return "\n".join([*text, *origins(results)]) + "\n"


def _words(probe: str, cell: Cell | None) -> str:
    if cell is None:
        return NOT_TRIED
    if cell.evidence is None:
        failed = cell.outcome.because.startswith("failed")
        return ("failed" if failed else "does not fit") + mark(cell)
    return f"**{cell.outcome.answer}** ({short(probe, cell.evidence)}){mark(cell)}"


def _untrained_cells(one: Profile) -> list[str]:
    if one.inspection is None:
        return ["failed"] * len(_CHECKS)
    checks = untrained(one.inspection)
    return [checks[name].partition(" (")[0] for name in _CHECKS]


_COUNTED: Final = {NOT_TRIED: "that do not fit or failed"}


def _counts(profiles: Sequence[Profile]) -> str:
    parts = []
    for probe in _probes(profiles):
        answers = [one.cells[probe].outcome.answer for one in profiles if probe in one.cells]
        counts = [f"{answers.count(a)} {_COUNTED.get(a, a)}" for a in ANSWERS if a in answers]
        parts.append(f"{ABILITIES[probe].name[0].upper()}{ABILITIES[probe].name[1:]}: ")
        parts[-1] += ", ".join(counts) + "."
    return " ".join(parts)


def _csv(profiles: Sequence[Profile]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV)
    for one in profiles:
        for probe, cell in one.cells.items():
            ability, outcome = ABILITIES[probe], cell.outcome
            start = [one.name, probe, ability.name, outcome.answer, outcome.because]
            writer.writerow([*start, ability.measure, len(cell.results), *_values(cell)])
    return text.getvalue()


def _values(cell: Cell) -> list[Any]:
    found = cell.evidence
    if found is None:
        return [None] * 9
    return [
        statistics.fmean(found.train),
        statistics.fmean(found.test),
        min(found.test),
        max(found.test),
        found.guess,
        statistics.fmean(found.baseline) if found.baseline else None,
        cell.results[0]["parameters"],
        statistics.fmean(result["seconds"] for result in cell.results),
        cell.results[0]["commit"],
    ]


def _figure(path: Path, profiles: Sequence[Profile]) -> None:
    """A table whose cells have the colours of the answers."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Rectangle

    probes = _probes(profiles)
    heads = [f"{_broken(ABILITIES[probe].name)}\n({_broken(_SHORT[probe])})" for probe in probes]
    heads += [_broken(head) for head in _CHECKS.values()]
    canvas = Canvas(figsize=(2.0 + 1.75 * len(heads), 1.6 + 0.27 * len(profiles)))
    FigureCanvasAgg(canvas)
    axis = canvas.add_axes((0.16, 0.02, 0.83, 1 - 1.3 / (1.6 + 0.27 * len(profiles))))
    for row, one in enumerate(profiles):
        tried = [one.cells.get(probe) for probe in probes]
        cells = [(_plain(*pair), _color(pair[1])) for pair in zip(probes, tried, strict=True)]
        cells += [(text, "#ffffff") for text in _untrained_cells(one)]
        for column, (text, color) in enumerate(cells):
            axis.add_patch(Rectangle((column, row), 1, 1, facecolor=color, edgecolor="#bbbbbb"))
            axis.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=7.5)
    axis.set_xlim(0, len(heads))
    axis.set_ylim(len(profiles), 0)
    axis.set_yticks([row + 0.5 for row in range(len(profiles))], [one.name for one in profiles])
    axis.set_xticks([column + 0.5 for column in range(len(heads))], heads, fontsize=8)
    axis.tick_params(length=0, labeltop=True, labelbottom=False)
    axis.spines[:].set_visible(False)
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})


def _plain(probe: str, cell: Cell | None) -> str:
    return _words(probe, cell).replace("*", "")


def _color(cell: Cell | None) -> str:
    return COLORS[NOT_TRIED if cell is None or cell.evidence is None else cell.outcome.answer]


def _broken(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 22))
