"""DeepLabV3+ for two tasks: with all parts shared, or with a branch for each task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from synthprobe_models.layers.aspp import RATES, Aspp
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.heads import (
    CLASSES,
    BranchedNetwork,
    TwoTaskNetwork,
    TwoTasks,
    resize,
)
from synthprobe_models.networks.resnet import Features, ResNet18
from synthprobe_models.registry import DEEPLAB, network


class Decoder(nn.Module):
    """Deep features brought to the size of fine ones, joined with them, and convolved.

    Parameters
    ----------
    inputs
        Channels of the deep features.
    fine
        Channels of the fine features.
    width
        Channels of the convolutions.
    skip
        To so many channels a 1x1 convolution takes the fine features.
    convolutions
        How many 3x3 convolutions, each with a bias, batch normalisation and a ReLU.
    """

    def __init__(
        self, inputs: int, fine: int, width: int, *, skip: int, convolutions: int = 2
    ) -> None:
        super().__init__()
        self.skip = Pointwise(fine, skip)
        channels = [inputs + skip, *[width] * convolutions]
        self.convolutions = nn.Sequential(
            *(conv_norm(before, after, 3, bias=True) for before, after in pairwise(channels))
        )

    def forward(self, deep: Tensor, fine: Tensor) -> Tensor:
        """Map (batch, inputs, h, w) and (batch, fine, H, W) to (batch, width, H, W)."""
        return self.convolutions(torch.cat([resize(deep, fine), self.skip(fine)], dim=1))


def reduced(width: int) -> int:
    """To so many channels the skip of DeepLabV3+ is taken: 48 of 64."""
    return max(1, 3 * width // 4)


class Branch(nn.Module):
    """From the features of the encoder to a prediction: ASPP, decoder, 1x1 convolution.

    Parameters
    ----------
    outputs
        Channels of the prediction.
    width
        Channels of the first stage of the encoder.
    rates
        The dilations of the ASPP.
    """

    def __init__(self, outputs: int, width: int, rates: Sequence[int]) -> None:
        super().__init__()
        self.aspp = Aspp(8 * width, 4 * width, rates)
        self.decoder = Decoder(4 * width, width, 4 * width, skip=reduced(width))
        self.head = Pointwise(4 * width, outputs)

    def forward(self, features: Features) -> Tensor:
        """The prediction, as fine as the fine features."""
        return self.head(self.decoder(self.aspp(features.deep), features.fine))


@network("deeplab-shared", title="DeepLabV3+, shared", source=DEEPLAB, probes=["rde"])
class SharedDeepLab(TwoTaskNetwork):
    """An encoder, an ASPP and a decoder, whose last convolution gives both classes and depth.

    Parameters
    ----------
    inputs, outputs
        Channels of the pictures and of the depth.
    shape
        Height and width of the pictures; any.
    classes
        How many classes, the background included.
    width
        Channels of the first stage of the encoder; all other channels go with it.
    rates
        The dilations of the ASPP.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        classes: int = CLASSES,
        width: int = 64,
        rates: Sequence[int] = RATES,
    ) -> None:
        super().__init__()
        self.encoder = ResNet18(inputs, width)
        self.branch = Branch(classes + outputs, width, rates)
        self.classes = classes

    def both(self, x: Tensor) -> TwoTasks:
        """Depth and classes of (batch, inputs, H, W)."""
        found = resize(self.branch(self.encoder(x)), x)
        return TwoTasks(found[:, self.classes :], found[:, : self.classes])


@network("deeplab-branched", title="DeepLabV3+, branched", source=DEEPLAB, probes=["rde"])
class BranchedDeepLab(BranchedNetwork):
    """An encoder, and an ASPP and a decoder for each task.

    Parameters
    ----------
    inputs, outputs, shape, classes, width, rates
        As for `SharedDeepLab`.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        classes: int = CLASSES,
        width: int = 64,
        rates: Sequence[int] = RATES,
    ) -> None:
        super().__init__(
            ResNet18(inputs, width), Branch(outputs, width, rates), Branch(classes, width, rates)
        )
