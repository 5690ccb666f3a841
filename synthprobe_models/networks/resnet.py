"""The encoder of the DeepLab networks: ResNet-18, its last stage dilated or strided."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.layers.residual import ResidualBlock


class Features(NamedTuple):
    """What the encoder finds in pictures of H x W pixels; all sizes are rounded up."""

    fine: Tensor
    """After the first stage: (batch, width, H / 4, W / 4)."""
    deep: Tensor
    """After the last stage: (batch, 8 width, H / 16, W / 16), or H / 32 without dilation."""


class ResNet18(nn.Module):
    """ResNet-18 without its classifier, for dense tasks.

    A 7x7 convolution and 3x3 max-pooling, each with stride 2, and four stages of two residual
    blocks. The second and the third stage halve the picture; the last one does not, and its
    convolutions are dilated instead, all but the first: what each sees is as if it were halved.
    Without dilation it halves the picture as well. Each block starts as its skip alone.

    Parameters
    ----------
    inputs
        Channels of the pictures.
    width
        Channels of the first stage; each further stage has twice as many.
    dilated
        Whether the last stage is dilated.
    """

    def __init__(self, inputs: int = 3, width: int = 64, *, dilated: bool = True) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            conv_norm(inputs, width, 7, stride=2), nn.MaxPool2d(3, stride=2, padding=1)
        )
        self.fine = _stage(width, width)
        self.deep = nn.Sequential(
            _stage(width, 2 * width, stride=2),
            _stage(2 * width, 4 * width, stride=2),
            _stage(4 * width, 8 * width, **({"dilation": 2} if dilated else {"stride": 2})),
        )
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(part, ResidualBlock):
                nn.init.zeros_(part.second.get_parameter("1.weight"))

    def forward(self, x: Tensor) -> Features:
        """The features of (batch, inputs, H, W)."""
        fine = self.fine(self.stem(x))
        return Features(fine, self.deep(fine))


def _stage(inputs: int, outputs: int, stride: int = 1, dilation: int = 1) -> nn.Sequential:
    """Two blocks; the stride or, in its place, the dilation begins after the first convolution."""
    return nn.Sequential(
        ResidualBlock(inputs, outputs, stride, (1, dilation)),
        ResidualBlock(outputs, outputs, dilations=(dilation, dilation)),
    )
