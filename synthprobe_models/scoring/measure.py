"""The measure of predictions: first their order, then what depends on a scale, aligned or not."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
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
    weights: tuple[float, ...] | None = field(default=None, repr=False)
    """How much each sample counts in the mean; None if all count alike."""


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
            self._why_left_out = "only the order was asked for, and they depend on a scale"
        elif align == NONE and other_scale is not None:
            self._why_left_out = f"the prediction is on another scale: {other_scale}"
        self._scaled: list[Metric] = [make() for make in probe.metrics]
        self._together = probe.together

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
        figures = {m.name: self._figure(m, needs_scale=False) for m in self._by_order}
        left_out: dict[str, str] = {}
        for metric in self._scaled:
            if self._why_left_out is None:
                figures[metric.name] = self._figure(metric, needs_scale=True)
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

    def _figure(self, metric: Metric, *, needs_scale: bool) -> Figure:
        weights = metric.weights
        low, high = interval(metric.values, weights=weights, together=self._together)
        return Figure(
            value=metric.compute(),
            low=low,
            high=high,
            needs_scale=needs_scale,
            values=tuple(metric.values),
            weights=None if weights is None else tuple(weights),
        )


def interval(
    values: Sequence[float | None],
    *,
    weights: Sequence[float] | None = None,
    together: int = 1,
) -> tuple[float | None, float | None]:
    """The interval of the mean of some values, by Student's t; none of fewer than two units.

    Parameters
    ----------
    values
        One for each sample; None where it has no say.
    weights
        How much each counts; if not alike, the interval is that of the linearised ratio.
    together
        So many samples, one after the other, are one unit.
    """
    total, weight = over_units(values, weights, together)
    if len(total) < 2 or not np.isfinite(total).all():
        return None, None
    mean = math.fsum(total) / math.fsum(weight)
    spread = np.std(total - mean * weight, ddof=1) / weight.mean()
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(total) - 1) * spread / math.sqrt(len(total)))
    return mean - reach, mean + reach


def over_units(
    values: Sequence[float | None], weights: Sequence[float] | None, together: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each unit that has a say, the sum of its weighted values and the sum of its weights.

    Parameters
    ----------
    values, weights, together
        As for `interval`.
    """
    told = np.array([value is not None for value in values], bool)
    weight = told * (np.ones(len(values)) if weights is None else np.asarray(weights, np.float64))
    total = weight * np.array([0.0 if value is None else value for value in values])
    totals, sums = (part.reshape(-1, together).sum(1) for part in (total, weight))
    return totals[sums > 0], sums[sums > 0]
