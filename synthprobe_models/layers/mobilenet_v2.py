"""The inverted residual block of MobileNetV2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.registry import structure

EXPANSION: Final = 6


@structure("mobilenet-v2", title="Inverted residual", source="Sandler et al. 2018", dimensions=[2])
class InvertedResidual(nn.Module):
    """x + F(x), F being 1x1 to more channels, 3x3 in each of them, and 1x1 back.

    Each convolution has batch normalisation, and all but the last a ReLU that is cut at 6: blocks
    are joined without an activation.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any.
    expansion
        How many times more channels the 3x3 convolution has.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, expansion: int = EXPANSION) -> None:
        super().__init__()
        check_sizes(expansion=expansion)
        inner = expansion * channels
        self.expand = conv_norm(channels, inner, 1, activation=nn.ReLU6)
        self.depthwise = conv_norm(inner, inner, 3, groups=inner, activation=nn.ReLU6)
        self.reduce = conv_norm(inner, channels, 1, activation=None)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        return x + self.reduce(self.depthwise(self.expand(x)))
