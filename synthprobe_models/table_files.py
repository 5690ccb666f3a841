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
from synthprobe_models.checkpoint import make_folder, replaced

if TYPE_CHECKING:
    from synthprobe_models.table_runs import Line


@dataclass(frozen=True)
class Figure:
    """One figure of a table."""

    title: str
    """As the head of its column."""
    path: tuple[str, ...]
    """Where it stands in the result of a run."""
    published: str
    """Its name among the published figures of a row."""
    times: float
    """What it is multiplied by, as in the paper."""
    lower_is_better: bool = True

    @property
    def heading(self) -> str:
        """Its title, with an arrow to where it is better."""
        return f"{self.title} {'↓' if self.lower_is_better else '↑'}"


FIGURES: Final[dict[int, tuple[Figure, ...]]] = {
    1: (
        Figure("test loss", ("test", "loss"), "loss", 1),
        Figure("gen. gap", ("gap",), "gap", 1),
        Figure("Ord", ("test", "ord"), "ord", 100),
        Figure("pixels off by > 1.25", ("test", "delta"), "delta_1.25", 100),
        Figure("RMSE", ("test", "rmse"), "rmse", 100),
    ),
    2: (
        Figure("train IOU", ("train", "iou"), "train_iou", 100, lower_is_better=False),
        Figure("test IOU", ("test", "iou"), "test_iou", 100, lower_is_better=False),
    ),
    3: (
        Figure(
            "accuracy", ("test", "masked_code_accuracy"), "accuracy", 100, lower_is_better=False
        ),
    ),
}
"""By the number of a table: its figures, in the order of the paper."""


@dataclass(frozen=True)
class TablePaths:
    """The files of a table."""

    markdown: Path
    csv: Path
    plot: Path


def write_table(
    out: Path, number: int, size: str, lines: Sequence[Line], *, plot: bool = True
) -> TablePaths:
    """Write a table, complete or not.

    Parameters
    ----------
    out
        The folder.
    number, size
        Which table, and with which preset.
    lines
        Its rows.
    plot
        With the plot, which takes longer than the rest.
    """
    make_folder(out)
    paths = TablePaths(out / "table.md", out / "table.csv", out / "table.png")
    write_text(paths.markdown, _markdown(number, size, lines))
    write_text(paths.csv, _csv(number, lines))
    complete = [line for line in lines if line.results]
    if plot and complete:
        _plot(paths.plot, number, size, complete)
    return paths


def figures_of(figure: Figure, line: Line) -> list[float]:
    """A figure of a row, for each seed, scaled as in the paper."""
    values = []
    for result in line.results:
        value: Any = result
        for name in figure.path:
            value = value[name]
        values.append(float(value) * figure.times)
    return values


def with_spread(values: Sequence[float]) -> str:
    """The mean, and over several seeds the lowest and the highest."""
    mean = f"{statistics.fmean(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.2f} to {max(values):.2f})"


def _markdown(number: int, size: str, lines: Sequence[Line]) -> str:
    figures = FIGURES[number]
    begun = [
        f"{line.row.title}, seed {seed} ({done})"
        for line in lines
        for seed, done in line.unfinished.items()
    ]
    lines = [line for line in lines if line.results]
    bounded = any(line.bound is not None for line in lines)
    head = ["row"]
    for figure in figures:
        head += [f"{figure.heading}, here", f"{figure.heading}, paper"]
    head += ["at most"] * bounded
    head += ["parameters, here", "parameters, paper", "epochs", "seeds", "seconds a run"]
    rows = [_cells(line, figures, bounded) for line in lines]
    text = [f"# Table {number}, preset `{size}`", "", *grid([head, *rows]), ""]
    text.append(_SCALES[number])
    text += [
        f"† {line.row.title}: {line.outdated}, and not trained again.\n"
        for line in lines
        if line.outdated
    ]
    if begun:
        text.append(f"Not finished: {'; '.join(begun)}.\n")
    if number == 3 and lines:
        text.append(_codes(lines[0]))
    results = [result for line in lines for result in line.results]
    text += [f"{sentence}\n" for sentence in trainings(lines)]
    text += origins(results)
    return "\n".join(text) + "\n"


