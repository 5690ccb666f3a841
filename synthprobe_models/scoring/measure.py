"""The measure of predictions: first their order, then what depends on a scale, aligned or not."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from scipy import stats
from torch import Tensor

from synthprobe_models.evaluation.align import NONE, ORDER, SCALE_SHIFT, Fit, align_batch
from synthprobe_models.metrics import Metric
from synthprobe_models.probes.probe import Normalisation, Probe

LEVEL: Final = 0.95
"""Of the intervals: that of a mean over samples, by Student's t."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One metric over all samples."""

    value: float
    low: float | None
    high: float | None
    """The interval of `LEVEL`; none of fewer than two samples."""
    needs_scale: bool
    """Whether it depends on the scale of predictions, and so on how they were aligned."""
    values: tuple[float | None, ...] = field(repr=False)
    """Of each sample; None where it has no say."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What some predictions score."""

    figures: Mapping[str, Figure]
    """By the names of the metrics; those that need no alignment come first."""
    left_out: Mapping[str, str]
    """By the names of metrics that were not measured: why."""
    order: Mapping[str, Any] | None
    """What predictions make of the cues, as plain JSON values, where the probe can tell."""
    inverted: int
    """Pictures whose scale is negative after the alignment."""


class Measure:
    """Measures predictions, over batches of any size.

    Parameters
    ----------
    probe
        Of the samples.
    normalisation
        How networks see them.
    align
        One of `synthprobe_models.evaluation.align.ALIGNMENTS`.
    robust
        As for `synthprobe_models.evaluation.align.fit_scale_shift`.
    other_scale
        If predictions are on another scale than the ground truth, why: without an alignment,
        metrics that depend on the scale are left out.
    """

    def __init__(
        self,
        probe: Probe,
        normalisation: Normalisation,
        *,
        align: str,
        robust: bool = False,
        other_scale: str | None = None,
    ) -> None:
        self.align = align
        self.robust = robust
        self._by_order: list[Metric] = []
        self._fits: list[Fit] = []
        scene: tuple[str, ...] = ()
        if probe.order_metrics is not None:
            module = importlib.import_module(probe.order_metrics)
            self._by_order = [make() for make in module.ORDER]
            scene += tuple(module.SCENE)
        self._cues: list[Any] = []
        if probe.cue_metrics is not None:
            module = importlib.import_module(probe.cue_metrics)
            make = getattr(module, "ScoredMetrics", module.OrderMetrics)
            self._cues = [make.of(normalisation) for _ in range(2)]
            scene += tuple(module.SCENE)
        self.scene = tuple(dict.fromkeys(scene))
        """The arrays of a file that are needed, beside what networks see."""
        self._why_left_out: str | None = None
        if align == ORDER:
            self._why_left_out = "it depends on a scale, and only the order was asked for"
        elif align == NONE and other_scale is not None:
            self._why_left_out = f"the prediction is on another scale: {other_scale}"
        self._scaled: list[Metric] = [make() for make in probe.metrics]

    def update(self, prediction: Tensor, target: Tensor, **extra: Tensor) -> None:
        """Take in a batch.

        Parameters
        ----------
        prediction, target
            One row for each sample, of the same shape, as networks see them.
        extra
            The other tensors of the batch, those of `scene` among them.
        """
        for metric in self._by_order:
            metric.update(prediction, target, **extra)
        aligned = prediction
        if self.align == SCALE_SHIFT:
            aligned, fits = align_batch(prediction, target, robust=self.robust)
            self._fits += fits
        if self._cues:
            self._cues[0].update(prediction, target, **extra)
            self._cues[1].update(aligned, target, **extra)
        if self._why_left_out is None:
            for metric in self._scaled:
                metric.update(aligned, target, **extra)

    def compute(self) -> Measured:
        """The figures of all samples so far."""
        figures = {metric.name: _figure(metric, needs_scale=False) for metric in self._by_order}
        left_out: dict[str, str] = {}
        for metric in self._scaled:
            if self._why_left_out is None:
                figures[metric.name] = _figure(metric, needs_scale=True)
            else:
                left_out[metric.name] = self._why_left_out
        return Measured(
            figures=figures,
            left_out=left_out,
            order=self._order(),
            inverted=sum(fit.scale < 0 for fit in self._fits),
        )

    def _order(self) -> dict[str, Any] | None:
        """Pairs by the order as it was given; what depends on rank steps after the alignment."""
        if not self._cues:
            return None
        plain, aligned = (metrics.compute() for metrics in self._cues)
        found: dict[str, Any] = plain.with_steps_of(aligned).to_dict()
        if self._why_left_out is not None:
            for name in found.keys() & {"consistent", "spread", "even"}:
                found[name] = None
        return found


def _figure(metric: Metric, *, needs_scale: bool) -> Figure:
    low, high = interval(metric.values)
    return Figure(
        value=metric.compute(),
        low=low,
        high=high,
        needs_scale=needs_scale,
        values=tuple(metric.values),
    )


def interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """The interval of the mean of some values, by Student's t; none of fewer than two."""
    found = [value for value in values if value is not None]
    if len(found) < 2 or not all(map(math.isfinite, found)):
        return None, None
    spread, mean = torch.tensor(found, dtype=torch.double).std().item(), math.fsum(found)
    mean /= len(found)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(found) - 1)) * spread / math.sqrt(len(found))
    return mean - reach, mean + reach
