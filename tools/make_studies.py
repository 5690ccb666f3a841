"""Train the studies of what the documents name, and write their pages, figures and every result.

``encoders``: the course notes' encoders on twins. ``optimisers``: all of the notes' optimisers on
one probe, loss against steps. ``windows``: window attention alone, with LIM and with LEM, in stacks
of 1 to 4 layers. ``encodings``: two matrices and 1,024 channels on Centered Square at the
published size. ``two-tasks``: the report's whole networks on rank and colour. ``report``: its
ablations. What is complete is kept; ``--pages`` only writes the pages again.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import torch
from PIL import Image

from synthprobe_models.data.source import open_source
from synthprobe_models.experiments.render import grid, origins
from synthprobe_models.experiments.samples import data_file
from synthprobe_models.files import make_folder, plain_json, replaced, write_text
from synthprobe_models.metrics import METRICS
from synthprobe_models.probes import find_probe
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.reach.curve import draw_curves
from synthprobe_models.registry import STRUCTURES
from synthprobe_models.training.parallel import Plan, finished_runs
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import DivergedError, Machine

CLAIM_SHAPE: Final = (28, 28)
CLAIM_WIDTH: Final = 8


@dataclass(frozen=True, kw_only=True)
class Row:
    """One network of a study, as it is trained."""

    key: str
    title: str
    settings: Mapping[str, Any]
    """``name`` among them."""
    group: str = ""
    """Which panel of the figure it is in."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study: its samples, its rows, and its words."""

    title: str
    text: str
    probe: str
    rows: Sequence[Row]
    seeds: int
    metrics: Sequence[str]
    """Of the test, as columns."""
    preset: str = "quick"
    config: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    common: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all rows, instead of those of the preset."""
    figure: str = "loss"
    """``loss`` against steps, ``distance`` on twins, or ``confusion`` of two tasks."""
    best_of_group: bool = False
    """Whether the figure has only the row of each group with the lowest training loss at the end,
    and all of these in one panel."""
    claim: bool = False
    """Whether the page begins with what stacks of layers see."""
    findings: str = ""
    """What the figures say; a test holds it to the committed results."""


TWINS: Final = {"train": 8_000, "validation": 0, "test": 1_000}
RANK_AND_COLOR: Final[Mapping[str, Any]] = {
    "config": {"height": 48, "width": 48, "n_rectangles": 4, "n_vis": 3, "n_gap": 3, "n_par": 3},
    "sizes": {"train": 4_000, "test": 500},
    "common": {
        "epochs": 8,
        "batch": 16,
        "optimizer": "adam",
        "rate": 1e-3,
        "schedule": "constant",
        "weight_decay": 0.0,
        "loss": "two-task",
        "width": 16,
        "down_samplings": None,
        "head_bias": None,
    },
}
"""The report trains with Adam and 1e-4; networks a quarter as wide and far fewer steps ask for
more."""
OF_TWO: Final = ("ord", "rmse", "silog_rmse", "segmentation_accuracy", "mean_iou")


def encoder_rows() -> list[Row]:
    """The notes' encoders, each with the width whose parameters are some tens of thousands."""
    widths = {
        "unet": 12,
        "resnet-18": 6,
        "resnet-34": 4,
        "resnet-50": 3,
        "wide-resnet-50": 2,
        "googlenet": 6,
        "mobilenet-v2-encoder": 5,
        "efficientnet": 4,
        "anynet": 16,
        "vit": 24,
    }
    options = {"anynet": {"depths": [2, 2, 2, 2]}, "vit": {"layers": 3}}
    return [
        Row(
            key=name,
            title=name,
            group=_group_of_encoder(name),
            settings={"name": name, "width": width, "options": options.get(name, {})},
        )
        for name, width in widths.items()
    ]


def _group_of_encoder(name: str) -> str:
    if name == "unet":
        return "U-Net"
    return "residual networks" if "resnet" in name else "other encoders"


