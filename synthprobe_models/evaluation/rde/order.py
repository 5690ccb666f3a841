"""Why a network fails on RDE: the order of pairs of rectangles, and whether pieces get one rank.

Only pairs that a cue orders directly are scored, those that the file has in ``above``; where no cue
decides, nothing was asked of the network. Its rank of a rectangle, or of a piece of one, is the
median of what it predicts for the visible pixels, the lower one of two in the middle: a value that
it gave, so that the order of rectangles hangs on the order of predictions alone.

All figures are counts of whole numbers, or sums that are rounded once: they do not depend on
batches.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from torch import Tensor

from synthprobe_data import SynthprobeError, pair_distances
from synthprobe_models.text import columns

SCENE: Final = ("above", "label", "n_rectangles", "rectangle_rank", "rectangles")
"""The arrays of a file that tell all this, beside what networks see."""
_EDGES: Final[Mapping[str, tuple[int, ...]]] = {
    "cue": (2, 3),
    "distance": (8, 16, 32, 64),
    "pieces": (2, 3),
    "depth": (3, 4, 5, 6, 7, 8),
}
"""Where a bin ends and the next one begins."""
BINS: Final[Mapping[str, tuple[str, ...]]] = {
    "cue": ("T-junction only", "convexity only", "both"),
    "distance": ("0 to 7", "8 to 15", "16 to 31", "32 to 63", "64 or more"),
    "pieces": ("1", "2", "3 or more"),
    "depth": ("2", "3", "4", "5", "6", "7", "8 or more"),
}
"""How pairs are split: by the cues between them; by how far these must reach, in pixels, as by
`synthprobe_data.rde.pair_distances`; by the pieces in which the more divided of the two shows; by
the depth of the order, which is the highest rank of the sample."""

TITLES: Final[Mapping[str, str]] = {
    "cue": "decided by",
    "distance": "pixels that the cue must reach",
    "pieces": "visible pieces of the more divided one",
    "depth": "depth of the order",
}
"""What pairs are split by, in words."""


_NONE: Final = "none"
_STEPS: Final = (
    "These depend on rank steps, and so on the alignment. What gives all rectangles nearly one "
    "rank has them all, so they say something only beside the order."
)


@dataclass(frozen=True)
class Share:
    """How many of how many."""

    right: int
    of: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; ``None`` of nothing."""
        return self.right / self.of if self.of else None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"share": self.share, "right": self.right, "of": self.of}


