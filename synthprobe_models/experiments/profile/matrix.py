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

from synthprobe_models.experiments.profile.facts import Cell, Profile
from synthprobe_models.experiments.profile.page import (
    COLORS,
    left_grid,
    mark,
    outdated_lines,
    rule_text,
    safe,
    untrained,
)
from synthprobe_models.experiments.render import origins
from synthprobe_models.files import replaced, write_text
from synthprobe_models.probes import ability_of
from synthprobe_models.probes.ability import ANSWERS, NOT_TRIED
from synthprobe_models.seeds.interval import interval_of
from synthprobe_models.seeds.rules import RATES

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
    "lower_is_better",
    "seeds",
    "train",
    "test",
    "test_low",
    "test_high",
    "interval_low",
    "interval_high",
    "guess",
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


def _probes(profiles: Sequence[Profile]) -> list[str]:
    """Every probe that one of them was tried on."""
    return list(dict.fromkeys(probe for one in profiles for probe in one.cells))


def _markdown(profiles: Sequence[Profile]) -> str:
    first = profiles[0]
    probes = _probes(profiles)
    abilities = [ability_of(probe) for probe in probes]
    heads = [f"{ability.name} ({ability.brief_heading})" for ability in abilities]
    further = [head for ability in abilities for head in ability.brief_details]
    parameters = [f"parameters, {probe}" for probe in probes]
    rows = [["structure", *heads, *further, *_CHECKS.values(), *parameters]]
    for one in profiles:
        tried = [(probe, one.cells.get(probe)) for probe in probes]
        cells = [_words(probe, cell) for probe, cell in tried]
        cells += [text for probe, cell in tried for text in _further_cells(probe, cell)]
        counts = [_parameters(cell) for _, cell in tried]
        rows.append([one.name, *cells, *_untrained_cells(one), *counts])
    results = [result for one in profiles for cell in one.cells.values() for result in cell.results]
    seeds = max((len(c.results) for one in profiles for c in one.cells.values()), default=0)
    text = [
        "# Structures by abilities",
        "",
        f"Preset `{first.preset}`, {seeds} {'seed' if seeds == 1 else 'seeds'}. The first columns "
        f"were trained, the last ones are checks of an untrained layer. ↑: higher is better, ↓: "
        f"lower is better.",
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
    text += [line for probe in probes for line in (rule_text(probe), "")]
    text += [RATES, ""]
    return "\n".join([*text, *origins(results)]) + "\n"


def _words(probe: str, cell: Cell | None) -> str:
    if cell is None:
        return NOT_TRIED
    if cell.evidence is None:
        failed = cell.outcome.because.startswith("failed")
        return ("failed" if failed else "does not fit") + mark(cell)
    return f"**{cell.outcome.answer}** ({ability_of(probe).brief(cell.evidence)}){mark(cell)}"


def _further_cells(probe: str, cell: Cell | None) -> list[str]:
    further = ability_of(probe).brief_details
    if cell is None or cell.evidence is None:
        return ["-"] * len(further)
    return [say(cell.results) for say in further.values()]


def _parameters(cell: Cell | None) -> str:
    """Of the whole network that was trained, the structure in its frame."""
    return "-" if cell is None or not cell.results else f"{cell.results[0]['parameters']:,}"


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
        name = ability_of(probe).name
        parts.append(f"{name[0].upper()}{name[1:]}: {', '.join(counts)}.")
    return " ".join(parts)


def _csv(profiles: Sequence[Profile]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV)
    for one in profiles:
        for probe, cell in one.cells.items():
            ability, outcome = ability_of(probe), cell.outcome
            start = [one.name, probe, ability.name, outcome.answer, outcome.because]
            measure = [ability.measure, str(not ability.higher_is_better).lower()]
            writer.writerow([*start, *measure, len(cell.results), *_values(cell)])
    return text.getvalue()


def _values(cell: Cell) -> list[Any]:
    found = cell.evidence
    if found is None:
        return [None] * 10
    return [
        statistics.fmean(found.train),
        statistics.fmean(found.test),
        min(found.test),
        max(found.test),
        *(interval_of(found.test) if len(found.test) > 1 else (None, None)),
        found.guess,
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
    abilities = [ability_of(probe) for probe in probes]
    heads = [f"{_broken(a.name)}\n({_broken(a.brief_heading)})" for a in abilities]
    heads += [_broken(head) for head in _CHECKS.values()]
    width, names = 2.0 + 1.75 * len(heads), 1.9
    canvas = Canvas(figsize=(width, 1.6 + 0.27 * len(profiles)))
    FigureCanvasAgg(canvas)
    height = 1 - 1.3 / (1.6 + 0.27 * len(profiles))
    axis = canvas.add_axes((names / width, 0.02, 1 - names / width - 0.01, height))
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
    words = "↑ higher is better\n↓ lower is better"
    axis.annotate(
        words, (0, 0), (-5, 4), textcoords="offset points", ha="right", va="bottom", fontsize=8
    )
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})


def _plain(probe: str, cell: Cell | None) -> str:
    return _words(probe, cell).replace("*", "")


def _color(cell: Cell | None) -> str:
    return COLORS[NOT_TRIED if cell is None or cell.evidence is None else cell.outcome.answer]


def _broken(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 22))