def optimiser_rows() -> list[Row]:
    """Every optimiser of the notes at several rates; the second-order ones at their own."""
    rates = {
        "sgd": (0.03, 0.1, 0.3),
        "notes-momentum": (0.003, 0.01, 0.03),
        "notes-nesterov": (0.003, 0.01, 0.03),
        "adagrad": (0.003, 0.01, 0.03),
        "rmsprop": (0.0003, 0.001, 0.003),
        "notes-adam": (0.001, 0.003, 0.01),
        "notes-adamw": (0.001, 0.003, 0.01),
        "paper": (0.003, 0.01, 0.03),
        "newton": (1.0,),
        "lbfgs": (0.01, 0.03, 0.1),
    }
    options = {"newton": {"rounds": 5, "halvings": 3}, "lbfgs": {"max_iter": 4}}
    return [
        Row(
            key=f"{name}-{rate:g}",
            title=f"{name}, {rate:g}",
            group=name,
            settings={
                "name": "lambda-pe",
                "optimizer": name,
                "rate": rate,
                "optimizer_options": options.get(name, {}),
            },
        )
        for name, tried in rates.items()
        for rate in tried
    ]


def window_rows() -> list[Row]:
    """Three kinds of window attention, one to four layers of each."""
    titles = {
        "window-attention": "windows alone",
        "window-attention-lem": "with LEM",
        "iwsa": "with LIM",
    }
    return [
        Row(
            key=f"{name}-{layers}",
            title=title,
            group=f"{layers} layer{'s' * (layers > 1)}",
            settings={
                "name": name,
                "frame": "single-scale" if layers == 1 else f"single-scale-{layers}",
            },
        )
        for layers in (1, 2, 3, 4)
        for name, title in titles.items()
    ]


def encoding_rows() -> list[Row]:
    """The encodings of section 6 of the supplement, beside those of the paper."""
    more = {
        "": {},
        "C = 1024": {"encoding_channels": 1024},
        "P1, P2": {"isotropic": False},
        "P1, P2, C = 1024": {"isotropic": False, "encoding_channels": 1024},
    }
    families = {"lambda-pe": "Fourier + Decor.", "lambda-cosine-decor": "Cosine + Decor."}
    return [
        Row(
            key="-".join([name, *what.replace(",", "").replace(" = ", "").split()]).lower(),
            title=f"{title}{', ' * bool(what)}{what}",
            group=title,
            settings={"name": name, "options": options},
        )
        for what, options in more.items()
        for name, title in families.items()
    ]


def two_task_rows() -> list[Row]:
    """The report's whole networks; those of one task are trained for the depth alone."""
    small = {"bins": 64, "heads": 4}
    alone = {"loss": "silog"}
    return [
        Row(key="deeplab-shared", title="one branch", settings={"name": "deeplab-shared"}),
        Row(key="deeplab-branched", title="two branches", settings={"name": "deeplab-branched"}),
        Row(
            key="attention-self",
            title="self-attention",
            settings={"name": "two-task-attention", "options": small},
        ),
        Row(
            key="attention-cross",
            title="cross-attention",
            settings={
                "name": "two-task-attention",
                "options": {**small, "attention": "cross"},
            },
        ),
        Row(
            key="adaptive-depth",
            title="adaptive depth",
            settings={"name": "adaptive-depth", "options": small, **alone},
        ),
        Row(
            key="unet",
            title="U-Net",
            settings={
                "name": "unet",
                "width": 8,
                "head_bias": 0.5,
                "down_samplings": 3,
                **alone,
            },
        ),
    ]


