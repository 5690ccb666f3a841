"""Networks drawn from design spaces, trained on twins, and the page on their errors."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError
from synthprobe_models.data.source import open_source
from synthprobe_models.experiments.designs.distribution import compare, distribution
from synthprobe_models.experiments.designs.spaces import (
    PARAMETERS,
    Design,
    Space,
    draw_design,
    find_space,
)
from synthprobe_models.experiments.render import grid, origins
from synthprobe_models.experiments.samples import data_file
from synthprobe_models.files import make_folder, plain_json, replaced, write_text
from synthprobe_models.probes import PROBES
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.training.parallel import Plan, finished_runs
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import DivergedError, Machine

PROBE: Final = PROBES["twins"]
MEASURES: Final = ("far_accuracy", "near_accuracy")
"""Whose error is looked at; the first by default."""
MODELS: Final = 100
SAMPLES: Final = 8_000
STEM: Final = 12
ERRORS: Final = 101
"""Points of a curve."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is sampled and trained."""

    spaces: tuple[str, ...]
    models: int = MODELS
    samples: int = SAMPLES
    seed: int = 0
    parameters: tuple[int, int] = PARAMETERS
    measure: str = MEASURES[0]

    def __post_init__(self) -> None:
        """Raise `SynthprobeError` for the first thing that is wrong."""
        for name in self.spaces:
            find_space(name)
        if len(set(self.spaces)) < 2:
            raise SynthprobeError("name two design spaces or more: they are compared.")
        for name in ("models", "samples"):
            if getattr(self, name) < 2:
                raise SynthprobeError(f"{name} is {getattr(self, name)}: it must be at least 2.")
        if self.measure not in MEASURES:
            raise SynthprobeError(
                f"there is no measure {self.measure!r}: take one of {', '.join(MEASURES)}."
            )
        low, high = self.parameters
        if not 0 < low <= high:
            raise SynthprobeError(f"parameters is {low}..{high}: it must go from 1 upwards.")


def run_study(
    study: Study,
    out: Path,
    *,
    work: Path,
    jobs: int = 1,
    machine: Machine | None = None,
    command: str | None = None,
) -> Path:
    """Train what is missing, and write the page; what is complete is kept.

    Parameters
    ----------
    study
        What is sampled.
    out
        For the page, the figure, the table and the result of every run.
    work
        For data and runs, which need not be kept.
    jobs, machine, command
        As for `synthprobe_models.training.parallel.finished_runs`.
    """
    drawn = {
        (name, index): draw_design(find_space(name), study.seed, index, PROBE, study.parameters)
        for index in range(study.models)
        for name in dict.fromkeys(study.spaces)
    }
    for name in study.spaces:
        make_folder(out / "runs" / name)
    preset = PROBE.preset("quick")
    sizes = {"train": study.samples, "validation": 0, "test": 1_000}
    data = data_file("twins", PresetData(sizes=sizes), work / "data", f"-{study.samples}")
    source = open_source(data, probe="twins")
    plans = []
    for (name, index), design in drawn.items():
        settings = TrainSettings(
            **{
                **preset,
                "width": STEM,
                "name": "anynet",
                "probe": "twins",
                "seed": index,
                "options": design.options,
            }
        )
        path = result_path(out, name, index)
        if path.exists():
            _check_same(path, settings, source.facts.to_dict())
            continue
        folder = work / name / f"{index:04d}"
        label = f"{name}, design {index + 1} of {study.models}"
        plans.append(Plan(settings=settings, source=source, out=folder, label=label))
    done: set[Path] = set()
    try:
        for plan, result in finished_runs(plans, jobs=jobs, machine=machine, command=command):
            path = result_path(out, plan.out.parent.name, plan.settings.seed)
            write_text(path, plain_json(result) + "\n")
            done.add(plan.out)
    except DivergedError:  # said when all others are complete
        for plan in plans:
            if plan.out not in done:
                path = result_path(out, plan.out.parent.name, plan.settings.seed)
                kept = {"diverged": True, "settings": plan.settings.to_dict()}
                write_text(path, plain_json({**kept, "data": source.facts.to_dict()}) + "\n")
    return write_page(study, out)


def result_path(out: Path, space: str, index: int) -> Path:
    """Where the result of a design is kept."""
    return out / "runs" / space / f"{index:04d}.json"


def _check_same(path: Path, settings: TrainSettings, data: Mapping[str, Any]) -> None:
    """Raise `SynthprobeError` if a result is of another study."""
    kept = json.loads(path.read_text("utf-8"))
    if not settings.same_as(kept["settings"]) or kept["data"] != data:
        raise SynthprobeError(
            f"{path} is the result of another study: take another folder, or its settings."
        )


