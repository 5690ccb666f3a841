"""From the features of an encoder at several scales to an answer at each position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.parts import Pointwise

WITHOUT: Final = "encoder, without a classifier"
"""What the published counts of encoders are of: with one, less the classifier."""


class DenseNetwork(nn.Module):
    """An encoder, and a head that adds its features up and reads them by a 1x1 convolution.

    A 1x1 convolution takes the features of each scale to the same channels. From the coarsest on,
    they are brought to the size of the next one, bilinearly, and added to it; the sum of the
    finest is brought to the size of the picture.

    Parameters
    ----------
    encoder
        From pictures to features, a list from fine to coarse.
    channels
        Of the features.
    outputs
        Channels after.
    width
        Channels that the scales have in common.
    """

    def __init__(
        self, encoder: nn.Module, channels: Sequence[int], outputs: int, width: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.scales = nn.ModuleList(Pointwise(count, width) for count in channels)
        self.head = Pointwise(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        return self.head(resized(add_up(self.encoder(x), self.scales), x.shape[2:]))


def add_up(features: Sequence[Tensor], scales: Sequence[nn.Module] | nn.ModuleList) -> Tensor:
    """The features of all scales, each after its own module, at the size of the finest."""
    total: Tensor | None = None
    for scale, found in zip(reversed(list(scales)), reversed(features), strict=True):
        here = scale(found)
        total = here if total is None else here + resized(total, here.shape[2:])
    assert total is not None
    return total


def resized(x: Tensor, size: Sequence[int]) -> Tensor:
    """Bilinear interpolation to a height and a width."""
    return F.interpolate(x, tuple(size), mode="bilinear", align_corners=False)
