"""Accuracy by information distance: how far from the difference two twins are told apart.

A pixel counts if both twins show the same rectangle there, their pictures are equal around it, and
its rank differs. It is right if the prediction lies on its own side of the middle between the two
ranks; exactly in the middle it is half right. So a network that gives both twins the same is right
in exactly one of them, whatever it gives. What is not a number is wrong. Predictions of another
scale are compared with those for the twin instead.

All figures are counts, so that they do not depend on batches. Twins come one after the other, as in
the files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from synthprobe_data import SynthprobeError
from synthprobe_models.losses import check_shapes
from synthprobe_models.metrics import Metric
from synthprobe_models.text import columns

BINS: Final = (
    (1, 4),
    (5, 9),
    (10, 16),
    (17, 24),
    (25, 32),
    (33, 48),
    (49, 64),
    (65, 96),
    (97, None),
)
"""The first and the last distance of each bin; the last bin has no end."""
_NEAR: Final = (1, 4)
_FAR: Final = (17, None)
NEAR: Final = "1 to 4"
FAR: Final = "17 or more"
REACHED: Final = 0.75
"""Up to the last bin above this accuracy a network reaches."""
SCENE: Final = ()
"""The arrays of a file that are needed beside what networks see: none."""


def bin_title(bounds: tuple[int, int | None]) -> str:
    """A bin, for people."""
    first, last = bounds
    return f"{first} or more" if last is None else f"{first} to {last}"


class Pairs:
    """Brings twins together, however they are batched, and says which pixels are right.

    Parameters
    ----------
    compared
        Whether to compare the two predictions of a pixel with each other, and not each with the
        middle between the two ranks: that needs no scale. A network that gives both twins the same
        is half right there.
    """

    def __init__(self, *, compared: bool = False) -> None:
        self.compared = compared
        self._waiting: tuple[Tensor, Tensor, Tensor] | None = None

    def take(self, prediction: Tensor, target: Tensor, distance: Tensor) -> tuple[Tensor, Tensor]:
        """Of all pairs that are complete now: the distances that count, and how right each is.

        Both are (pairs, 2, H x W); distances of 0 count nothing. Right is 0, 1/2 or 1.
        """
        check_shapes(prediction, target)
        given = (prediction.flatten(1), target.flatten(1), distance.flatten(1))
        if self._waiting is not None:
            joined = zip(self._waiting, given, strict=True)
            given = tuple(torch.cat([before, now]) for before, now in joined)  # type: ignore[assignment]
        whole = len(given[0]) // 2 * 2
        self._waiting = None if whole == len(given[0]) else tuple(part[whole:] for part in given)  # type: ignore[assignment]
        p, t, d = (part[:whole].reshape(-1, 2, part.shape[1]) for part in given)
        if not torch.equal(d[:, 0], d[:, 1]):
            raise SynthprobeError("the samples are no twins: their distances differ.")
        other = t.flip(1)
        middle = p.flip(1) if self.compared else (t + other) / 2
        side = (p - middle) * (t - other).sign()
        right = (side > 0).double() + (side == 0).double() / 2
        return d, right


@dataclass(frozen=True)
class Count:
    """How many of how many pixels are right; halves occur."""

    right: float
    of: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; ``None`` of nothing."""
        return self.right / self.of if self.of else None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"share": self.share, "right": self.right, "of": self.of}