@dataclass(frozen=True, kw_only=True)
class OrderScores:
    """What a network makes of the cues of some samples. Nothing to count is said as ``None``."""

    pairs: Share
    """Pairs of rectangles that a cue orders, and of these the ones that the network puts in this
    order. Two equal ranks are no order, nor is what is not a number."""
    by: Mapping[str, Mapping[str, Share]]
    """The same, split as by `BINS`."""
    consistent: Share
    """Rectangles that show in several pieces, and of these the ones whose pieces the network gives
    ranks less than half a rank step apart."""
    spread: float | None
    """How far apart the ranks of the pieces of such a rectangle are, in rank steps, on average."""
    even: Share
    """Visible pixels of rectangles, and of these the ones that are predicted less than half a rank
    step from the rank of their piece."""

    def with_steps_of(self, aligned: OrderScores) -> OrderScores:
        """The pairs of these, and what depends on rank steps of predictions that were aligned."""
        return dataclasses.replace(
            self, consistent=aligned.consistent, spread=aligned.spread, even=aligned.even
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; what is not a finite number is none."""
        finite = self.spread is not None and math.isfinite(self.spread)
        return {
            "pairs": self.pairs.to_dict(),
            "by": {
                split: {title: share.to_dict() for title, share in bins.items()}
                for split, bins in self.by.items()
            },
            "consistent": self.consistent.to_dict(),
            "spread": self.spread if finite else None,
            "even": self.even.to_dict(),
        }

    def lines(self) -> list[str]:
        """The figures, for people; a share always with what it is a share of."""
        rows = [("pairs that a cue orders", "in order", "of"), ("all", *_cells(self.pairs))]
        for split, bins in self.by.items():
            rows.append((TITLES[split], "", ""))
            rows += [(f"  {title}", *_cells(share)) for title, share in bins.items()]
        spread = _NONE if self.spread is None else f"{self.spread:.2f}"
        rows += [
            ("rectangles in several pieces", "", ""),
            ("  whose pieces are within half a rank step", *_cells(self.consistent)),
            ("  rank steps between pieces, on average", spread, f"{self.consistent.of:,}"),
            ("pixels within half a rank step of their piece", *_cells(self.even)),
        ]
        return columns(rows, right=(1, 2))


class OrderMetrics:
    """Counts what `OrderScores` says, over batches of any size.

    Parameters
    ----------
    step
        How far apart two neighbouring ranks are, as networks see them.
    """

    def __init__(self, step: float) -> None:
        self.step = step
        self._pairs = {split: np.zeros((2, len(bins)), np.int64) for split, bins in BINS.items()}
        self._spreads: list[float] = []
        self._even = np.zeros(2, np.int64)

    @classmethod
    def of(cls, normalisation: Mapping[str, Mapping[str, float]]) -> OrderMetrics:
        """The metrics of samples that networks see in this way."""
        return cls(step=1 / normalisation["rank"]["divisor"])

    def update(self, prediction: Tensor, target: Tensor, **extra: Tensor) -> None:
        """Take in a batch.

        Parameters
        ----------
        prediction, target
            (n, 1, H, W), as for the other metrics.
        extra
            The tensors by the names in `SCENE`, as a file has them; others may be given, too.
        """
        if prediction.shape != target.shape:
            raise SynthprobeError(
                f"the prediction has the shape {tuple(prediction.shape)}, but the target "
                f"{tuple(target.shape)}: they must be equal."
            )
        scene = {name: extra[name].cpu().numpy() for name in SCENE}
        height, width = scene["label"].shape[1:]
        distance = pair_distances(
            scene["rectangles"], scene["n_rectangles"], height=height, width=width
        )
        maps = prediction.detach().cpu().double().numpy().reshape(-1, height, width)
        with np.errstate(invalid="ignore"):  # a network may give what is not a number
            for row, predicted in enumerate(maps):
                self._count(predicted, distance[row], {name: scene[name][row] for name in SCENE})

    def compute(self) -> OrderScores:
        """The figures of all samples so far."""
        spreads = self._spreads
        return OrderScores(
            pairs=Share(*self._pairs["cue"].sum(1).tolist()),
            by={
                split: {
                    title: Share(*counts)
                    for title, counts in zip(BINS[split], table.T.tolist(), strict=True)
                }
                for split, table in self._pairs.items()
            },
            consistent=Share(sum(spread < 0.5 for spread in spreads), len(spreads)),
            spread=math.fsum(spreads) / len(spreads) if spreads else None,
            even=Share(*self._even.tolist()),
        )

    def _count(
        self, predicted: NDArray[np.float64], distance: NDArray[np.uint16], scene: Mapping[str, Any]
    ) -> None:
        """Take in one sample."""
        label, above = scene["label"], scene["above"]
        most = len(above)
        upper, lower = np.nonzero(above)
        rank = ranks_of(predicted, label, most)
        right = rank[upper] > rank[lower]
        piece, owner = find_pieces(label)
        pieces = np.bincount(owner, minlength=most)
        values = {
            "cue": above[upper, lower],
            "distance": distance[upper, lower],
            "pieces": np.maximum(pieces[upper], pieces[lower]),
            "depth": np.full(len(upper), scene["rectangle_rank"].max(initial=0)),
        }
        for split, table in self._pairs.items():
            place = np.digitize(values[split], _EDGES[split])
            table[0] += np.bincount(place[right], minlength=table.shape[1])
            table[1] += np.bincount(place, minlength=table.shape[1])
        rank_of_piece = ranks_of(predicted, piece, len(owner))
        for k in np.flatnonzero(pieces > 1):
            own = rank_of_piece[owner == k]
            self._spreads.append(float((own.max() - own.min()) / self.step))
        shown = piece > 0
        error = np.abs(predicted[shown] - rank_of_piece[piece[shown] - 1])
        self._even += (np.sum(error < self.step / 2), np.sum(shown))


def ranks_of(
    predicted: NDArray[np.float64], label: NDArray[np.integer], count: int
) -> NDArray[np.float64]:
    """The lower median of a prediction over each region of a label map.

    Parameters
    ----------
    predicted
        What a network gives, (height, width).
    label
        The regions, from 1; 0 is the background.
    count
        How many regions there are. One without a pixel, or with one that is not a number, has NaN.
    """
    medians = np.full(count, np.nan)
    for k, values in _values_of_regions(predicted, label, count):
        values.sort()
        if not np.isnan(values[-1]):  # NaN is sorted to the end
            medians[k] = values[(len(values) - 1) // 2]
    return medians


def find_pieces(
    label: NDArray[np.integer],
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The visible pieces of rectangles; pixels that share a side are of one piece.

    Parameters
    ----------
    label
        The label map.

    Returns
    -------
    piece
        The pieces from 1, (height, width); 0 is the background.
    owner
        The rectangle of each piece, from 0.
    """
    # A row or a column like the one before it changes nothing: some 20 of each are left.
    new_row = np.append(True, (label[1:] != label[:-1]).any(1))
    new_column = np.append(True, (label[:, 1:] != label[:, :-1]).any(0))
    cell = label[new_row][:, new_column]
    # With room between the cells, filled where two are of one rectangle, one call finds all pieces.
    apart = np.zeros((2 * cell.shape[0] - 1, 2 * cell.shape[1] - 1), bool)
    apart[::2, ::2] = cell > 0
    apart[1::2, ::2] = (cell[1:] == cell[:-1]) & (cell[1:] > 0)
    apart[::2, 1::2] = (cell[:, 1:] == cell[:, :-1]) & (cell[:, 1:] > 0)
    numbers, count = ndimage.label(apart)
    piece_of_cell = numbers[::2, ::2]
    owner = np.zeros(count + 1, np.int64)
    owner[piece_of_cell] = cell.astype(np.int64) - 1
    rows, columns = np.cumsum(new_row) - 1, np.cumsum(new_column) - 1
    return piece_of_cell.astype(np.uint16)[rows][:, columns], owner[1:]


def _values_of_regions(
    predicted: NDArray[np.float64], label: NDArray[np.integer], count: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """For each region that shows, from 0: the predictions of its pixels."""
    flat = label.ravel()
    order = np.argsort(flat, kind="stable")
    sorted_values = predicted.ravel()[order]
    ends = np.cumsum(np.bincount(flat, minlength=count + 1))
    for k in range(count):
        if ends[k + 1] > ends[k]:
            yield k, sorted_values[ends[k] : ends[k + 1]]


def _cells(share: Share) -> tuple[str, str]:
    found = _NONE if share.share is None else f"{share.share:.1%}"
    return found, f"{share.of:,}"


def page_tables(order: Mapping[str, Any]) -> list[tuple[str, str, list[list[str]]]]:
    """Scores as tables of a page: for each its heading, if it has one, its text, and its rows.

    Parameters
    ----------
    order
        As `OrderScores.to_dict` has it; ``None`` where something was not measured.
    """
    rows = [["pairs", "in order", "of"], ["all", *_share_cells(order["pairs"])]]
    for split, bins in order["by"].items():
        rows += [
            [f"{TITLES[split]}: {title}", *_share_cells(share)]
            for title, share in bins.items()
            if share["of"]
        ]
    text = "All pairs that a cue orders, of all pictures together; under any increasing map."
    tables = [("Pairs in order", text, rows)]
    if order["consistent"] is not None:
        spread = "-" if order["spread"] is None else f"{order['spread']:.2f}"
        steps = [
            ["in rank steps", "share", "of"],
            ["rectangles whose pieces are within half a step", *_share_cells(order["consistent"])],
            ["steps between pieces, on average", spread, f"{order['consistent']['of']:,}"],
            ["pixels within half a step of their piece", *_share_cells(order["even"])],
        ]
        tables.append(("", _STEPS, steps))
    return tables


def _share_cells(share: Mapping[str, Any]) -> tuple[str, str]:
    found = share["share"]
    return ("-" if found is None else f"{found:.1%}"), f"{share['of']:,}"
