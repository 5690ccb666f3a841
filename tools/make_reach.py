"""Train the two studies of reach on twins, and write their pages, curves and every run's result.

``unet``: does a U-Net whose field covers the picture make use of it, alone and with a structure at
each scale? ``bands``: which structures still tell the order when several strips lie in a picture,
so that one summary of it no longer suffices? What is complete is kept; ``--pages`` only writes the
pages again from the committed results.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from synthprobe_models.data.source import open_source
from synthprobe_models.experiments.render import grid, origins
from synthprobe_models.experiments.samples import data_file, with_further
from synthprobe_models.files import make_folder, plain_json, replaced, write_text
from synthprobe_models.networks.unet import UNet
from synthprobe_models.probes import PROBES
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.reach.curve import draw_curves, result_curves
from synthprobe_models.reach.report import HEAD, reach_rows
from synthprobe_models.registry import STRUCTURES
from synthprobe_models.training.parallel import Plan, finished_runs
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import DivergedError, Machine

PROBE: Final = PROBES["twins"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One network of a study."""

    key: str
    group: str
    """Which panel of the figure it is in."""
    title: str
    name: str
    config: Mapping[str, Any]
    settings: Mapping[str, Any]
    steps: int


def field_of_unet(down_samplings: int) -> int:
    """How many pixels a U-Net without a structure sees to each side, by its gradient."""
    torch.manual_seed(0)
    network = UNet(shape=(8, 1024), width=2, down_samplings=down_samplings).double()
    x = torch.rand(1, 3, 8, 1024, dtype=torch.float64, requires_grad=True)
    network(x)[0, 0, 4, 512].backward()
    assert x.grad is not None
    seen = x.grad.abs().sum((0, 1, 2)).nonzero().flatten()
    return int((seen - 512).abs().max())


def unet_rows() -> list[Row]:
    """U-Nets with 1, 2 and 3 down-samplings, alone and with structures."""
    names = ("unet", "global-average-pooling", "global-context", "lambda", "lambda-pe")
    return [
        Row(
            key=f"{name}-{halved}",
            group=f"{halved} down-sampling{'s' * (halved > 1)}, sees {field_of_unet(halved)}",
            title="U-Net alone" if name == "unet" else f"with {name}",
            name=name,
            config={},
            settings={
                "down_samplings": halved,
                **({} if name == "unet" else {"frame": "unet"}),
            },
            steps=600,
        )
        for halved in (1, 2, 3)
        for name in names
    ]