@dataclass(frozen=True, kw_only=True)
class DistanceScores:
    """The accuracy of a network on twins, by distance."""

    by_distance: Mapping[str, Count]
    near: Count
    far: Count

    @property
    def reach(self) -> int:
        """The last distance of the last bin above `REACHED`, with all bins before it; 0 if none.

        Of the bin without an end, its first distance.
        """
        reached = 0
        for bounds, count in zip(BINS, self.by_distance.values(), strict=True):
            if count.share is None or count.share <= REACHED:
                break
            reached = bounds[0] if bounds[1] is None else bounds[1]
        return reached

    def with_steps_of(self, _aligned: DistanceScores) -> DistanceScores:
        """Nothing of it is taken from aligned predictions."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "by_distance": {title: count.to_dict() for title, count in self.by_distance.items()},
            "near": self.near.to_dict(),
            "far": self.far.to_dict(),
            "reach": self.reach,
        }

    def lines(self) -> list[str]:
        """The figures, for people."""
        rows = [("pixels from the difference", "right", "of")]
        rows += [(f"  {title}", *_cells(count)) for title, count in self.by_distance.items()]
        rows += [(f"near, {NEAR}", *_cells(self.near)), (f"far, {FAR}", *_cells(self.far))]
        rows += [(f"reach, the last bin above {REACHED:.0%}", str(self.reach), "")]
        return columns(rows, right=(1, 2))


class OrderMetrics:
    """Counts what `DistanceScores` says, over batches of any size."""

    compared: ClassVar[bool] = False

    def __init__(self) -> None:
        self._pairs = Pairs(compared=self.compared)
        self._right = np.zeros(1)
        self._of = np.zeros(1, np.int64)

    @classmethod
    def of(cls, _normalisation: Mapping[str, Mapping[str, float]]) -> OrderMetrics:
        """The metrics of samples; how networks see ranks does not matter."""
        return cls()

    def update(self, prediction: Tensor, target: Tensor, **extra: Tensor) -> None:
        """Take in a batch.

        Parameters
        ----------
        prediction, target
            (n, 1, H, W), as for the other metrics.
        extra
            ``distance``, (n, H, W); others may be given, too.
        """
        given = (prediction.detach().cpu().double(), target.cpu().double())
        distance, right = self._pairs.take(*given, extra["distance"].cpu())
        flat = distance.flatten().numpy()
        longest = max(int(flat.max(initial=0)) + 1, len(self._of))
        self._right = _grown(self._right, longest)
        self._of = _grown(self._of, longest)
        self._right += np.bincount(flat, right.flatten().numpy(), longest)
        self._of += np.bincount(flat, minlength=longest)

    def compute(self) -> DistanceScores:
        """The figures of all pairs so far."""
        return DistanceScores(
            by_distance={bin_title(bounds): self._count(bounds) for bounds in BINS},
            near=self._count(_NEAR),
            far=self._count(_FAR),
        )

    def _count(self, bounds: tuple[int, int | None]) -> Count:
        first, last = bounds
        part = slice(first, None if last is None else last + 1)
        return Count(float(self._right[part].sum()), int(self._of[part].sum()))


class ScoredMetrics(OrderMetrics):
    """The same for predictions of any scale: the twins are compared with each other."""

    compared = True


class _PairAccuracy(Metric):
    """The share of the counted pixels of a range of distances that are right, over all pairs."""

    higher_is_better = True
    bounds: ClassVar[tuple[int, int | None]]
    compared: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._pairs = Pairs(compared=self.compared)
        self._right = 0.0
        self.weights: list[float] = []
        """How many pixels of each sample counted."""

    def compute(self) -> float:
        """The share over all pairs so far; NaN if no pixel counted."""
        of = math.fsum(self.weights)
        return self._right / of if of else math.nan

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float | None]:
        distance, right = self._pairs.take(prediction, target, extra["distance"].cpu())
        first, last = self.bounds
        counts = distance >= first
        if last is not None:
            counts &= distance <= last
        rights = (right * counts).sum(2).flatten().tolist()
        ofs = counts.sum(2).flatten().tolist()
        self._right += math.fsum(rights)
        self.weights += ofs
        return [r / of if of else None for r, of in zip(rights, ofs, strict=True)]


class NearAccuracy(_PairAccuracy):
    """Of the pixels next to the difference."""

    name = "near_accuracy"
    title = "accuracy near the difference"
    meaning = f"share of counted pixels {NEAR} from the difference that are right"
    bounds = _NEAR


class FarAccuracy(_PairAccuracy):
    """Of the pixels far from the difference."""

    name = "far_accuracy"
    title = "accuracy far from the difference"
    meaning = f"share of counted pixels {FAR} from the difference that are right"
    bounds = _FAR


class NearOrder(NearAccuracy):
    """Of the pixels next to the difference, on any scale."""

    name = "near_order"
    title = "twins in order near the difference"
    meaning = f"share of counted pixels {NEAR} from the difference at which the twins are in order"
    compared = True


class FarOrder(FarAccuracy):
    """Of the pixels far from the difference, on any scale."""

    name = "far_order"
    title = "twins in order far from the difference"
    meaning = f"share of counted pixels {FAR} from the difference at which the twins are in order"
    compared = True


ORDER: Final = (NearOrder, FarOrder)
"""The metrics of predictions that need no alignment."""


def _cells(count: Count) -> tuple[str, str]:
    return "none" if count.share is None else f"{count.share:.1%}", f"{count.of:,}"


def _grown(values: NDArray[Any], length: int) -> NDArray[Any]:
    return np.pad(values, (0, length - len(values)))


def page_tables(order: Mapping[str, Any]) -> list[tuple[str, str, list[list[str]]]]:
    """Scores as tables of a page: for each its heading, its text, and its rows.

    Parameters
    ----------
    order
        As `DistanceScores.to_dict` has it.
    """
    shares = {**order["by_distance"], f"near, {NEAR}": order["near"], f"far, {FAR}": order["far"]}
    rows = [["pixels from the difference", "in order", "of"]]
    rows += [
        [title, f"{share['share']:.1%}", f"{share['of']:,}"]
        for title, share in shares.items()
        if share["of"]
    ]
    rows.append([f"reach, the last bin above {REACHED:.0%}", str(order["reach"]), ""])
    text = (
        "Pixels whose rank differs between the twins, and how often the two predictions are in the "
        "right order. What does not see the difference has exactly 50%."
    )
    return [("Twins in order", text, rows)]
