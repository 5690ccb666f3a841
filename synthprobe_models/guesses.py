"""What can be reached on a probe without its ability, by rules that are not trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch
from torch import Tensor

from synthprobe_data import CenteredSquareConfig
from synthprobe_models.data import Sample, ShardDataset, StreamDataset
from synthprobe_models.metrics import MaskedCodeAccuracy, Rmse
from synthprobe_models.source import Source


def guess_ranks(source: Source) -> float:
    """The RMSE on RDE of knowing the background, and giving the mean rank to every rectangle."""
    train, test = _all(source.train)["target"], _all(source.test)["target"]
    background = train.min()
    middle = train[train > background].mean()
    metric = Rmse()
    metric.update(torch.where(test > background, middle, background), test)
    return metric.compute()


def guess_square(source: Source) -> float:
    """The IOU on Centered Square of painting nothing but the white pixel, which is given."""
    config = source.facts.config
    assert isinstance(config, CenteredSquareConfig)
    return 1 / config.square**2


def guess_codes(source: Source) -> float:
    """The accuracy on Color Code of the code that a sample shows most often, without colours.

    Of several, it is the one that comes first when codes are read as binary numbers.
    """
    samples = _all(source.test)
    bits, masked = samples["target"], samples["masked"]
    weights = 2 ** torch.arange(bits.shape[1])
    codes = ((bits > 0) * weights[:, None]).sum(1)
    counts = torch.zeros(len(codes), 2 ** bits.shape[1], dtype=torch.int64)
    counts.scatter_add_(1, codes, (~masked).long())
    common = counts.argmax(1)
    guess = (common[:, None] // weights % 2 * 2 - 1)[:, :, None].expand_as(bits)
    metric = MaskedCodeAccuracy()
    metric.update(guess, bits, masked=masked)
    return metric.compute()


GUESSES: Final[Mapping[str, Callable[[Source], float]]] = {
    "rde": guess_ranks,
    "centered-square": guess_square,
    "color-code": guess_codes,
}
"""By the name of the probe."""


def _all(samples: ShardDataset | StreamDataset) -> Sample:
    assert isinstance(samples, ShardDataset)
    rows: list[dict[str, Tensor]] = samples.__getitems__(range(len(samples)))
    return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}
