"""The residual block of ResNet-18: two 3x3 convolutions and a skip."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.registry import RESNET, structure


class ResidualBlock(nn.Module):
    """ReLU(x + F(x)), F being two 3x3 convolutions with batch normalisation, a ReLU in between.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    stride
        Of the first convolution. Where it is not 1, or the channels change, the skip is a 1x1
        convolution with batch normalisation.
    dilations
        Those of the two convolutions.
    """

    def __init__(
        self, inputs: int, outputs: int, stride: int = 1, dilations: tuple[int, int] = (1, 1)
    ) -> None:
        super().__init__()
        first, second = dilations
        self.first = conv_norm(inputs, outputs, 3, stride=stride, dilation=first)
        self.second = conv_norm(outputs, outputs, 3, dilation=second, activation=None)
        same = stride == 1 and inputs == outputs
        self.skip = (
            nn.Identity() if same else conv_norm(inputs, outputs, 1, stride=stride, activation=None)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H / stride, W / stride), rounded up."""
        return F.relu(self.skip(x) + self.second(self.first(x)))


@structure("residual", title="Residual block", source=RESNET, dimensions=[2])
def residual(channels: int, shape: Sequence[int]) -> ResidualBlock:
    """The block with as many channels before and after."""
    return ResidualBlock(channels, channels)