def ablation_rows() -> list[Row]:
    """Every variant that the report tries, against the network that it is a variant of."""
    rows: list[Row] = []

    def add(group: str, name: str, variants: Mapping[str, Mapping[str, Any]]) -> None:
        for title, settings in variants.items():
            mark = "".join(sign if sign.isalnum() else "-" for sign in title.lower())
            key = f"{group.split()[0].lower()}-{mark}"
            rows.append(Row(key=key, title=title, group=group, settings={"name": name, **settings}))

    shared, depth = "deeplab-shared", "adaptive-depth"
    small = {"bins": 64, "heads": 4}

    def of(**options: Any) -> dict[str, Any]:
        return {"options": options}

    def bins(**options: Any) -> dict[str, Any]:
        return {"options": {**small, **options}, "loss": "silog"}

    add(
        "Weight of the tasks",
        shared,
        {f"w = {w}": {"loss_options": {"weight": w}} for w in (0.25, 0.5, 0.75)},
    )
    add("SILog", shared, {"of the batch": {"loss_options": {"of_batch": True}}})
    add("Encoder", shared, {"not dilated": of(dilated=False)})
    add("Pyramid", shared, {"no ASPP": of(aspp=False)})
    add("Skip", shared, {f"{k} of 16": of(skip=k) for k in (4, 8, 12, 16)})
    add("Convolutions", shared, {f"{k} of 3x3": of(convolutions=k) for k in (1, 2, 3)})
    add("Depth", shared, {"exp, clamped": of(depth="exp", limits=[0.1, 300.0])})
    add("Optimiser", shared, {"SGD": {"optimizer": "sgd", "rate": 0.1}})
    add("Latents", depth, {one: bins(latents=one) for one in ("decoder", "encoder", "aspp")})
    add("Bins", depth, {"twice the channels": bins(latents="encoder", double=True)})
    add("Positions", depth, {f"on the {k}": bins(positions=k) for k in ("queries", "input")})
    add("Dropout", depth, {"0.1": bins(dropout=0.1)})
    add("Heads", depth, {f"{k} head{'s' * (k > 1)}": bins(heads=k) for k in (1, 8)})
    return rows


