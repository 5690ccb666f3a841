"""The page of a score: its figures, pictures, the worst samples explained, a row to paste."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from synthprobe_data import SynthprobeError
from synthprobe_models.evaluation.align import NONE, ORDER, align_batch
from synthprobe_models.evaluation.pictures import write_predictions
from synthprobe_models.files import FolderError, make_folder, plain_json, write_text
from synthprobe_models.scoring.document import Document, markdown_table
from synthprobe_models.scoring.report import ALIGNED, score_facts
from synthprobe_models.scoring.score import Score, Shown

JSON: Final = "score.json"
MARKDOWN: Final = "score.md"
HTML: Final = "score.html"
STRIP: Final = "strip.png"
WORST: Final = "worst"
_FORMULA: Final = {
    NONE: "Predictions count as they are, on the scale of the ground truth that networks see.",
    "scale-shift": "Each picture's prediction p is given the scale s and the shift t that minimise "
    "the sum of (s p + t - y)^2 over its pixels, y being the ground truth.",
    "scale-shift robust": "Each picture's prediction p is given the shift and the scale with which "
    "its median and its mean absolute deviation from that are those of the ground truth.",
    ORDER: "Only the order of predictions counts: metrics that depend on a scale are left out.",
}

_DRAWN: Final = {
    True: "",
    False: " Predictions are drawn with the scale and the shift of the alignment, or with those by "
    "medians where the scale is not positive, so that brighter is always nearer.",
}
"""How predictions are drawn: as they are, or aligned."""


@dataclass(frozen=True)
class ScorePaths:
    """The files of a score."""

    json: Path
    markdown: Path
    html: Path


def check_folder(folder: Path, *, force: bool) -> None:
    """Raise `FolderError` if a score in this folder would be lost, or cannot be there."""
    if folder.exists() and not folder.is_dir():
        raise FolderError(f"{folder} is a file: name a folder.")
    if (folder / JSON).exists():
        if not force:
            raise FolderError(
                f"{folder} has a score, which is left as it is: --force replaces it, or take "
                f"another --out."
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise FolderError(f"{folder} is not empty and no score: take another --out.")


def default_folder(name: str, on: str | Path, *, force: bool) -> Path:
    """Where the score of this name goes if no folder is named.

    Its name has a number if there is a folder already, unless that is to be replaced: what took
    long to score is not lost for want of a folder.
    """
    where = re.sub(r"[^\w.-]+", "-", f"{name}-on-{Path(on).stem}").strip(".-")[:100] or "score"
    folder, number = Path("scores") / where, 2
    while not force and folder.exists():
        folder, number = Path("scores") / f"{where}-{number}", number + 1
    return folder


def write_score(score: Score, folder: Path, command: str | None = None) -> ScorePaths:
    """Write the page of a score, with its pictures and its JSON.

    Parameters
    ----------
    score
        What was scored.
    folder
        Where; files of the same names are replaced.
    command
        What made it.
    """
    make_folder(folder)
    facts = score_facts(score, command)
    paths = ScorePaths(folder / JSON, folder / MARKDOWN, folder / HTML)
    page = Document(f"{score.name} on {score.scored.path.name}")
    page.text(
        f"{score.samples} samples of {score.scored.samples.dataset}, split {score.scored.split}, "
        f"content digest {score.scored.digest}. Predictions grow towards the viewer."
        if score.scored.probe.ordinal
        else f"{score.samples} samples of {score.scored.samples.dataset}, split "
        f"{score.scored.split}, content digest {score.scored.digest}."
    )
    page.list(score.notes)
    _add_figures(page, facts)
    page.text(_FORMULA[facts["align"]])
    _add_order(page, score, facts["order"])
    _add_strip(page, score, folder / STRIP)
    _add_worst(page, score, facts, folder / WORST)
    page.heading("A row to paste")
    page.code(markdown_table(table_rows([facts])))
    page.heading("How it was made")
    page.list([f"{key}: {value}" for key, value in _flat(facts["facts"])])
    if command is not None:
        page.code(command)
    page.write(paths.markdown, paths.html)
    # Last: who finds it finds a complete score.
    write_text(paths.json, plain_json(facts, indent=1) + "\n")
    return paths


def table_rows(scores: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """A table with a row for each of some scores, as their JSON has them, and its head."""
    names: dict[str, Mapping[str, Any]] = {}
    for facts in scores:
        names |= {name: of for name, of in facts["metrics"].items() if name not in names}
    head = ["scored"]
    for of in names.values():
        head.append(f"{of['title']} {'↑' if of['higher_is_better'] else '↓'}")
    rows = [[*head, "aligned", "samples"]]
    for facts in scores:
        cells = [_cell(facts["metrics"].get(name)) for name in names]
        rows.append([str(facts["name"]), *cells, str(facts["align"]), f"{facts['samples']:,}"])
    return rows


def _cell(of: Mapping[str, Any] | None) -> str:
    return "-" if of is None or of["value"] is None else f"{of['value']:.4f}"


def _add_figures(page: Document, facts: Mapping[str, Any]) -> None:
    page.heading("Figures")
    rows = [["metric", "mean", "95% interval", "measured", "what it is"]]
    for of in facts["metrics"].values():
        span = "-" if of["low"] is None else f"{of['low']:.4f} to {of['high']:.4f}"
        arrow = "↑" if of["higher_is_better"] else "↓"
        how = ALIGNED[facts["align"]] if of["needs_scale"] else "under any increasing map"
        rows.append([f"{of['title']} {arrow}", _cell(of), span, how, of["meaning"]])
    page.table(rows)
    weighted = ", each weighted by how many of its pixels count" if facts["weights"] else ""
    over = "samples" if facts["together"] == 1 else "pairs of samples, which belong together"
    page.text(f"Means are over samples{weighted}; intervals are Student's, over {over}.")


def _add_order(page: Document, score: Score, order: Mapping[str, Any] | None) -> None:
    """What predictions make of the cues, in the words of the probe."""
    module = score.scored.probe.cue_metrics
    if order is None or module is None:
        return
    for heading, text, rows in importlib.import_module(module).page_tables(order):
        if heading:
            page.heading(heading)
        page.text(text)
        page.table(rows)


def _as_is(score: Score) -> bool:
    """Whether predictions are drawn as they are."""
    return score.align == NONE or not score.scored.probe.ordinal


def drawn(score: Score, shown: Shown) -> Tensor:
    """A prediction on the scale of the ground truth, in its own order, to be looked at."""
    if _as_is(score):
        return shown.prediction
    prediction, target = shown.raw[None], shown.target[None]
    aligned, (fit,) = align_batch(prediction, target, robust=score.robust)
    if fit.scale <= 0:  # least squares would turn the picture over: medians never do
        aligned, _ = align_batch(prediction, target, robust=True)
    return aligned[0]


def _add_strip(page: Document, score: Score, path: Path) -> None:
    if not score.shown:
        return
    inputs, targets = (
        torch.stack([getattr(shown, part) for shown in score.shown])
        for part in ("inputs", "target")
    )
    found = torch.stack([drawn(score, shown) for shown in score.shown]).float()
    write_predictions(path, inputs, targets, found)
    page.heading("Pictures")
    rows = ", ".join(str(shown.row) for shown in score.shown)
    worst = f"; the last {len(score.worst)} are the worst" if score.worst else ""
    page.text(
        f"From the top: input, ground truth, prediction, error. Rows {rows}{worst}."
        f"{_DRAWN[_as_is(score)]}"
    )
    page.picture(path, f"input, ground truth, prediction and error of rows {rows}")


def _add_worst(page: Document, score: Score, facts: Mapping[str, Any], folder: Path) -> None:
    """The worst samples, each with its figures, and with the cues that were missed if known."""
    if not score.worst:
        return
    page.heading("The worst samples")
    names = list(facts["metrics"])
    head = ["row", *(facts["metrics"][name]["title"] for name in names)]
    rows = [head]
    for sample in facts["worst"]:
        cells = ["-" if sample[name] is None else f"{sample[name]:.4f}" for name in names]
        rows.append([str(sample["row"]), *cells])
    page.table(rows)
    if score.scored.probe.missed_cues is None:
        return
    module = importlib.import_module(score.scored.probe.missed_cues)
    try:
        module.check_explainable(score.scored.samples, folder)
    except SynthprobeError as error:
        page.text(f"What was missed cannot be explained: {error}")
        return
    by_row = {shown.row: shown for shown in score.shown}
    explained = module.explain_maps(
        [drawn(score, by_row[row]) for row in score.worst],
        score.scored.samples,
        score.scored.path,
        score.scored.split,
        score.worst,
        folder,
    )
    for sample in explained:
        page.text(
            f"Row {sample.index}: {len(sample.missed)} of {sample.pairs} pairs in the wrong order."
        )
        page.list([pair.sentence for pair in sample.missed])
        page.picture(sample.figure, f"row {sample.index} with the cues that were missed")


def _flat(facts: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """All values of nested objects, with the names that lead to them."""
    found: list[tuple[str, Any]] = []
    for name, value in facts.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{name}.")
        else:
            found.append((f"{before}{name}", value))
    return found
