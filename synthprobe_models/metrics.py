"""How well a network does: the paper's metrics.

Every metric is a mean over samples of a value for each sample, found in double precision. The
values are kept, so that the worst samples can be shown, and their sum is rounded only once, so that
the result does not depend on the batches they came in.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
import torch
from torch import Tensor

from synthprobe_data import SynthprobeError
from synthprobe_models.losses import ADABINS_VARIANCE, LEAST_DEPTH, Loss, check_shapes

PAIRS: Final = 50_000
"""Pairs of pixels that `Ord` compares in a picture, as published."""
PAIR_SEED: Final = 0
"""Which pairs these are."""
TOLERANCE: Final = 0.03
"""The paper's τ: depths whose ratio is within 1 + τ count as equal."""
GREATEST_RATIO: Final = 1.25
"""The δ of `Delta`. With a target in single precision its product is exact."""


METRICS: Final[dict[str, type[Metric]]] = {}
"""By name: all that are defined, here or by the probes of other packages."""


class Metric(ABC):
    """A mean over samples that is given batches of any size.

    A subclass with a name of its own is known by it from then on.
    """

    name: ClassVar[str]
    """As in JSON and CSV."""
    title: ClassVar[str]
    """As in tables."""
    higher_is_better: ClassVar[bool]
    meaning: ClassVar[str]
    """What it is, in a few words."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            METRICS[cls.name] = cls

    def __init__(self) -> None:
        self.values: list[float | None] = []
        """For each sample so far, in the order they came; None where it has no say."""
        self.weights: list[float] | None = None
        """For each sample, how much it counts in the mean; None if all count alike."""

    @torch.no_grad()
    def update(self, prediction: Tensor, target: Tensor, **extra: Tensor) -> None:
        """Take in a batch.

        Parameters
        ----------
        prediction
            What the network gave, with one row for each sample.
        target
            What was right, in the same shape.
        extra
            The other tensors of the batch by name; those that the metric has no use for may be
            given, too.
        """
        if len(prediction) != len(target):
            raise SynthprobeError(
                f"there are {len(prediction)} predictions for {len(target)} targets."
            )
        # Not every device has double precision.
        self.values += self._measure(prediction.cpu().double(), target.cpu().double(), extra)

    def compute(self) -> float:
        """The mean over all samples so far; NaN if there were none."""
        values = [value for value in self.values if value is not None]
        return math.fsum(values) / len(values) if values else math.nan

    @abstractmethod
    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float | None]:
        """The value of each sample of a batch, which is on the CPU and in double precision."""


class Rmse(Metric):
    """The root of the mean squared error of a picture; then the mean over pictures."""

    name = "rmse"
    title = "RMSE"
    higher_is_better = False
    meaning = "root of the mean squared error of a picture"

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        p, t = _rows(prediction, target)
        # One by one: how torch adds up the rows of a batch depends on how many there are.
        errors = zip(p, t, strict=True)
        return [(row - true).square().mean().sqrt().item() for row, true in errors]


class Delta(Metric):
    """The share of pixels that are off by a factor of more than 1.25.

    Lower is better, as in the paper: what others call δ1.25 is the share of pixels that are not
    off. A prediction that is not a positive number counts as off.
    """

    name = "delta"
    title = "pixels off by > 1.25"
    higher_is_better = False
    meaning = "share of pixels that are off by a factor of more than 1.25"

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        p, t = _rows(prediction, target)
        # As the target is positive, the second excludes 0 and less; NaN passes neither.
        good = (p <= GREATEST_RATIO * t) & (t <= GREATEST_RATIO * p)
        return _shares(~good)


class Ord(Metric):
    """The share of pairs of pixels whose order in depth is wrong.

    A pair is +1, -1 or 0: the first is deeper by a factor of at least 1 + τ, the second is, or
    neither is. The pairs are the same for all pictures of a size, whatever the network. Predictions
    below `LEAST_DEPTH` are raised to it, as ratios of others say nothing; NaN is always wrong.

    Parameters
    ----------
    pairs, seed
        How many pairs, and which.
    tolerance
        The paper's τ.
    """

    name = "ord"
    title = "Ord"
    higher_is_better = False
    meaning = "share of pairs of pixels whose order is wrong"

    def __init__(
        self, pairs: int = PAIRS, seed: int = PAIR_SEED, tolerance: float = TOLERANCE
    ) -> None:
        super().__init__()
        self.pairs = pairs
        self.seed = seed
        self.tolerance = tolerance

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        p, t = _rows(prediction, target)
        pairs = pixel_pairs(p.shape[1], self.pairs, self.seed)
        wrong = self._order(p.clamp(min=LEAST_DEPTH), pairs) != self._order(t, pairs)
        return _shares(wrong)

    def _order(self, depth: Tensor, pairs: Tensor) -> Tensor:
        """(n, pairs): +1, -1 or 0; 2 where there is none."""
        ratio = depth[:, pairs[0]] / depth[:, pairs[1]]
        first = (ratio >= 1 + self.tolerance).char()
        second = (ratio <= 1 / (1 + self.tolerance)).char()
        return (first - second).masked_fill_(ratio.isnan(), 2)


class Iou(Metric):
    """Intersection over union of what is found and what is there; then the mean over pictures.

    Parameters
    ----------
    threshold
        Found is what is predicted greater than this. Where nothing is found and nothing is there,
        the picture counts as 1.
    """

    name = "iou"
    title = "IOU"
    higher_is_better = True
    meaning = "intersection over union of what is found and what is there"

    def __init__(self, threshold: float = 0.5) -> None:
        super().__init__()
        self.threshold = threshold

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        p, t = _rows(prediction, target)
        found, there = p > self.threshold, t > self.threshold
        both, either = (found & there).sum(1).tolist(), (found | there).sum(1).tolist()
        return [b / e if e else 1.0 for b, e in zip(both, either, strict=True)]


class MaskedCodeAccuracy(Metric):
    """The share of masked positions whose code is right in every bit; then the mean over samples.

    As in the paper's formula, which is that of one sample. One with nothing masked has no say. The
    positions that are masked come as ``masked``, (n, N).

    Parameters
    ----------
    threshold
        What tells the two values of a bit apart, predicted or true: half-way between -1 and 1, by
        which networks see them.
    """

    name = "masked_code_accuracy"
    title = "accuracy of masked codes"
    higher_is_better = True
    meaning = "share of masked codes that are found"

    def __init__(self, threshold: float = 0.0) -> None:
        super().__init__()
        self.threshold = threshold

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float | None]:
        check_shapes(prediction, target)
        asked = self._asked(extra["masked"].cpu().bool())
        bits = (prediction > self.threshold) == (target > self.threshold)
        right = (bits & ~prediction.isnan()).all(1) & asked
        counts = zip(right.sum(1).tolist(), asked.sum(1).tolist(), strict=True)
        return [r / m if m else None for r, m in counts]

    def _asked(self, masked: Tensor) -> Tensor:
        """The positions that count."""
        return masked


class ShownCodeAccuracy(MaskedCodeAccuracy):
    """The same of the positions that are not masked, whose codes a network is given.

    It says whether the training came as far as to repeat them.
    """

    name = "shown_code_accuracy"
    title = "accuracy of shown codes"
    meaning = "share of shown codes that are repeated"

    def _asked(self, masked: Tensor) -> Tensor:
        return ~masked


class SegmentationAccuracy(Metric):
    """The share of pixels whose class has the highest score; then the mean over pictures.

    The scores come as ``scores``, (n, k, H, W), and the classes as ``classes``, (n, H, W). The
    first of several equal scores counts; a pixel with a score that is not a number is wrong.
    """

    name = "segmentation_accuracy"
    title = "accuracy of the segmentation"
    higher_is_better = True
    meaning = "share of pixels whose class is found"

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        scores, classes = extra["scores"].cpu(), extra["classes"].cpu()
        right = (scores.argmax(1) == classes) & ~scores.isnan().any(1)
        return _shares(right.flatten(1))


class SilogRmse(Metric):
    """A hundred times the root of the variance of the log error and 0.15 times its squared mean.

    The figure by which the report on two tasks judges depth. Predictions below `LEAST_DEPTH` are
    raised to it, as others have no logarithm.
    """

    name = "silog_rmse"
    title = "SILog-RMSE"
    higher_is_better = False
    meaning = "100 x root of the variance of the log error + 0.15 x its squared mean"

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        p, t = _rows(prediction, target)
        errors = p.clamp(min=LEAST_DEPTH).log() - t.log()
        return [100 * _silog(row) for row in errors]


def _silog(error: Tensor) -> float:
    mean = error.mean()
    square = (error - mean).square().mean() + (1 - ADABINS_VARIANCE) * mean.square()
    return math.sqrt(square.item())


class MeanIou(Metric):
    """The intersection over union of each class over all pixels of all pictures, then their mean.

    Classes that occur neither in the pictures nor among what was found have no say. Scores and
    classes come as for `SegmentationAccuracy`. The pixels are counted in `confusion`, so that the
    result does not depend on batches; the `values` of the pictures are those of each by itself.
    """

    name = "mean_iou"
    title = "mIoU"
    higher_is_better = True
    meaning = "mean over classes of the intersection over union of all pixels of the class"

    def __init__(self) -> None:
        super().__init__()
        self.confusion = torch.zeros(0, 0, dtype=torch.long)
        """Pixels by true class (rows) and by the class that was found (columns)."""

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        scores, classes = extra["scores"].cpu(), extra["classes"].cpu()
        counted = confusion_matrices(scores, classes)
        total = counted.sum(0)
        self.confusion = total if not len(self.confusion) else self.confusion + total
        return [mean_iou(one) for one in counted]

    def compute(self) -> float:
        """The mean over classes of all pixels so far; NaN if there were none."""
        return mean_iou(self.confusion)


def confusion_matrices(scores: Tensor, classes: Tensor) -> Tensor:
    """For each picture its pixels by true class and by the class with the highest score.

    Parameters
    ----------
    scores, classes
        (n, k, H, W), and whole numbers (n, H, W) from 0 to k - 1.

    Returns
    -------
    Tensor
        Whole numbers (n, k, k); a row is a true class.
    """
    n, k = scores.shape[:2]
    pairs = (classes.long() * k + scores.argmax(1)).flatten(1)
    counted = torch.zeros(n, k * k, dtype=torch.long)
    counted.scatter_add_(1, pairs, torch.ones_like(pairs))
    return counted.view(n, k, k)


def mean_iou(confusion: Tensor) -> float:
    """The mean over classes of their intersection over union; NaN without a pixel."""
    both = confusion.diagonal().tolist()
    either = (confusion.sum(0) + confusion.sum(1) - confusion.diagonal()).tolist()
    shares = [b / e for b, e in zip(both, either, strict=True) if e]
    return math.fsum(shares) / len(shares) if shares else math.nan


class MeanLoss(Metric):
    """A loss, sample by sample.

    Parameters
    ----------
    loss
        As in `synthprobe_models.losses.LOSSES`.
    extra
        Names of the other tensors of a batch that it needs.
    """

    name = "loss"
    title = "loss"
    higher_is_better = False
    meaning = "the loss that it was trained with"

    def __init__(self, loss: Loss, extra: Sequence[str] = ()) -> None:
        super().__init__()
        self.loss = loss
        self.extra = tuple(extra)

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float]:
        others = {name: extra[name].cpu() for name in self.extra}
        return [
            self.loss(
                prediction[row], target[row], **{name: other[row] for name, other in others.items()}
            ).item()
            for row in (slice(i, i + 1) for i in range(len(target)))
        ]


GAP: Final = "gap"
"""Beside the metrics in a result: the generalisation gap, of which lower is better, too."""


def directions(names: Iterable[str]) -> dict[str, Any]:
    """What JSON says of some metrics beside their values.

    Parameters
    ----------
    names
        Of the metrics, or `GAP`.
    """
    names = list(names)
    return {
        "lower_is_better": {
            name: name == GAP or not METRICS[name].higher_is_better for name in names
        },
        "meaning": {
            name: "test loss less training loss" if name == GAP else METRICS[name].meaning
            for name in names
        },
    }


def generalisation_gap(train_loss: float, test_loss: float) -> float:
    """How much greater the loss is on the test set than on the training set, after training."""
    return test_loss - train_loss


@lru_cache(maxsize=8)
def pixel_pairs(pixels: int, pairs: int = PAIRS, seed: int = PAIR_SEED) -> Tensor:
    """The pairs of pixels that `Ord` compares: integers (2, pairs), the two of a pair different.

    They are the same on every machine and with every version of NumPy, which promises that for the
    raw numbers of a bit generator.
    """
    if pixels < 2:
        raise SynthprobeError("Ord compares pixels: a picture must have at least two.")
    first, second = np.random.PCG64(seed).random_raw((2, pairs))
    first %= np.uint64(pixels)
    second %= np.uint64(pixels - 1)
    second += second >= first  # any pixel but the first one
    return torch.from_numpy(np.stack([first, second]).astype(np.int64))


def _rows(prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both with each sample as one row."""
    check_shapes(prediction, target)
    return prediction.flatten(1), target.flatten(1)


def _shares(marked: Tensor) -> list[float]:
    """The share of each row that is marked."""
    return [count / marked.shape[1] for count in marked.sum(1).tolist()]