STUDIES: Final[Mapping[str, Study]] = {
    "encoders": Study(
        title="The encoders of the course notes on twins",
        text="Each with a dense head, at a width that gives it some tens of thousands of "
        "parameters.",
        probe="twins",
        sizes=TWINS,
        rows=encoder_rows(),
        seeds=3,
        metrics=("near_accuracy", "far_accuracy"),
        figure="distance",
        findings="ResNet-18, ResNet-34 and EfficientNet know the order better far from the cue "
        "(98% or more in nearly every seed, 97.9% in one) than near it (88% to 94%). AnyNet knows "
        "it best near the cue (99.7% in every seed) and loses it on the way: 33 to 48 pixels from "
        "it every seed is at 50.1%. The vision transformer is the same everywhere, at 97% or "
        "more in every seed and at every distance. ResNet-50, Wide ResNet, GoogLeNet and "
        "MobileNetV2 have learnt less in these steps. The U-Net differs from seed to seed: one "
        "knows 99.9% or more at every distance, one is at half from 10 pixels on. "
        "Three seeds are too few to compare rows by a test.",
    ),
    "optimisers": Study(
        title="The optimisers of the course notes, loss against steps",
        text="One Lambda layer with positions between local blocks, on twins, 1,000 steps with a "
        "constant learning rate. Each was tried at several rates; the figure has the one with the "
        "lowest loss at the end. A step of L-BFGS and of Newton's method takes several passes.",
        probe="twins",
        sizes={"train": 400, "validation": 0, "test": 400},
        common={"epochs": 40, "schedule": "constant", "weight_decay": 0.0},
        rows=optimiser_rows(),
        seeds=1,
        metrics=("near_accuracy", "far_accuracy"),
        best_of_group=True,
        findings="AdaGrad, RMSProp, Adam and the paper's optimiser learn the order at each of "
        "their three rates (98% or more near the difference). SGD, momentum and Nesterov learn it "
        "at the largest of theirs only, and are at 58% or less at the others. The "
        "paper's optimiser ends with the least training loss, below "
        "1e-13 at each rate. AdamW is Adam here, as nothing decays. Newton's method, which looks "
        "at 20 samples at a time, is at 71% after eight times as long, with a training loss above "
        "that of a guess; L-BFGS learns it at one rate (97%), and diverges at two. One seed of "
        "each says what may happen, and not which optimiser is better.",
    ),
    "windows": Study(
        title="Window attention in stacks: with LIM, with LEM, alone",
        text="Layers with windows of 7 x 7 between local blocks, on twins of 8 x 64.",
        probe="twins",
        sizes=TWINS,
        rows=window_rows(),
        seeds=2,
        metrics=("near_accuracy", "far_accuracy"),
        figure="distance",
        claim=True,
        findings="Every run has learnt the cue (90% or more near the difference), and none "
        "knows the order 17 pixels from it (50.1% at most), or farther (50.0%). With LIM, stacks "
        "of three and four layers still know it 10 to 16 pixels away in 67% to 75% of the pixels; "
        "without it, and with LEM, stacks of two to four layers are at 50.4% there at most. So LIM "
        "does carry farther than windows alone, by a few pixels: that the gradient of a stack "
        "reaches every position does not mean that what a cue says does. Two seeds are too few to "
        "compare rows by a test.",
    ),
    "encodings": Study(
        title="Two matrices and 1,024 channels: section 6 of the supplement on Centered Square",
        text="At the published size, 64 x 64 with 128 channels. The supplement says that C = 1024 "
        "improved the performance in some cases, and that two matrices, which tell left from "
        "right, are of no use where the task does not.",
        probe="centered-square",
        preset="paper",
        rows=encoding_rows(),
        seeds=1,
        metrics=("iou",),
        findings="With 1,024 channels Fourier + Decor. paints all squares as before, with a "
        "training loss of 8e-5 instead of 1.2e-3, and Cosine + Decor. paints 84% "
        "instead of 100%: it improves one case of two. Two matrices paint less than one "
        "in three of four cases: 0.2% instead of 100% and, with 1,024 channels, 94% "
        "instead of 100% with Fourier, 79% instead of 100% and 88% instead of 84% with "
        "cosines. The three of them that learnt anything paint 4 to 6 percentage points "
        "more where they were trained than elsewhere, those with one matrix less than "
        "1. The task asks for no direction. It is one seed of each.",
    ),
    "two-tasks": Study(
        title="The report's whole networks on rank and colour",
        text="Depth is the rank and the class is the colour. Networks of one task are trained for "
        "the depth alone.",
        probe="rde",
        rows=two_task_rows(),
        seeds=1,
        metrics=OF_TWO,
        figure="confusion",
        findings="All four networks of two tasks find the colours: mIoU is 92.3% with one branch "
        "and 96.4% or more with two. None of the five finds the order as the U-Net does, which has "
        "22,153 parameters where they have a million or more: Ord 0.10 against 0.34 and more, "
        "RMSE 0.065 against 0.089 and more. It is one run of each, on pictures of 48 x 48 and at "
        "a quarter of the published widths.",
        **RANK_AND_COLOR,
    ),
    "report": Study(
        title="The report's ablations on rank and colour",
        text="Each variant alone: in the first eight groups of the network with one branch for "
        "both tasks, in the others of adaptive depth, which is trained for the depth alone. Widths "
        "are a quarter of the published ones, and 1,000 steps were made.",
        probe="rde",
        rows=ablation_rows(),
        seeds=1,
        metrics=OF_TWO,
        findings="The more the depth weighs, the worse the colours are found (mIoU 91.3%, 88.5% "
        "and 85.1%), and the order hardly better (Ord 0.435, 0.433, 0.427). Skip, convolutions, "
        "dilation and the pyramid make little difference here: Ord is 0.41 to 0.44 for all of "
        "them. Depth as a clamped exponential has the least Ord (0.39) and the highest mIoU "
        "(94.7%) with one branch. The loss of the whole batch, SGD, twice the channels and dropout "
        "have not learnt the depth in so few steps (RMSE above 0.7, where all others have 0.16 or "
        "less). One, four and eight heads have an Ord of 0.38, 0.49 and 0.36: what differs as "
        "little as that differs as much as most variants do, so one seed of each decides nothing.",
        **{**RANK_AND_COLOR, "common": {**RANK_AND_COLOR["common"], "epochs": 4}},
    ),
}


def plans(study: Study, out: Path, data: Path) -> list[Plan]:
    """The runs of a study, seed by seed, so that what is there early is of all rows."""
    probe = find_probe(study.probe)
    samples = PresetData(config=study.config, sizes=study.sizes)
    source = open_source(data_file(study.probe, samples, data), probe=study.probe)
    preset = {**probe.preset(study.preset), **study.common}
    wanted = []
    for seed in range(study.seeds):
        for row in study.rows:
            chosen = {**preset, **row.settings}
            options = dict(chosen.pop("options", {}))
            if row.settings["name"] in STRUCTURES and study.preset != "paper":
                options = {
                    **probe.small_options(STRUCTURES[row.settings["name"]]),
                    **({"heads": 2} if "window" in row.key or "iwsa" in row.key else {}),
                    **options,
                }
            own = {"probe": study.probe, "seed": seed, "options": options}
            wanted.append(
                Plan(
                    settings=TrainSettings(**{**chosen, **own}),
                    source=source,
                    out=out / f"{row.key}-{seed}",
                    label=f"{row.key}, seed {seed + 1} of {study.seeds}",
                )
            )
    return wanted


