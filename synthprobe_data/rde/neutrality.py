"""What tells the order of two rectangles without any cue: a prior that a network could learn.

A pair that a cue orders is described by what is known of its two rectangles without their order:
how large they are, where they lie, what colour they have, how many there are. A logistic model of
the difference of the two descriptions is fitted to one half of the samples, and asked about the
other. It has no constant term, so that exchanging the two exchanges the answer; at 50% the data is
neutral.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.rde.palette import Colored, fixed_palette
from synthprobe_data.tally import Tally

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

Features = NDArray[np.float64]

MOST_SAMPLES: Final = 4000
"""Of each split, from its start on: enough for a tenth of a percent or two."""
COLUMNS: Final = ("above", "color", "n_rectangles", "rectangles")
_TOGETHER: Final = 2
"""Neighbours that stay in one half, since they may be twins."""
_STEPS: Final = 25
_RIDGE: Final = 1e-3

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "size": ("size",),
    "position": ("position",),
    "placement": ("placement",),
    "colour": ("colour",),
    "size, by the number of rectangles": ("size", "number"),
    "all of these": ("size", "position", "placement", "colour", "number"),
}
"""What the model is told, by the name that the card gives it."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """How many pairs of the second half are told right."""

    right: Mapping[str, float]
    """By the names of `GROUPS`; an undecided pair counts as half."""
    pairs: int

    def share(self, name: str) -> float:
        """The accuracy; a half if there are no pairs."""
        return self.right[name] / self.pairs if self.pairs else 0.5


class Neutrality:
    """What each group of facts tells, in each split, from the samples as they are read.

    Parameters
    ----------
    data
        The dataset, of which `columns` are to be read.
    height, width
        Size of its pictures.
    twins
        Whether only the pair counts that is exchanged between two samples.
    """

    def __init__(self, data: OpenDataset, *, height: int, width: int, twins: bool = False) -> None:
        config: Any = data.config  # of RDE, or of twins
        self._config = config
        self._size = {"height": height, "width": width}
        self._twins = twins
        own = ("palette",) if config.random_palette else ()
        self.columns: tuple[str, ...] = (*COLUMNS, *own, *(("pair",) if twins else ()))
        self._blocks: dict[str, list[Block]] = {split: [] for split in data.splits}

    def add(self, split: str, block: Block) -> None:
        """Take the next samples of a split, as long as there is room."""
        room = MOST_SAMPLES - sum(len(kept["n_rectangles"]) for kept in self._blocks[split])
        if room > 0:
            kept = {name: block[name][:room].copy() for name in self.columns}
            self._blocks[split].append(kept)

    def tally(self) -> Tally:
        """The table of the card."""
        told = {
            split: find_told(_joined(blocks), self._config, **self._size)
            for split, blocks in self._blocks.items()
        }
        return told_tally(told, twins=self._twins)


def told_tally(told: Mapping[str, Told], *, twins: bool) -> Tally:
    """The table, of what was found in each split."""
    which = "are exchanged" if twins else "a cue orders"
    return Tally(
        title="What tells the order without a cue",
        value="known of both rectangles",
        of="pairs told right",
        counts={
            split: {name: round(right) for name, right in found.right.items()}
            for split, found in told.items()
        },
        totals={split: found.pairs for split, found in told.items()},
        note=(
            f"A logistic model, fitted to the pairs that {which} in one half of up to "
            f"{MOST_SAMPLES:,} samples of a split, is asked which rectangle of a pair in the other "
            "half is above. It knows the rectangles with their hidden parts, but not their order, "
            "and no cue. 50% is neutral; what is above that, a network can reach without seeing "
            "any cue."
        ),
    )


def _joined(blocks: list[Block]) -> Block:
    names = blocks[0] if blocks else {}
    return {name: np.concatenate([block[name] for block in blocks]) for name in names}


def find_told(block: Block, config: Colored, *, height: int, width: int) -> Told:
    """Fit to the first half of some samples, and count what is told right in the second.

    Parameters
    ----------
    block
        The columns `COLUMNS` of the samples, ``palette`` where each has its own, and ``pair`` if
        only one pair of each sample counts.
    config
        Says which colours pictures have.
    height, width
        Size of the picture.
    """
    samples = len(block["n_rectangles"]) if block else 0
    half = samples // (2 * _TOGETHER) * _TOGETHER
    if half == 0:
        return Told(right=dict.fromkeys(GROUPS, 0.0), pairs=0)
    features = _features(block, config, height, width)
    sample, upper, lower = np.nonzero(_counted(block))
    differences = {name: f[sample, upper] - f[sample, lower] for name, f in features.items()}
    first = sample < half
    right = {}
    for name, parts in GROUPS.items():
        all_pairs = np.concatenate([differences[part] for part in parts], axis=1)
        weights = fit(all_pairs[first])
        decided = all_pairs[~first] @ weights
        right[name] = float((decided > 0).sum() + 0.5 * (decided == 0).sum())
    return Told(right=right, pairs=int((~first).sum()))


def _counted(block: Block) -> NDArray[Any]:
    """Which pairs count, row above column."""
    above = block["above"]
    if "pair" not in block:
        return above
    pair = np.minimum(block["pair"].astype(np.int64), above.shape[1] - 1)
    counted = np.zeros_like(above)
    rows = np.arange(len(above))
    for a, b in ((pair[:, 0], pair[:, 1]), (pair[:, 1], pair[:, 0])):
        counted[rows, a, b] = above[rows, a, b]
    return counted


def fit(differences: Features) -> NDArray[np.float64]:
    """The weights by which the first of two is most likely above: a logistic model, by Newton.

    Parameters
    ----------
    differences
        Of the descriptions of the upper and the lower rectangle, one row for each pair.
    """
    scale = np.sqrt((differences**2).sum(axis=0) / max(1, len(differences)))
    scale = np.where(scale > 0, scale, 1.0)
    x = differences / scale
    weights = np.zeros(x.shape[1])
    ridge = _RIDGE * max(1, len(x))
    for _ in range(_STEPS):
        wrong = 1 / (
            1 + np.exp(np.clip(x @ weights, -50, 50))
        )  # the probability of the other order
        gradient = x.T @ wrong - ridge * weights
        curvature = (x * (wrong * (1 - wrong))[:, None]).T @ x + ridge * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, gradient)
    # A weight that is zero but for rounding must not decide pairs that nothing tells apart.
    fitted: NDArray[np.float64] = np.where(abs(weights) > 1e-9, weights, 0.0) / scale
    return fitted


def _features(block: Block, config: Colored, height: int, width: int) -> dict[str, Features]:
    """What is known of each rectangle of each sample, (samples, places, features)."""
    boxes = block["rectangles"].astype(np.float64)
    x0, y0, x1, y1 = np.moveaxis(boxes / [width, height, width, height], 2, 0)
    wide, high = np.maximum(x1 - x0, 1e-9), np.maximum(y1 - y0, 1e-9)
    size = np.stack([np.log(wide * high), np.log(wide), wide, high, wide * high], axis=2)
    across, down = (x0 + x1) / 2 - 0.5, (y0 + y1) / 2 - 0.5
    position = np.stack([across, down, abs(across), abs(down), across**2 + down**2], axis=2)
    margins = np.stack([x0, y0, 1 - x1, 1 - y1], axis=2)
    placement = np.concatenate([margins, margins == 0, margins.min(axis=2, keepdims=True)], axis=2)
    number = block["n_rectangles"].astype(np.float64)[:, None, None]
    return {
        "size": size,
        "position": position,
        "placement": placement,
        "colour": _colors(block, config),
        "number": number * size[:, :, :1],
    }


def _colors(block: Block, config: Colored) -> Features:
    """Which colour it is, where they are few; else red, green and blue, with their squares."""
    fixed = fixed_palette(config)
    color = block["color"].astype(np.int64)
    if fixed is None:
        color = np.minimum(color, block["palette"].shape[1] - 1)
        rgb = block["palette"][np.arange(len(color))[:, None], color] / 255
        return np.concatenate([rgb, rgb**2], axis=2)
    return np.eye(len(fixed))[np.minimum(color, len(fixed) - 1)]
