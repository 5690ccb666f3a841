"""The local reader as a row of Table 1: it reads what the baseline can see, and guesses the rest.

It has the reference solver's reading of a picture, but at each pixel only the cues within the
baseline's field. From them it takes the rank: 1 more than the longest chain of rectangles below
that these cues order. At a pixel that has no cue of its rectangle in sight it guesses the most
frequent rank of such pixels. What a network does better than this rule, it has from farther away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from synthprobe_data import RdeConfig, solve
from synthprobe_models.data.source import Source
from synthprobe_models.data.torch_datasets import ShardDataset, normalisation_of
from synthprobe_models.experiments.solver_row import untrained_result
from synthprobe_models.experiments.table import Row
from synthprobe_models.networks.unet import DOWN_SAMPLINGS, UNet

LOCAL_READER: Final = Row(
    table=1,
    title="Local reader",
    name="local-reader",
    probe="rde",
    width=0,
    parameters=0,
    trainable=0,
    published={},
    note="Not of the paper, and not trained: it reads cues within the baseline's field, and "
    "guesses the most frequent rank elsewhere.",
)
GUESSED_FROM: Final = 500
"""Training pictures that the guess is found on."""
_UNSEEN: Final = 0
"""In a map of ranks: no cue of the rectangle is in sight."""
_INPUTS: Final = 4


def field_of(network: nn.Module, shape: Sequence[int]) -> int:
    """How many pixels a network for pictures sees to each side, at most.

    The gradient of an output in the corner tells which pixels it depends on, for some random
    pictures: maximum pooling passes on one pixel of four, another one for each picture.

    Parameters
    ----------
    network
        From (batch, 3, H, W) to (batch, 1, H, W); its weights are those that it was built with.
    shape
        Height and width.
    """
    network = network.double()
    random = torch.Generator().manual_seed(0)
    x = torch.rand(_INPUTS, 3, *shape, generator=random, dtype=torch.float64, requires_grad=True)
    network(x)[..., 0, 0].sum().backward()
    assert x.grad is not None
    seen = (x.grad != 0).any(0).any(0).nonzero()
    return int(seen.max()) if len(seen) else 0


class LocalReader(nn.Module):
    """Reads ranks from the cues near each pixel, in the place of a network.

    Parameters
    ----------
    config
        That of the pictures.
    field
        How many pixels it sees to each side.
    """

    def __init__(self, config: RdeConfig, field: int) -> None:
        super().__init__()
        self.blur = config.blur
        self.field = field
        self.scale = normalisation_of("rde", config)["rank"]
        self.guess = 1.0

    def learn(self, pictures: Tensor, ranks: Tensor) -> None:
        """Take the most frequent rank of pixels without a cue in sight as the guess.

        Parameters
        ----------
        pictures, ranks
            Of training samples, as networks see them.
        """
        true = ranks[:, 0] * self.scale["divisor"] - self.scale["offset"]
        unseen = self._ranks(pictures) == _UNSEEN
        self.guess = float(true[unseen].round().mode().values) if bool(unseen.any()) else 1.0

    def forward(self, x: Tensor) -> Tensor:
        """From pictures in [0, 1], (batch, 3, H, W), to ranks in (0, 1], (batch, 1, H, W)."""
        ranks = self._ranks(x)
        found = torch.where(ranks == _UNSEEN, self.guess, ranks.clamp(min=0))
        return found.float().add(self.scale["offset"]).div(self.scale["divisor"])[:, None]

    def _ranks(self, x: Tensor) -> Tensor:
        """The rank of each pixel; `_UNSEEN` without a cue in sight, and -1 for the background."""
        pictures = (x * 255).round().byte().permute(0, 2, 3, 1).cpu().numpy()
        return torch.from_numpy(np.stack([self._read(picture) for picture in pictures])).double()

    def _read(self, picture: NDArray[np.uint8]) -> NDArray[np.int64]:
        reading = solve(picture, blur=self.blur)
        near = partial(_near, shape=reading.label.shape, field=self.field)
        seen = [
            ((junction.bar, below), near(junction_box(junction.row, junction.column)))
            for junction in reading.junctions
            for below in junction.stem
        ]
        seen += [((cue.upper, cue.lower), near(cue.box)) for cue in reading.overlaps]
        return ranks_in_sight(reading.label, seen)


def junction_box(row: int, column: int) -> tuple[int, int, int, int]:
    """The four pixels around a T-junction: x0, y0, x1, y1, the last two outside."""
    return column - 1, row - 1, column + 1, row + 1


def ranks_in_sight(
    label: NDArray[Any], seen: Sequence[tuple[tuple[int, int], NDArray[np.bool_]]]
) -> NDArray[np.int64]:
    """The rank that the cues in sight give each pixel.

    Parameters
    ----------
    label
        The rectangle that shows at each pixel; 0 is the background.
    seen
        For each cue: the upper and the lower rectangle, and where it is in sight.
    """
    above: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for pair, where in seen:
        if pair[1] and pair[0] != pair[1]:
            above[pair] = above.get(pair, np.zeros(label.shape, bool)) | where
    count = int(label.max(initial=0))
    height = np.ones((count + 1, *label.shape), np.int64)
    for _ in range(count):  # chains are no longer than this
        for (upper, lower), where in above.items():
            height[upper] = np.where(
                where, np.maximum(height[upper], height[lower] + 1), height[upper]
            )
    known = np.zeros((count + 1, *label.shape), bool)
    for (upper, lower), where in above.items():
        known[upper] |= where
        known[lower] |= where
    at = label.astype(np.int64)[None]
    ranks = np.take_along_axis(height, at, 0)[0]
    ranks[~np.take_along_axis(known, at, 0)[0]] = _UNSEEN
    ranks[label == 0] = -1
    return ranks


def _near(box: tuple[int, int, int, int], shape: tuple[int, ...], field: int) -> NDArray[np.bool_]:
    """Where a box of pixels is within so many pixels, along both axes."""
    x0, y0, x1, y1 = box
    found = np.zeros(shape, bool)
    found[max(0, y0 - field) : y1 + field, max(0, x0 - field) : x1 + field] = True
    return found


def local_reader_result(
    source: Source, settings: Mapping[str, Any], command: str | None = None
) -> dict[str, Any]:
    """Let the local reader answer the test samples: a result as of a run.

    Parameters
    ----------
    source
        Samples of RDE.
    settings
        Those that the baseline is trained with.
    command
        What the result says it came from.
    """
    config = source.facts.config
    assert isinstance(config, RdeConfig)
    halved = settings.get("down_samplings", DOWN_SAMPLINGS)
    shape = (config.height, config.width)
    torch.manual_seed(0)
    field = field_of(UNet(shape=shape, width=4, down_samplings=halved), shape)
    reader = LocalReader(config, field)
    assert isinstance(source.train, ShardDataset)
    some = source.train.__getitems__(range(min(GUESSED_FROM, len(source.train))))
    reader.learn(torch.stack([s["image"] for s in some]), torch.stack([s["target"] for s in some]))
    result = untrained_result(LOCAL_READER, reader, source, settings, command)
    return {**result, "field": field, "guess": reader.guess}
