"""Atrous spatial pyramid pooling (ASPP), the part of DeepLab that sees several scales at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.registry import DEEPLAB, structure

RATES: Final = (3, 6, 9)


class Aspp(nn.Module):
    """1x1, 3x3 at several dilations and the mean of all positions, concatenated; then 1x1.

    Each branch has batch normalisation and a ReLU; the last 1x1 convolution has a bias instead.

    Parameters
    ----------
    inputs, outputs
        Channels before and after; each branch has as many as there are after.
    rates
        The dilations of the 3x3 convolutions.
    """

    def __init__(self, inputs: int, outputs: int, rates: Sequence[int] = RATES) -> None:
        super().__init__()
        self.local = nn.ModuleList(
            [
                conv_norm(inputs, outputs, 1),
                *(conv_norm(inputs, outputs, 3, dilation=rate) for rate in rates),
            ]
        )
        self.pooled = conv_norm(inputs, outputs, 1)
        self.join = Pointwise((len(rates) + 2) * outputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        if self.training and len(x) == 1:
            raise SynthprobeError(
                "ASPP cannot be trained with a batch of 1, as its mean of all positions is "
                "normalised over the batch: take at least 2 samples."
            )
        mean = self.pooled(x.mean(dim=(2, 3), keepdim=True))
        branches = [branch(x) for branch in self.local]
        return self.join(torch.cat([*branches, mean.expand_as(branches[0])], dim=1))


@structure("aspp", title="ASPP", source=DEEPLAB, dimensions=[2])
def aspp(channels: int, shape: Sequence[int], rates: Sequence[int] = RATES) -> Aspp:
    """ASPP with as many channels before and after."""
    return Aspp(channels, channels, rates)