def read_errors(study: Study, out: Path) -> tuple[dict[str, list[float]], list[dict[str, Any]]]:
    """The errors of each space, and all results; a run that diverged has the error 1.

    `SynthprobeError` if a network was not trained yet: without it F(e) would not be that of the
    study.
    """
    errors: dict[str, list[float]] = {}
    results = []
    for name in dict.fromkeys(study.spaces):
        found = []
        for index in range(study.models):
            path = result_path(out, name, index)
            if not path.exists():
                raise SynthprobeError(
                    f"{path} is not there yet: leave --pages out to train what is missing, or take "
                    f"fewer --models."
                )
            result = json.loads(path.read_text("utf-8"))
            if result.get("diverged"):
                found.append(1.0)
                continue
            results.append(result)
            found.append(1 - result["test"][study.measure])
        errors[name] = found
    return errors, results


def write_page(study: Study, out: Path) -> Path:
    """The page, the table and the figure, from the results that there are."""
    errors, results = read_errors(study, out)
    if not results:
        raise SynthprobeError(f"{out} has no network of these design spaces that did not diverge.")
    _draw(out / "designs.png", errors, study.measure)
    lines = [
        "# Design spaces by the distribution of their errors",
        "",
        f"From each space {study.models} networks were drawn, with "
        f"{study.parameters[0]:,} to {study.parameters[1]:,} parameters, and trained on "
        f"{study.samples:,} samples of twins. The error of a network is 1 - {study.measure} on "
        f"1,000 pairs; what is blind to the difference of two twins has 50%. F(e) is the share of "
        f"networks with an error below e: of two spaces the one whose curve is higher is better.",
        "",
        "![F(e)](designs.png)",
        "",
    ]
    head = ["space", "networks", "mean error", "median", "best tenth", "best", "diverged"]
    rows = [head]
    for name, found in errors.items():
        ordered = sorted(found)
        tenth = ordered[: max(1, len(ordered) // 10)]
        rows.append(
            [
                name,
                str(len(found)),
                *(
                    f"{100 * value:.2f}%"
                    for value in (
                        sum(found) / len(found),
                        ordered[len(ordered) // 2],
                        sum(tenth) / len(tenth),
                        ordered[0],
                    )
                ),
                str(sum(error == 1 for error in found)),
            ]
        )
    lines += [*grid(rows), ""]
    lines += [f"- **{name}**: {find_space(name).meaning}." for name in errors]
    lines += ["", "**What they say.** By a permutation test of the mean errors:", ""]
    for pair in itertools.combinations(errors, 2):
        lines.append(f"- {compare(pair, (errors[pair[0]], errors[pair[1]])).sentence}")
    lines += ["", *origins(results)]
    page = out / "designs.md"
    write_text(page, "\n".join(lines) + "\n")
    _write_table(out / "designs.csv", study, out)
    return page


def study_facts(study: Study, out: Path) -> dict[str, Any]:
    """The figures of the page, for programs."""
    errors, _ = read_errors(study, out)
    pairs = itertools.combinations(errors, 2)
    return {
        "measure": study.measure,
        "errors": errors,
        "comparisons": [
            asdict(compare(pair, (errors[pair[0]], errors[pair[1]]))) for pair in pairs
        ],
    }


def _write_table(path: Path, study: Study, out: Path) -> None:
    """A row for each network: its design, its size and what it reached."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    fields = list(Design.__dataclass_fields__)
    writer.writerow(["space", "design", *fields, "parameters", *MEASURES, "seconds"])
    for name in dict.fromkeys(study.spaces):
        for index in range(study.models):
            result_file = result_path(out, name, index)
            if result_file.exists():
                result = json.loads(result_file.read_text("utf-8"))
                if result.get("diverged"):
                    continue
                options = result["settings"]["options"]
                sizes = [" ".join(map(str, options[field])) for field in fields]
                reached = [result["test"][measure] for measure in MEASURES]
                writer.writerow(
                    [name, index, *sizes, result["parameters"], *reached, result["seconds"]]
                )
    write_text(path, text.getvalue())


def _draw(path: Path, errors: Mapping[str, Sequence[float]], measure: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(6.4, 4.4), layout="constrained")
    FigureCanvasAgg(canvas)
    axis = canvas.subplots()
    axis.spines[["top", "right"]].set_visible(False)
    highest = min(1.0, max(max(found) for found in errors.values()) + 0.02)
    at = [highest * k / (ERRORS - 1) for k in range(ERRORS)]
    for name, found in errors.items():
        axis.plot([100 * e for e in at], distribution(found, at), drawstyle="steps", label=name)
    axis.set_xlabel(f"error e: 1 - {measure}, in percent")
    axis.set_ylabel("F(e), share of networks with a lower error")
    axis.set_ylim(0, 1.02)
    axis.legend(frameon=False)
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=110, metadata={"Software": None})


__all__ = ["MEASURES", "MODELS", "SAMPLES", "Space", "Study", "run_study", "write_page"]
