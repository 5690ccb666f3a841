"""A table as files: Markdown for people, CSV for programs, and a plot."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data import DATASETS
from synthprobe_models.experiments.compared import (
    comparison_cell,
    comparison_note,
    comparisons,
    parameters_note,
    values_of,
)
from synthprobe_models.experiments.rates import FOLDER as RATES
from synthprobe_models.experiments.rates import RateChoice, losses_by_rate, read_choices
from synthprobe_models.experiments.table import Column, Table
from synthprobe_models.files import make_folder, replaced, write_text
from synthprobe_models.seeds.compare import Comparison
from synthprobe_models.seeds.interval import interval_of

if TYPE_CHECKING:
    from synthprobe_models.experiments.table_runs import Line


@dataclass(frozen=True)
class TablePaths:
    """The files of a table."""

    markdown: Path
    csv: Path
    plot: Path


def write_table(
    out: Path, table: Table, size: str, lines: Sequence[Line], *, plot: bool = True
) -> TablePaths:
    """Write a table, complete or not.

    Parameters
    ----------
    out
        The folder.
    table, size
        Which table, and with which preset.
    lines
        Its rows.
    plot
        With the plot, which takes longer than the rest.
    """
    make_folder(out)
    paths = TablePaths(out / "table.md", out / "table.csv", out / "table.png")
    write_text(paths.markdown, _markdown(table, size, lines, read_choices(out / RATES)))
    write_text(paths.csv, _csv(table, lines))
    complete = [line for line in lines if line.results]
    if plot and complete:
        _plot(paths.plot, table, size, complete)
    return paths


def with_spread(values: Sequence[float]) -> str:
    """The mean, and over several seeds half of its interval, the lowest and the highest."""
    mean = f"{statistics.fmean(values):.2f}"
    if len(values) == 1:
        return mean
    low, high = interval_of(values)
    return f"{mean} ± {(high - low) / 2:.2f} ({min(values):.2f} to {max(values):.2f})"


def _markdown(
    table: Table, size: str, lines: Sequence[Line], choices: Mapping[str, RateChoice]
) -> str:
    columns = table.columns
    begun = [
        f"{line.row.title}, seed {seed} ({done})"
        for line in lines
        for seed, done in line.unfinished.items()
    ]
    lines = [line for line in lines if line.results]
    bounded = any(line.bound is not None for line in lines)
    head = ["row"]
    for column in columns:
        head += [f"{column.heading}, here", f"{column.heading}, paper"]
    head += ["at most"] * bounded
    compared = comparisons(table, lines)
    head += [_beside(table)] * bool(compared)
    head += ["parameters, here", "parameters, paper", "epochs", "seeds", "seconds a run"]
    rows = [_cells(line, columns, bounded, compared) for line in lines]
    text = [f"# Table {table.number}, preset `{size}`", "", *grid([head, *rows]), ""]
    text.append(table.note)
    if any(len(line.results) > 1 for line in lines):
        text.append(_SPREAD)
    text += comparison_note(table, lines) + parameters_note(table, lines)
    text += [
        f"† {line.row.title}: {line.outdated}, and not trained again.\n"
        for line in lines
        if line.outdated
    ]
    if begun:
        text.append(f"Not finished: {'; '.join(begun)}.\n")
    if lines:
        described = table.describe(lines[0].results[0]["data"]["config"], lines[0].bound)
        text += [described] if described else []
    results = [result for line in lines for result in line.results]
    text += [f"{sentence}\n" for sentence in trainings(lines)]
    taken = {line.row.key: line.results[0]["settings"].get("rate") for line in lines}
    titles = {line.row.key: line.row.title for line in lines}
    if losses := losses_by_rate(choices, taken, titles):
        text += [_CHOSEN, *grid(losses), ""]
    text += origins(results)
    return "\n".join(text) + "\n"


def title_of(line: Line) -> str:
    """The title of a row, with the options that suit it to the sizes here."""
    options = line.results[0]["settings"]["options"]
    chosen = ", ".join(f"{name} {value}" for name, value in options.items())
    return f"{line.row.title}; here {chosen}" if chosen else line.row.title


_SPREAD: Final = (
    "Over several seeds: the mean ± half of its 95% t-interval (the lowest to the highest).\n"
)


_CHOSEN: Final = (
    "The rate of these rows was chosen without the test samples: it has the least loss (bold) "
    "after a short run with seed 0.\n"
)


def _beside(table: Table) -> str:
    """The head of the column that compares rows."""
    return f"beside {next(row.title for row in table.rows if row.key == table.reference)}"


def _cells(
    line: Line, columns: Sequence[Column], bounded: bool, compared: Mapping[str, Comparison]
) -> list[str]:
    cells = [title_of(line) + (" †" if line.outdated else "")]
    for column in columns:
        published = line.row.published.get(column.published)
        cells.append(with_spread(values_of(column, line)))
        cells.append("-" if published is None else f"{published:.2f}")
    if bounded:
        cells.append("-" if line.bound is None else f"{line.bound:.2f}")
    if compared:
        cells.append(comparison_cell(compared.get(line.row.key)))
    first = line.results[0]
    if not first["parameters"]:  # nothing was trained
        return [*cells, "-", "-", "-", "-", f"{first['seconds']:.0f}"]
    cells.append(f"{first['parameters']:,}")
    cells.append(f"{line.row.parameters:,}" if line.row.parameters else "-")
    cells.append(str(first["settings"]["epochs"]))
    cells.append(", ".join(str(result["settings"]["seed"]) for result in line.results))
    cells.append(f"{statistics.fmean(result['seconds'] for result in line.results):.0f}")
    return cells


def grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells, the head first, as the lines of a table in Markdown."""
    head, *rest = rows
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rest]
    return ["| " + " | ".join(line) + " |" for line in lines]


