"""Metrics of RDE that hang on the order of predictions alone, so that no alignment is needed.

A prediction grows towards the viewer, as ranks and disparities do. Any increasing map of it leaves
all of these as they are. The rank of a rectangle is the lower median of the prediction over its
visible pixels, by `synthprobe_models.evaluation.rde.order.ranks_of`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from synthprobe_models.evaluation.rde.order import ranks_of
from synthprobe_models.metrics import Metric

SCENE: Final = ("above", "label", "rectangle_rank")
"""The arrays of a file that these metrics need, beside what networks see."""


class _OfRectangles(Metric):
    """A metric of the ranks that a prediction gives to the rectangles of a picture."""

    def _measure(
        self, prediction: Tensor, target: Tensor, extra: Mapping[str, Tensor]
    ) -> Sequence[float | None]:
        scene = {name: extra[name].cpu().numpy() for name in SCENE}
        values: list[float | None] = []
        for row, predicted in enumerate(prediction.numpy()):
            label = scene["label"][row]
            above, true = scene["above"][row], scene["rectangle_rank"][row]
            found = ranks_of(predicted.reshape(label.shape), label, len(above))
            values.append(self._of_picture(found, true.astype(np.int64), above > 0, label))
        return values

    @abstractmethod
    def _of_picture(
        self,
        found: NDArray[np.float64],
        true: NDArray[np.int64],
        above: NDArray[np.bool_],
        label: NDArray[np.integer],
    ) -> float | None:
        """The value of a picture; NaN is the found rank of a rectangle that does not show."""


class PairsInOrder(_OfRectangles):
    """The share of the pairs that a cue orders which are predicted in this order."""

    name = "pairs_in_order"
    title = "pairs in order"
    higher_is_better = True
    meaning = "share of a picture's pairs that a cue orders which are in this order"

    def _of_picture(
        self,
        found: NDArray[np.float64],
        true: NDArray[np.int64],
        above: NDArray[np.bool_],
        label: NDArray[np.integer],
    ) -> float | None:
        upper, lower = np.nonzero(above)
        right = found[upper] > found[lower]
        return int(right.sum()) / len(right) if len(right) else None


class Whdr(_OfRectangles):
    """The rate of disagreement on which of two rectangles is nearer, over all pairs that differ.

    As InstaOrder has WHDR for pairs of instances. Its weights are the confidence of people, which
    is 1 here, as every rank is certified; pairs of the same rank have no order and no say.
    """

    name = "whdr"
    title = "WHDR"
    higher_is_better = False
    meaning = "share of pairs of rectangles of different ranks that are not in this order"

    def _of_picture(
        self,
        found: NDArray[np.float64],
        true: NDArray[np.int64],
        above: NDArray[np.bool_],
        label: NDArray[np.integer],
    ) -> float | None:
        shown = np.flatnonzero(~np.isnan(found))
        nearer = true[shown, None] > true[None, shown]
        right = found[shown, None] > found[None, shown]
        pairs = int(nearer.sum())
        return int((nearer & ~right).sum()) / pairs if pairs else None


class OcclusionF1(_OfRectangles):
    """F1 of "this rectangle occludes that one", over ordered pairs of rectangles.

    As InstaOrder has the occlusion order. True are the pairs that a cue orders. A prediction says
    that one occludes another where their visible extents, the smallest upright boxes around their
    visible pixels, touch or overlap, and it has the higher rank. A picture without any such pair,
    true or predicted, has no say.
    """

    name = "occlusion_f1"
    title = "occlusion F1"
    higher_is_better = True
    meaning = "F1 of which rectangle occludes which"

    def _of_picture(
        self,
        found: NDArray[np.float64],
        true: NDArray[np.int64],
        above: NDArray[np.bool_],
        label: NDArray[np.integer],
    ) -> float | None:
        said = extents_meet(label, len(found)) & (found[:, None] > found[None, :])
        both = int((said & above).sum())
        either = int(said.sum()) + int(above.sum())
        return 2 * both / either if either else None


def extents_meet(label: NDArray[np.integer], count: int) -> NDArray[np.bool_]:
    """For each two of so many rectangles, whether their visible extents touch or overlap.

    Parameters
    ----------
    label
        The label map.
    count
        How many rectangles there are; one that does not show meets no other.
    """
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    for k in range(count):
        rows, columns = np.nonzero(label == k + 1)
        if len(rows):
            low[k] = rows.min(), columns.min()
            high[k] = rows.max() + 1, columns.max() + 1
    begins_before_end = np.all(low[:, None] <= high[None, :], axis=-1)
    meet: NDArray[np.bool_] = np.logical_and(begins_before_end, begins_before_end.T)
    np.fill_diagonal(meet, False)
    return meet


ORDER: Final[tuple[Callable[[], Metric], ...]] = (PairsInOrder, Whdr, OcclusionF1)
"""What makes these metrics, the most telling first."""
