"""The bottleneck block of the deeper ResNets: a 3x3 convolution on a quarter of the channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.registry import RESNET, structure

REDUCTION: Final = 4


@structure("bottleneck", title="Bottleneck block", source=RESNET, dimensions=[2])
class BottleneckBlock(nn.Module):
    """ReLU(x + F(x)), F being 1x1 to a quarter of the channels, 3x3, and 1x1 back.

    Each convolution has batch normalisation, and all but the last a ReLU.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any.
    reduction
        How many times fewer channels the 3x3 convolution has; there is at least one.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, reduction: int = REDUCTION) -> None:
        super().__init__()
        check_sizes(reduction=reduction)
        inner = max(1, channels // reduction)
        self.reduce = conv_norm(channels, inner, 1)
        self.convolve = conv_norm(inner, inner, 3)
        self.restore = conv_norm(inner, channels, 1, activation=None)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        return F.relu(x + self.restore(self.convolve(self.reduce(x))))