def band_rows() -> list[Row]:
    """One layer between local blocks, with 1, 2 and 4 strips in a picture.

    A step has 16 strips, however many lie in a picture, and the more hues there are, the more steps
    are made. With the 12 channels of the other studies the cue itself was not learnt for all pairs
    of hues: with two bands, two of the six pairs were at one half near the difference, too, after
    4,000 steps; with 24 channels all six were at 100% after 2,000 (one run of lambda-pe each, at
    rates of 0.005 and 0.003; they are not kept).

    A Transformer is left out: with four bands its attention has 3,584 x 3,584 entries for each of
    16 pictures and two heads, which takes seconds a step on a CPU.
    """
    names = ("global-average-pooling", "global-context", "lambda", "lambda-pe")
    return [
        Row(
            key=f"{name}-{bands}",
            group=f"{bands} band{'s' * (bands > 1)}",
            title=name,
            name=name,
            config={"bands": bands},
            settings={"width": 24, "rate": 3e-3, "batch": 16 // bands},
            steps=steps,
        )
        for bands, steps in ((1, 1_000), (2, 2_000), (4, 4_000))
        for name in names
    ]


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study: its rows, and its words."""

    title: str
    text: str
    findings: str
    """What the figures say; a test holds it to the committed results."""
    rows: Sequence[Row]
    seeds: int
    lengths: bool


STUDIES: Final = {
    "unet": Study(
        title="A U-Net whose field covers the picture, and what it makes of it",
        text="Twins of 8 x 64 to train on; also tested on 8 x 96 and 8 x 128. *sees*: how many "
        "pixels the U-Net alone sees to each side, by its gradient.",
        findings="With three down-samplings the U-Net alone sees 146 pixels to each side, more "
        "than any strip is long. It learns the cue (98.6% or more near the difference), and at the "
        "length of training four of five seeds carry it 33 to 48 pixels (92% or more); the "
        "fifth is at 50.1% there. On 8 x 128 every seed is at 50.0% from 65 pixels on, though "
        "all of that is in its field: what it has learnt ends where the training strips ended, "
        "or before. With two down-samplings, which see 66, every seed is at 50.0% from 49 "
        "pixels on. So a field that covers the picture is not yet used. With a Lambda layer at "
        "each scale, with or without positions, every seed has 97% or more at every distance "
        "and length. Global average pooling helps less the longer the strip is. Global Context "
        "fails in one seed of five with three down-samplings, where the cue itself was hardly "
        "learnt (near 53%). Networks with a structure have more parameters than the U-Net alone "
        "of the same width.",
        rows=unet_rows(),
        seeds=5,
        lengths=True,
    ),
    "bands": Study(
        title="Several strips in one picture: routing by content, or one summary",
        text="Strips of 8 x 64, one above the other, each with its own two rectangles and hues.",
        findings="Every run has learnt the cue (84% or more near the difference, 92% or more with "
        "four strips). With one strip all four structures know the order 17 pixels from it and "
        "farther, in 100.0% of the pixels. With two, global average pooling knows it in 62%, "
        "Global Context in 84%, both Lambda layers in 100.0%. With four, global average pooling "
        "is at 50.4%, Global Context at 60%, Lambda at 81% and Lambda + PE at 99%. So what one "
        "summary of the picture carries suffices for one strip and not for four. In these runs "
        "Lambda with positions brings each strip its own order, without positions it mostly does, "
        "and pooling and Global Context do not. It is one seed of each, and more steps may change "
        "what is in between.",
        rows=band_rows(),
        seeds=1,
        lengths=False,
    ),
}


def plans(study: Study, out: Path, data: Path) -> list[Plan]:
    """The runs of a study, seed by seed, so that what is there early is of all rows."""
    preset = PROBE.preset("quick")
    wanted = []
    for seed in range(study.seeds):
        for row in study.rows:
            batch = row.settings.get("batch", preset["batch"])
            samples = PresetData(
                config=row.config,
                sizes={"train": batch * row.steps, "validation": 0, "test": 1_000},
                further=PROBE.samples("quick").further if study.lengths else {},
            )
            mark = "".join(f"-{key}{value}" for key, value in row.config.items())
            source = open_source(data_file("twins", samples, data, mark), probe="twins")
            options = {**PROBE.samples("quick").options.get(row.name, {})}
            if row.name in STRUCTURES:
                options = {**PROBE.small_options(STRUCTURES[row.name]), **options}
            wanted.append(
                Plan(
                    settings=TrainSettings(
                        **{
                            **preset,
                            "name": row.name,
                            "probe": "twins",
                            "seed": seed,
                            "options": options,
                            **row.settings,
                        }
                    ),
                    source=with_further(source, samples, data),
                    out=out / f"{row.key}-{seed}",
                    label=f"{row.key}, seed {seed + 1} of {study.seeds}",
                )
            )
    return wanted


def read_results(folder: Path, study: Study) -> dict[str, list[dict[str, Any]]]:
    """By the key of a row: the results of its seeds that are there."""
    found = {}
    for row in study.rows:
        paths = [folder / f"{row.key}-{seed}.json" for seed in range(study.seeds)]
        found[row.key] = [json.loads(p.read_text("utf-8")) for p in paths if p.exists()]
    return found


def write_pages(out: Path, name: str, study: Study) -> None:
    """The page, the table and the figure of a study, from the results of its runs."""
    results = read_results(out / "runs" / name, study)
    lines = [f"# {study.title}", "", study.text, ""]
    groups = list(dict.fromkeys(row.group for row in study.rows))
    table = [["frame", "network", "parameters", "seeds", *HEAD]]
    for row in study.rows:
        if found := results[row.key]:
            start = [row.group, row.title, f"{found[0]['parameters']:,}", str(len(found))]
            table += [[*start, *cells] for cells in reach_rows(found)[1:]]
    lines += [f"![Accuracy by distance]({name}.png)", "", *grid(table), ""]
    lines += [
        "Near and far: the share of pixels that is right so far from the difference, as the mean "
        "over seeds. Reach: the end of the last bin above 75%. A network that is blind to the "
        "difference has exactly 50%.",
        "",
        *([f"**What they say.** {study.findings}", ""] if study.findings else []),
    ]
    every = [result for found in results.values() for result in found]
    write_text(out / f"{name}.md", "\n".join([*lines, *origins(every)]) + "\n")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    write_text(out / f"{name}.csv", text.getvalue())
    _figure(out / f"{name}.png", study, groups, results)


def _figure(
    path: Path,
    study: Study,
    groups: Sequence[str],
    results: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    """A panel for each frame and each kind of samples."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    by_group: dict[str, dict[str, dict[str, Any]]] = {}
    for row in study.rows:
        if results[row.key]:
            for label, curves in result_curves(results[row.key]).items():
                by_group.setdefault(row.group, {}).setdefault(label, {})[row.title] = curves
    kinds = list(dict.fromkeys(label for panels in by_group.values() for label in panels))
    canvas = Figure(figsize=(4.4 * len(kinds), 3.6 * len(groups)), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(len(groups), len(kinds), squeeze=False)
    for i, group in enumerate(groups):
        for j, label in enumerate(kinds):
            axis = axes[i][j]
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_title(f"{group}, {label}", fontsize=10)
            draw_curves(axis, by_group.get(group, {}).get(label, {}))
    with replaced(path) as part:
        canvas.savefig(part, format="png", dpi=90, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--out", type=Path, default=Path("results/reach"))
    parser.add_argument("--work", type=Path, default=Path("reach-runs"), help="for data and runs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pages", action="store_true", help="train nothing, write the pages")
    given = parser.parse_args()
    study = STUDIES[given.study]
    runs = given.out / "runs" / given.study
    make_folder(runs)
    if not given.pages:
        torch.set_num_threads(given.jobs)
        wanted = plans(study, given.work / given.study, given.work / "data")
        command = f"python tools/make_reach.py {given.study}"
        try:
            for plan, result in finished_runs(
                wanted, jobs=given.jobs, machine=Machine(), command=command
            ):
                write_text(runs / f"{plan.out.name}.json", plain_json(result) + "\n")
        except DivergedError as error:
            print(error)
    write_pages(given.out, given.study, study)


if __name__ == "__main__":
    main()
