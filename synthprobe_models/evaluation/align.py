"""Alignment: a prediction of unknown scale, brought to that of the ground truth.

Networks for depth without a scale are judged after each picture's prediction p was given the scale
s and the shift t that fit the ground truth y best, over all pixels i (Ranftl et al. 2022):

    s, t = argmin Σ_i (s p_i + t - y_i)²,

which is s = Σ (p_i - p̄)(y_i - ȳ) / Σ (p_i - p̄)² and t = ȳ - s p̄; a constant prediction has s = 0.
Nothing keeps s from being negative: where it is, the prediction runs against the ground truth, and
the order metrics say so.

The robust variant lets no outlier decide. Prediction and ground truth are each centred by their
median and divided by their mean absolute deviation from it:

    s = Σ |y_i - med y| / Σ |p_i - med p|,    t = med y - s med p.

Of an even number of pixels, the median is the lower one of the two in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from torch import Tensor

from synthprobe_data import SynthprobeError

NONE: Final = "none"
SCALE_SHIFT: Final = "scale-shift"
ORDER: Final = "order"
ALIGNMENTS: Final = (NONE, SCALE_SHIFT, ORDER)
"""Predictions count as they are; after scale and shift for each picture; or by their order alone,
so that all metrics that depend on a scale are left out."""


@dataclass(frozen=True)
class Fit:
    """The scale and the shift of one picture."""

    scale: float
    shift: float


def check_alignment(name: str, *, ordinal: bool, probe: str) -> None:
    """Raise `SynthprobeError` if predictions for a probe cannot be aligned in this way."""
    if name not in ALIGNMENTS:
        raise SynthprobeError(
            f"there is no alignment {name!r}: take one of {', '.join(ALIGNMENTS)}."
        )
    if name != NONE and not ordinal:
        raise SynthprobeError(
            f"predictions for {probe} have no order to align by: take --align {NONE}."
        )


def fit_scale_shift(prediction: Tensor, target: Tensor, *, robust: bool = False) -> Fit:
    """The scale and the shift of one picture.

    Parameters
    ----------
    prediction, target
        All values of the picture, in double precision.
    robust
        By medians and mean absolute deviations, rather than by least squares.
    """
    p, y = prediction.flatten(), target.flatten()
    if robust:
        middle, true_middle = p.median(), y.median()
        size, wanted = (p - middle).abs().sum(), (y - true_middle).abs().sum()
        scale = (wanted / size).item() if size > 0 else 0.0
        return Fit(scale, (true_middle - scale * middle).item())
    # The mean of equal numbers may be off by a rounding, which must not pass for a spread.
    if p.max() == p.min():
        return Fit(0.0, y.mean().item())
    centred = p - p.mean()
    scale = ((centred * (y - y.mean())).sum() / centred.square().sum()).item()
    return Fit(scale, (y.mean() - scale * p.mean()).item())


def align_batch(
    prediction: Tensor, target: Tensor, *, robust: bool = False
) -> tuple[Tensor, list[Fit]]:
    """A batch with each picture aligned for itself, in double precision, and how each was.

    Parameters
    ----------
    prediction, target
        One row for each picture, of the same shape.
    robust
        As for `fit_scale_shift`.
    """
    p, y = prediction.cpu().double(), target.cpu().double()
    fits = [fit_scale_shift(row, true, robust=robust) for row, true in zip(p, y, strict=True)]
    aligned = p.clone()
    for row, fit in zip(aligned, fits, strict=True):
        row.mul_(fit.scale).add_(fit.shift)
    return aligned, fits