def trainings(lines: Iterable[Line]) -> list[str]:
    """A sentence for each way in which some rows were trained, and on which samples."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        for result in line.results:
            if result["parameters"]:
                found.setdefault(_how(result), {})[line.row.title] = None
    if len(found) == 1:
        return [f"Trained with {how}" for how in found]
    return [f"{', '.join(titles)}: trained with {how}" for how, titles in found.items()]


def _how(result: Mapping[str, Any]) -> str:
    # Results of earlier versions do not say how many.
    count = f"{result['trained_samples']:,} " if "trained_samples" in result else ""
    return (
        f"{_training(result['settings'])}, on {count}samples with "
        f"{settings_that_differ(result['data'])}; tested on {result['test_samples']:,}."
    )


def _training(settings: Mapping[str, Any]) -> str:
    text = (
        f"{settings['optimizer']} (rate {settings['rate']:g}, schedule {settings['schedule']}, "
        f"weight decay {settings['weight_decay']:g}), loss {settings['loss']}, batches of "
        f"{settings['batch']}"
    )
    if settings.get("precision", "float32") != "float32":
        text += f", forward passes in {settings['precision']}"
    if settings.get("head_bias") is not None:
        text += f", a bias of {settings['head_bias']:g} in the last layer to begin with"
    if settings["queries"] < 1:
        text += (
            f", the loss at {settings['queries']:.4g} of the positions, drawn anew in every step"
        )
    return text


def settings_that_differ(data: Mapping[str, Any]) -> str:
    """The settings of some samples that are not the canonical ones."""
    canonical = DATASETS[data["dataset"]].config()
    chosen = {name: v for name, v in data["config"].items() if v != getattr(canonical, name)}
    return ", ".join(f"{name} {value}" for name, value in chosen.items()) or "canonical settings"


def origins(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each command, commit and machine that some results come from."""
    lines = (
        f"- `{result['command']}`, {_code(result)}, torch {result['torch']}, on: "
        f"{result['machine']}."
        for result in results
    )
    return list(dict.fromkeys(lines))


def _code(result: Mapping[str, Any]) -> str:
    """What code a result was made by: the commit, or of an installed package the version."""
    if result["commit"] is None and result.get("version") is not None:
        return f"synthprobe {result['version']}"
    return f"commit {result['commit']}"


_CSV_END: Final = (
    "bound",
    "parameters",
    "paper_parameters",
    "epochs",
    "seconds",
    "commit",
    "lower_is_better",
    "beside_reference",
    "p",
    "p_corrected",
)


def _csv(table: Table, lines: Sequence[Line]) -> str:
    columns = table.columns
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    titles = [column.published for column in columns]
    writer.writerow(["row", "name", "seed", *titles, *(f"paper_{t}" for t in titles), *_CSV_END])
    compared = comparisons(table, lines)
    lower = " ".join(column.published for column in columns if column.lower_is_better)
    for line in lines:
        values = [values_of(column, line) for column in columns]
        beside = compared.get(line.row.key)
        tests = [None] * 3 if beside is None else [beside.answer, beside.p, beside.corrected]
        for i, result in enumerate(line.results):
            writer.writerow(
                [line.row.title, line.row.name, result["settings"]["seed"]]
                + [value[i] for value in values]
                + [line.row.published.get(title) for title in titles]
                + [line.bound, result["parameters"], line.row.parameters or None]
                + [result["settings"]["epochs"], result["seconds"], result["commit"], lower, *tests]
            )
    return text.getvalue()


def _plot(path: Path, table: Table, size: str, lines: Sequence[Line]) -> None:
    """A bar for what was found here, with a mark for each seed, and one for what was published."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    columns = table.columns
    canvas = Canvas(figsize=(3.6 * len(columns) + 2, 0.55 * len(lines) + 1.4), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    places = range(len(lines))
    for axis, column in zip(axes, columns, strict=True):
        found = [values_of(column, line) for line in lines]
        axis.barh(
            [p - 0.2 for p in places],
            [statistics.fmean(values) for values in found],
            height=0.38,
            color="#0072b2",
            label="here",
        )
        axis.barh(
            [p + 0.2 for p in places],
            [line.row.published.get(column.published) or 0 for line in lines],
            height=0.38,
            color="#e69f00",
            label="paper",
        )
        for place, values in zip(places, found, strict=True):
            axis.plot(values, [place - 0.2] * len(values), "k|", markersize=9)
        axis.set_title(column.heading)
        axis.set_yticks(list(places), [title_of(line) for line in lines], parse_math=False)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    axes[-1].legend(frameon=False)
    config = lines[0].results[0]["data"]["config"]
    title = ", ".join(
        [f"Table {table.number}, preset {size}"]
        + [f"{name} {config[name]}" for name in table.named_settings]
    )
    words = {True: "↓ lower is better", False: "↑ higher is better"}
    better = dict.fromkeys(words[column.lower_is_better] for column in columns)
    canvas.suptitle(f"{title} ({', '.join(better)})")
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})