_SCALES: Final = {
    1: (
        "Lower is better in every column. *Pixels off by > 1.25* is the share of pixels that are "
        "off by a factor of more than 1.25, the paper's δ1.25; what others call δ1.25 is the share "
        "of those that are not. It, Ord (pairs of pixels in the wrong order) and RMSE are "
        "multiplied by 100; losses are as they are. (The paper says that all of its figures are "
        "multiplied by 100; beside its RMSE a rooted loss cannot be so small, so its losses are "
        "read as they are, too.)\n"
    ),
    2: "In percent. Higher is better.\n",
    3: "Accuracy of the masked codes, in percent. Higher is better.\n",
}


def _codes(line: Line) -> str:
    """What Color Code samples a table is made with, and what can be reached on them."""
    config = line.results[0]["data"]["config"]
    reached = "all masked codes can be found"
    if line.bound is not None and line.bound < 100:
        reached = (
            f"the best possible solver is expected to find {line.bound:.2f}% of the masked codes, "
            f"as a colour may be revealed nowhere"
        )
    return (
        f"The samples have {config['positions']} positions and {config['colors']} colours and are "
        f"drawn in the mode `{config['mode']}`: {reached}.\n"
    )


def title_of(line: Line) -> str:
    """The title of a row, with the options that suit it to the sizes here."""
    options = line.results[0]["settings"]["options"]
    chosen = ", ".join(f"{name} {value}" for name, value in options.items())
    return f"{line.row.title}; here {chosen}" if chosen else line.row.title


def _cells(line: Line, figures: Sequence[Figure], bounded: bool) -> list[str]:
    cells = [title_of(line) + (" †" if line.outdated else "")]
    for figure in figures:
        published = line.row.figures.get(figure.published)
        cells.append(with_spread(figures_of(figure, line)))
        cells.append("-" if published is None else f"{published:.2f}")
    if bounded:
        cells.append("-" if line.bound is None else f"{line.bound:.2f}")
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
)


def _csv(number: int, lines: Sequence[Line]) -> str:
    figures = FIGURES[number]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    titles = [figure.published for figure in figures]
    writer.writerow(["row", "name", "seed", *titles, *(f"paper_{t}" for t in titles), *_CSV_END])
    lower = " ".join(figure.published for figure in figures if figure.lower_is_better)
    for line in lines:
        values = [figures_of(figure, line) for figure in figures]
        for i, result in enumerate(line.results):
            writer.writerow(
                [line.row.title, line.row.name, result["settings"]["seed"]]
                + [value[i] for value in values]
                + [line.row.figures.get(title) for title in titles]
                + [line.bound, result["parameters"], line.row.parameters or None]
                + [result["settings"]["epochs"], result["seconds"], result["commit"], lower]
            )
    return text.getvalue()


def _plot(path: Path, number: int, size: str, lines: Sequence[Line]) -> None:
    """A bar for what was found here, with a mark for each seed, and one for what was published."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    figures = FIGURES[number]
    canvas = Canvas(figsize=(3.6 * len(figures) + 2, 0.55 * len(lines) + 1.4), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(1, len(figures), sharey=True, squeeze=False)[0]
    places = range(len(lines))
    for axis, figure in zip(axes, figures, strict=True):
        found = [figures_of(figure, line) for line in lines]
        axis.barh(
            [p - 0.2 for p in places],
            [statistics.fmean(values) for values in found],
            height=0.38,
            color="#0072b2",
            label="here",
        )
        axis.barh(
            [p + 0.2 for p in places],
            [line.row.figures.get(figure.published) or 0 for line in lines],
            height=0.38,
            color="#e69f00",
            label="paper",
        )
        for place, values in zip(places, found, strict=True):
            axis.plot(values, [place - 0.2] * len(values), "k|", markersize=9)
        axis.set_title(figure.heading)
        axis.set_yticks(list(places), [title_of(line) for line in lines], parse_math=False)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    axes[-1].legend(frameon=False)
    title = f"Table {number}, preset {size}"
    if number == 3:
        title += f", mode {lines[0].results[0]['data']['config']['mode']}"
    words = {True: "↓ lower is better", False: "↑ higher is better"}
    better = dict.fromkeys(words[figure.lower_is_better] for figure in figures)
    canvas.suptitle(f"{title} ({', '.join(better)})")
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    with replaced(path) as part:
        part.write_text(text, encoding="utf-8")