def with_log(result: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A result, and beside it the training loss after each epoch."""
    log = [[int(row["step"]), float(row["loss"])] for row in RunFolder(folder).read_log()]
    return {**result, "log": log}


def diverged(plan: Plan) -> dict[str, Any]:
    """What is kept of a run whose loss was no longer a number."""
    facts = plan.source.facts.to_dict()
    return {"diverged": True, "settings": plan.settings.to_dict(), "data": facts}


def read_results(folder: Path, study: Study) -> dict[str, list[dict[str, Any]]]:
    """By the key of a row: the results of its seeds that are there, also of those that diverged."""
    found = {}
    for row in study.rows:
        paths = [folder / f"{row.key}-{seed}.json" for seed in range(study.seeds)]
        found[row.key] = [json.loads(p.read_text("utf-8")) for p in paths if p.exists()]
    return found


def write_pages(out: Path, name: str, study: Study) -> None:
    """The page, the table and the figure of a study, from the results of its runs."""
    kept = read_results(out / "runs" / name, study)
    results = {key: [one for one in found if "diverged" not in one] for key, found in kept.items()}
    titles = [
        f"{METRICS[m].title} {'↑' if METRICS[m].higher_is_better else '↓'}" for m in study.metrics
    ]
    table = [["", "network", "parameters", "seeds", *titles, "train loss", "seconds"]]
    for row in study.rows:
        if kept[row.key] and not results[row.key]:
            cells = ["-"] * len(study.metrics)
            table.append(
                [row.group, row.title, "-", str(len(kept[row.key])), *cells, "diverged", "-"]
            )
        if found := results[row.key]:
            cells = [_cell([one["test"].get(metric) for one in found]) for metric in study.metrics]
            last = [one["log"][-1][1] for one in found]
            seconds = statistics.fmean(one["seconds"] for one in found)
            start = [row.group, row.title, f"{found[0]['parameters']:,}", str(len(found))]
            table.append([*start, *cells, _cell(last), f"{seconds:.0f}"])
    lines = [f"# {study.title}", "", study.text, ""]
    if study.claim:
        lines += [*seen_by_stacks(), ""]
    lines += [f"![{study.title}]({name}.png)", "", *grid(table), ""]
    if study.seeds > 1:
        lines += ["Figures are the mean over seeds, and the lowest and the highest.", ""]
    lines += [f"**What they say.** {study.findings}", ""] if study.findings else []
    every = [result for found in results.values() for result in found]
    write_text(out / f"{name}.md", "\n".join([*lines, *origins(every)]) + "\n")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    write_text(out / f"{name}.csv", text.getvalue())
    if every:
        _figure(out / f"{name}.png", study, results)


def _cell(values: Sequence[float | None]) -> str:
    there = [value for value in values if value is not None]
    if not there:
        return "-"
    mean = f"{statistics.fmean(there):.4g}"
    return mean if len(there) == 1 else f"{mean} ({min(there):.4g} to {max(there):.4g})"


def positions_seen(name: str, layers: int) -> int:
    """How many of 28 x 28 positions the centre of a stack of untrained layers depends on."""
    torch.manual_seed(0)
    structure = STRUCTURES[name]
    stack = torch.nn.Sequential(
        *(structure.make(CLAIM_WIDTH, CLAIM_SHAPE, heads=2) for _ in range(layers))
    ).double()
    x = torch.randn(1, CLAIM_WIDTH, *CLAIM_SHAPE, dtype=torch.double, requires_grad=True)
    # The centre of the picture is the first pixel of a window of 7.
    stack(x)[0, :, CLAIM_SHAPE[0] // 2, CLAIM_SHAPE[1] // 2].sum().backward()
    assert x.grad is not None
    return int((x.grad[0].abs().sum(0) > 0).sum())


def seen_by_stacks() -> list[str]:
    """What stacks of one to four layers see, as a table."""
    rows = [["structure", *(f"{k} layer{'s' * (k > 1)}" for k in (1, 2, 3, 4))]]
    for name in ("window-attention", "window-attention-lem", "iwsa"):
        rows.append([name, *(str(positions_seen(name, k)) for k in (1, 2, 3, 4))])
    return [
        "The supplement of ScalableViT says that LIM gives a global receptive field in a single "
        "layer. Of 28 x 28 = 784 positions the centre depends on so many, by its gradient:",
        "",
        *grid(rows),
    ]


def _figure(path: Path, study: Study, results: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [row for row in study.rows if results[row.key]]
    if study.best_of_group:
        rows = [replace(row, group="") for row in _best(rows, results)]
    if study.figure == "confusion":
        rows = [row for row in rows if "confusion" in results[row.key][0]]
        groups = [row.title for row in rows]
    else:
        groups = list(dict.fromkeys(row.group for row in rows))
    across = max(1, min(4, len(groups)))
    down = max(1, -(-len(groups) // across))
    canvas = Figure(figsize=(4.6 * across + 0.6, 3.8 * down), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(down, across, squeeze=False)
    for axis in axes.flat[len(groups) :]:
        axis.set_axis_off()
    for axis, group in zip(axes.flat, groups, strict=False):
        axis.set_title(group, fontsize=10)
        if study.figure == "confusion":
            (row,) = (one for one in rows if one.title == group)
            _draw_confusion(axis, results[row.key][0]["confusion"])
            continue
        axis.spines[["top", "right"]].set_visible(False)
        inside = [row for row in rows if row.group == group]
        if study.figure == "distance":
            curves = {
                row.title: [one["order"]["by_distance"] for one in results[row.key]]
                for row in inside
            }
            draw_curves(axis, curves)
            continue
        for row in inside:
            steps, losses = zip(*results[row.key][0]["log"], strict=True)
            axis.plot(steps, losses, label=row.title, linewidth=1.2)
        axis.set_yscale("log")
        axis.set_xlabel("steps", fontsize=9)
        axis.set_ylabel("training loss", fontsize=9)
        axis.legend(fontsize=7, frameon=False)
    drawn = io.BytesIO()
    canvas.savefig(drawn, format="png", dpi=90)
    few_colors = Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    with replaced(path) as part:
        few_colors.save(part, "PNG", optimize=True)


def _best(rows: Sequence[Row], results: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Row]:
    """Of each group the row whose first seed ends with the lowest training loss."""
    best: dict[str, Row] = {}
    for row in rows:
        now = results[row.key][0]["log"][-1][1]
        if row.group not in best or now < results[best[row.group].key][0]["log"][-1][1]:
            best[row.group] = row
    return list(best.values())


def _draw_confusion(axis: Any, confusion: Sequence[Sequence[int]]) -> None:
    """The share of the pixels of each true class (rows) that were given each class."""
    shares = [[n / max(1, sum(row)) for n in row] for row in confusion]
    axis.imshow(shares, vmin=0, vmax=1, cmap="viridis")
    axis.set_xlabel("found", fontsize=9)
    axis.set_ylabel("true; 0 is the background", fontsize=9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--out", type=Path, default=Path("results/studies"))
    parser.add_argument("--work", type=Path, default=Path("study-runs"), help="for data and runs")
    parser.add_argument("--rows", nargs="+", metavar="KEY", help="only these rows")
    parser.add_argument("--seeds", type=int, help="runs of each row")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pages", action="store_true", help="train nothing, write the pages")
    given = parser.parse_args()
    study = STUDIES[given.study]
    runs = given.out / "runs" / given.study
    make_folder(runs)
    if not given.pages:
        torch.set_num_threads(given.jobs)
        chosen = replace(
            study,
            seeds=given.seeds or study.seeds,
            rows=[row for row in study.rows if not given.rows or row.key in given.rows],
        )
        wanted = plans(chosen, given.work / given.study, given.work / given.study / "data")
        command = f"python tools/make_studies.py {given.study}"
        try:
            for plan, result in finished_runs(
                wanted, jobs=given.jobs, machine=Machine(), command=command
            ):
                text = plain_json(with_log(result, plan.out))
                write_text(runs / f"{plan.out.name}.json", text + "\n")
        except DivergedError as error:  # raised when all others are complete
            print(error)
            for plan in wanted:
                path = runs / f"{plan.out.name}.json"
                if not path.exists():
                    write_text(path, plain_json(diverged(plan)) + "\n")
    write_pages(given.out, given.study, study)


if __name__ == "__main__":
    main()
