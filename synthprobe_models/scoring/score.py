"""Scoring: any prediction of the samples of a split, measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from synthprobe_data import SynthprobeError
from synthprobe_models.data.draws import apart
from synthprobe_models.evaluation.align import NONE, SCALE_SHIFT, align_batch, check_alignment
from synthprobe_models.scoring.measure import Measure, Measured
from synthprobe_models.scoring.predictor import Predictor, checked
from synthprobe_models.scoring.samples import Scored, open_scored
from synthprobe_models.scoring.sources import find_predictor

BATCH: Final = 16
WORST: Final = 4


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One sample for the page: what it is, and what was predicted."""

    row: int
    inputs: Tensor
    target: Tensor
    prediction: Tensor
    """Aligned, if the score is."""
    raw: Tensor
    """As it was given."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """What something scores on the samples of a split."""

    name: str
    kind: str
    """What was scored: a file, a function, a run, ..."""
    facts: Mapping[str, Any]
    """What else decided the predictions."""
    scored: Scored = field(repr=False)
    samples: int
    align: str
    robust: bool
    other_scale: str | None
    """Why predictions are on another scale than the ground truth, if they are."""
    measured: Measured
    worst: tuple[int, ...]
    """The rows that it does worst on, the worst first."""
    shown: tuple[Shown, ...] = field(default=(), repr=False)
    """The first samples, and then the worst."""

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics by name."""
        return {name: figure.value for name, figure in self.measured.figures.items()}

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the figures, a sentence each."""
        notes = []
        if self.other_scale is not None:
            notes.append(
                f"Predictions are on another scale than the ground truth, as {self.other_scale}"
            )
        if self.measured.left_out:
            reason = next(iter(self.measured.left_out.values()))
            notes.append(f"Left out: {', '.join(self.measured.left_out)}, as {reason.rstrip('.')}.")
        if self.measured.inverted:
            notes.append(
                f"The scale of {self.measured.inverted} of {self.samples} pictures is negative: "
                f"there the prediction runs against the ground truth, and only the order metrics "
                f"say so."
            )
        if self.samples < len(self.scored.samples):
            notes.append(f"Only the first {self.samples} of {len(self.scored.samples)} samples.")
        return notes


def score(
    what: Callable[[Tensor], Any] | str | Path | Predictor,
    *,
    on: str | Path,
    split: str = "test",
    align: str | None = None,
    robust: bool = False,
    name: str | None = None,
    limit: int | None = None,
    worst: int = WORST,
    batch: int = BATCH,
    device: str = "cpu",
    **options: Any,
) -> Score:
    """Score anything on the samples of a split.

    Parameters
    ----------
    what
        A callable, such as a function or a PyTorch module, which maps a batch of pictures, (n, 3,
        H, W) from 0 to 1, to predictions, (n, H, W) or (n, 1, H, W), that grow towards the viewer;
        or what ``synthprobe-probe score`` takes: the path of predictions or of a run,
        ``file.py:function``, ``package.module:Class`` or ``hf:NAME``.
    on
        A file or a folder of shards.
    split
        Which split.
    align
        ``"none"``, ``"scale-shift"`` or ``"order"``; by default scale and shift where the probe
        asks for an order, and none elsewhere.
    robust
        Align by medians and mean absolute deviations, rather than by least squares.
    name
        As in pages and tables; by default that of what is scored.
    limit
        Only the first so many samples.
    worst
        How many of the worst samples to keep.
    batch
        Samples at once.
    device
        Where to compute.
    options
        ``normalise``, ``multiple`` and ``farther`` of
        `synthprobe_models.scoring.preparation.Preparation`, or ``units`` of a file.
    """
    scored = open_scored(on, split)
    if align is None:
        align = SCALE_SHIFT if scored.probe.ordinal else NONE
    check_alignment(align, ordinal=scored.probe.ordinal, probe=scored.probe.name)
    if robust and align != SCALE_SHIFT:
        raise SynthprobeError(f"robust is for --align {SCALE_SHIFT}, not for {align}.")
    if limit is not None and limit < 1:
        raise SynthprobeError(f"{limit} samples to score: it must be a whole number from 1.")
    for option, value, low in (("worst", worst, 0), ("batch", batch, 1)):
        if value < low:
            raise SynthprobeError(f"{option} is {value}: it must be a whole number from {low}.")
    count, together = min(len(scored.samples), limit or len(scored.samples)), scored.probe.together
    if count % together:
        raise SynthprobeError(
            f"{count} samples to score: those of {scored.probe.name} come by {together}, so it "
            f"must be a multiple of that."
        )
    predictor = find_predictor(what, device=device, **options)
    try:
        predictor.begin(scored)
        return _score(
            predictor,
            scored,
            align=align,
            robust=robust,
            name=name or predictor.name,
            count=count,
            worst=worst,
            batch=batch,
        )
    finally:
        predictor.close()


def _score(
    predictor: Predictor,
    scored: Scored,
    *,
    align: str,
    robust: bool,
    name: str,
    count: int,
    worst: int,
    batch: int,
) -> Score:
    other = predictor.other_scale(scored)
    measure = Measure(
        scored.probe,
        scored.samples.normalisation,
        align=align,
        robust=robust,
        other_scale=other,
    )
    for _, rest, prediction in _predicted(predictor, scored, range(count), batch, measure.scene):
        measure.update(prediction, rest.pop("target"), **rest)
    measured = measure.compute()
    rows = worst_rows(measured)[:worst]
    first = [row for row in range(min(count, WORST)) if row not in rows]
    shown: list[Shown] = []
    numbers = [*first, *rows]
    for inputs, rest, raw in _predicted(predictor, scored, numbers, 1):
        target, prediction = rest["target"], raw
        if align == SCALE_SHIFT:
            prediction, _ = align_batch(raw, target, robust=robust)
        shown.append(
            Shown(
                row=numbers[len(shown)],
                inputs=inputs[0],
                target=target[0],
                prediction=prediction[0],
                raw=raw[0],
            )
        )
    return Score(
        name=name,
        kind=predictor.kind,
        facts=predictor.facts(),
        scored=scored,
        samples=count,
        align=align,
        robust=robust,
        other_scale=other,
        measured=measured,
        worst=tuple(rows),
        shown=tuple(shown),
    )


def _predicted(
    predictor: Predictor,
    scored: Scored,
    rows: Sequence[int],
    batch: int,
    scene: Sequence[str] = (),
) -> Iterator[tuple[Tensor, dict[str, Tensor], Tensor]]:
    """Some samples at a time: the input, the other tensors, and what is predicted."""
    samples = scored.samples.beside(scene) if scene else scored.samples
    for start in range(0, len(rows), batch):
        numbers = list(rows[start : start + batch])
        loaded = samples.__getitems__(numbers)
        tensors = {key: torch.stack([sample[key] for sample in loaded]) for key in loaded[0]}
        inputs = tensors.pop(scored.probe.input)
        with apart("cpu"), torch.inference_mode():
            given = predictor.predict(inputs, numbers)
            prediction = checked(given, scored, numbers, predictor.name)
        yield inputs, tensors, prediction.clone()


def worst_rows(measured: Measured) -> list[int]:
    """All rows, the worst first: by the first metric, and by the next ones where that is equal."""
    from synthprobe_models.metrics import METRICS

    keys = []
    for name, figure in measured.figures.items():
        sign = 1 if METRICS[name].higher_is_better else -1
        # A sample on which a metric has no say is not among its worst.
        keys.append([math.inf if value is None else sign * value for value in figure.values])
    return [row for _, row in sorted((key, row) for row, key in enumerate(zip(*keys, strict=True)))]
