"""The block of ResNeXt: many narrow bottlenecks side by side, as one grouped convolution."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.bottleneck import REDUCTION
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.registry import structure

BRANCHES: Final = 32


@structure("resnext", title="ResNeXt block", source="Xie et al. 2017", dimensions=[2])
class ResNextBlock(nn.Module):
    """ReLU(x + sum of G branches), each 1x1 to d channels, 3x3, and 1x1 back.

    The first layers of all branches are one 1x1 convolution, the second ones a 3x3 convolution in G
    groups, the last ones, summed, again one 1x1 convolution. Each has batch normalisation, and all
    but the last a ReLU.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any.
    branches
        G; 32 by default, or as many as channels if these are fewer.
    branch_channels
        d; by default so many that the weights are about as many as those of a bottleneck block.
    """

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        branches: int | None = None,
        branch_channels: int | None = None,
    ) -> None:
        super().__init__()
        if branches is None:
            branches = min(BRANCHES, channels)
        check_sizes(branches=branches)
        if branch_channels is None:
            branch_channels = comparable_channels(channels, branches)
        check_sizes(branch_channels=branch_channels)
        inner = branches * branch_channels
        self.expand = conv_norm(channels, inner, 1)
        self.convolve = conv_norm(inner, inner, 3, groups=branches)
        self.join = conv_norm(inner, channels, 1, activation=None)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        return F.relu(x + self.join(self.convolve(self.expand(x))))


def comparable_channels(channels: int, branches: int) -> int:
    """The d whose block has about as many weights as a bottleneck block; at least 1.

    A branch has 2 C d + 9 d² weights, the bottleneck 2 C B + 9 B² with B = C / 4: d is the positive
    root of G (2 C d + 9 d²) = 2 C B + 9 B².
    """
    B = channels / REDUCTION
    share = (2 * channels * B + 9 * B**2) / branches
    return max(1, round((sqrt(channels**2 + 9 * share) - channels) / 9))
