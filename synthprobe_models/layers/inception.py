"""The Inception module of GoogLeNet: convolutions of several widths side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import torch
from torch import Tensor, nn

from synthprobe_models.registry import structure

SHARES: Final = (2, 4, 1, 1)
"""In eighths, the output's channels that come from 1x1, 3x3, 5x5 and pooling, as in module 3a."""


class InceptionModule(nn.Module):
    """1x1; 1x1, then 3x3; 1x1, then 5x5; 3x3 max-pooling, then 1x1: all four concatenated.

    Each convolution has a bias and a ReLU; there is no batch normalisation. The 1x1 convolution
    before the 3x3 one has three quarters of its channels, that before the 5x5 one a half. With few
    outputs, a branch whose share of them is rounded to none is left out.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        one, three, five, pooled = branch_channels(outputs)
        self.branches = nn.ModuleList()
        if one:
            self.branches.append(convolution(inputs, one, 1))
        if three:
            inner = max(1, 3 * three // 4)
            self.branches.append(
                nn.Sequential(convolution(inputs, inner, 1), convolution(inner, three, 3))
            )
        if five:
            inner = max(1, five // 2)
            self.branches.append(
                nn.Sequential(convolution(inputs, inner, 1), convolution(inner, five, 5))
            )
        if pooled:
            pool = nn.MaxPool2d(3, stride=1, padding=1)
            self.branches.append(nn.Sequential(pool, convolution(inputs, pooled, 1)))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        return torch.cat([branch(x) for branch in self.branches], dim=1)


@structure("inception", title="Inception module", source="Szegedy et al. 2015", dimensions=[2])
def inception(channels: int, shape: Sequence[int]) -> InceptionModule:
    """The module with as many channels before and after."""
    return InceptionModule(channels, channels)


def branch_channels(outputs: int) -> tuple[int, ...]:
    """The channels of each branch, which add up to all: the ends of the shares are rounded."""
    ends = [round(outputs * sum(SHARES[:k]) / sum(SHARES)) for k in range(len(SHARES) + 1)]
    return tuple(stop - start for start, stop in pairwise(ends))


def convolution(inputs: int, outputs: int, kernel: int, *, stride: int = 1) -> nn.Sequential:
    """A convolution with a bias, and a ReLU."""
    padding = kernel // 2
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, padding), nn.ReLU())
