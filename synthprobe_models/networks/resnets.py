"""ResNet-18, -34 and -50 and the Wide ResNet, as encoders with a head for dense tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.bottleneck import REDUCTION
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.layers.residual import ResidualBlock
from synthprobe_models.networks.dense import WITHOUT, DenseNetwork
from synthprobe_models.registry import RESNET, PublishedCount, network

DEPTHS: Final = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
"""By the name of a ResNet: the blocks of its stages."""


class BottleneckStep(nn.Module):
    """ReLU(skip + F(x)), F being 1x1 with the stride, 3x3 and 1x1 to more channels.

    Parameters
    ----------
    inputs, inner, outputs
        Channels before, of the 3x3 convolution, and after.
    stride
        Of the first convolution, as the notes and He et al. have it. (torchvision has it in the
        3x3 one.) Where it is not 1, or the channels change, the skip is a 1x1 convolution.
    """

    def __init__(self, inputs: int, inner: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.reduce = conv_norm(inputs, inner, 1, stride=stride)
        self.convolve = conv_norm(inner, inner, 3)
        self.restore = conv_norm(inner, outputs, 1, activation=None)
        same = stride == 1 and inputs == outputs
        self.skip = (
            nn.Identity() if same else conv_norm(inputs, outputs, 1, stride=stride, activation=None)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H / stride, W / stride), rounded up."""
        return F.relu(self.skip(x) + self.restore(self.convolve(self.reduce(x))))


class ResNet(nn.Module):
    """A ResNet without its classifier: a stem and four stages, all but the first of which halve.

    Parameters
    ----------
    inputs
        Channels of the pictures.
    width
        Channels of the stem; the stages have 1, 2, 4 and 8 times as many, and with bottlenecks
        four times that.
    depths
        Blocks of each stage.
    bottleneck
        Whether the blocks are bottlenecks.
    widening
        How many times more channels the 3x3 convolutions of bottlenecks have, or with plain blocks
        all stages: 2 is the Wide ResNet-50-2.
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        depths: Sequence[int],
        *,
        bottleneck: bool = False,
        widening: int = 1,
    ) -> None:
        super().__init__()
        check_sizes(width=width, widening=widening)
        self.stem = nn.Sequential(
            conv_norm(inputs, width, 7, stride=2), nn.MaxPool2d(3, stride=2, padding=1)
        )
        self.stages = nn.ModuleList()
        self.channels: list[int] = []
        before = width
        for number, depth in enumerate(depths):
            inner = width * 2**number * widening
            after = REDUCTION * width * 2**number if bottleneck else inner
            blocks: list[nn.Module] = []
            for block in range(depth):
                stride = 2 if number and not block else 1
                if bottleneck:
                    blocks.append(BottleneckStep(before, inner, after, stride))
                else:
                    blocks.append(ResidualBlock(before, after, stride))
                before = after
            self.stages.append(nn.Sequential(*blocks))
            self.channels.append(after)

    def forward(self, x: Tensor) -> list[Tensor]:
        """The features of (batch, inputs, H, W) after each stage."""
        x, found = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return found


def _dense(inputs: int, outputs: int, width: int, head: int | None, **options: Any) -> DenseNetwork:
    encoder = ResNet(inputs, width, **options)
    return DenseNetwork(encoder, encoder.channels, outputs, width if head is None else head)


@network(
    "resnet-18",
    title="ResNet-18",
    source=RESNET,
    probes=["rde", "twins"],
    published=[PublishedCount(parameters=11_176_512, of=WITHOUT, part="encoder")],
)
def resnet_18(
    inputs: int,
    outputs: int,
    shape: Sequence[int],
    *,
    width: int = 64,
    widening: int = 1,
    head: int | None = None,
) -> DenseNetwork:
    """Two residual blocks a stage; `widening` makes the stages wider, and it a Wide ResNet."""
    return _dense(inputs, outputs, width, head, depths=DEPTHS[18], widening=widening)


@network(
    "resnet-34",
    title="ResNet-34",
    source=RESNET,
    probes=["rde", "twins"],
    published=[PublishedCount(parameters=21_284_672, of=WITHOUT, part="encoder")],
)
def resnet_34(
    inputs: int, outputs: int, shape: Sequence[int], *, width: int = 64, head: int | None = None
) -> DenseNetwork:
    """Three, four, six and three residual blocks."""
    return _dense(inputs, outputs, width, head, depths=DEPTHS[34])


@network(
    "resnet-50",
    title="ResNet-50",
    source=RESNET,
    probes=["rde", "twins"],
    published=[PublishedCount(parameters=23_508_032, of=WITHOUT, part="encoder")],
)
def resnet_50(
    inputs: int, outputs: int, shape: Sequence[int], *, width: int = 64, head: int | None = None
) -> DenseNetwork:
    """Three, four, six and three bottleneck blocks."""
    return _dense(inputs, outputs, width, head, depths=DEPTHS[50], bottleneck=True)


@network(
    "wide-resnet-50",
    title="Wide ResNet-50-2",
    source="Zagoruyko, Komodakis 2016",
    probes=["rde", "twins"],
    published=[PublishedCount(parameters=66_834_240, of=WITHOUT, part="encoder")],
)
def wide_resnet_50(
    inputs: int,
    outputs: int,
    shape: Sequence[int],
    *,
    width: int = 64,
    widening: int = 2,
    head: int | None = None,
) -> DenseNetwork:
    """ResNet-50 whose 3x3 convolutions have twice the channels."""
    options = {"bottleneck": True, "widening": widening}
    return _dense(inputs, outputs, width, head, depths=DEPTHS[50], **options)
