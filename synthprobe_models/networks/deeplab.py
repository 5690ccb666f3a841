"""DeepLabV3+ for two tasks: with all parts shared, or with a branch for each task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_models.layers.aspp import RATES, Aspp
from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.heads import (
    CLASSES,
    DEPTH_LIMITS,
    BranchedNetwork,
    DepthMap,
    TwoTaskNetwork,
    TwoTasks,
    resize,
)
from synthprobe_models.networks.resnet import Features, ResNet18
from synthprobe_models.registry import DEEPLAB, PublishedCount, network


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
    skip, convolutions
        Of the decoder; three quarters of the channels and two by default, as the report's counts
        have it. Its code has all of the channels and three.
    aspp
        Whether there is an ASPP, or a 1x1 convolution in its place.
    """

    def __init__(
        self,
        outputs: int,
        width: int,
        rates: Sequence[int],
        *,
        skip: int | None = None,
        convolutions: int = 2,
        aspp: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(convolutions=convolutions)
        self.aspp = Aspp(8 * width, 4 * width, rates) if aspp else Pointwise(8 * width, 4 * width)
        self.decoder = Decoder(
            4 * width,
            width,
            4 * width,
            skip=reduced(width) if skip is None else skip,
            convolutions=convolutions,
        )
        self.head = Pointwise(4 * width, outputs)

    def forward(self, features: Features) -> Tensor:
        """The prediction, as fine as the fine features."""
        return self.head(self.decoder(self.aspp(features.deep), features.fine))


WITH_CLASSES: Final[dict[str, Any]] = {
    "of": "with the report's 19 classes",
    "options": {"classes": 19},
}


@network(
    "deeplab-shared",
    title="DeepLabV3+, shared",
    source=DEEPLAB,
    probes=["rde"],
    published=[PublishedCount(parameters=16_608_132, **WITH_CLASSES)],
)
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
    rates, skip, convolutions, aspp
        As for `Branch`.
    dilated
        As for `ResNet18`.
    depth, limits
        As for `DepthMap`.
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
        dilated: bool = True,
        skip: int | None = None,
        convolutions: int = 2,
        aspp: bool = True,
        depth: str = "linear",
        limits: Sequence[float] = DEPTH_LIMITS,
    ) -> None:
        super().__init__()
        self.encoder = ResNet18(inputs, width, dilated=dilated)
        options = {"skip": skip, "convolutions": convolutions, "aspp": aspp}
        self.branch = Branch(classes + outputs, width, rates, **options)  # type: ignore[arg-type]
        self.classes = classes
        self.map = DepthMap(depth, limits)

    def both(self, x: Tensor) -> TwoTasks:
        """Depth and classes of (batch, inputs, H, W)."""
        found = resize(self.branch(self.encoder(x)), x)
        return TwoTasks(self.map(found[:, self.classes :]), found[:, : self.classes])


@network(
    "deeplab-branched",
    title="DeepLabV3+, branched",
    source=DEEPLAB,
    probes=["rde"],
    published=[PublishedCount(parameters=22_034_612, **WITH_CLASSES)],
)
class BranchedDeepLab(BranchedNetwork):
    """An encoder, and an ASPP and a decoder for each task.

    Parameters
    ----------
    inputs, outputs, shape, classes, width, rates, skip, convolutions, aspp, dilated, depth, limits
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
        dilated: bool = True,
        skip: int | None = None,
        convolutions: int = 2,
        aspp: bool = True,
        depth: str = "linear",
        limits: Sequence[float] = DEPTH_LIMITS,
    ) -> None:
        options = {"skip": skip, "convolutions": convolutions, "aspp": aspp}
        super().__init__(
            ResNet18(inputs, width, dilated=dilated),
            Branch(outputs, width, rates, **options),  # type: ignore[arg-type]
            Branch(classes, width, rates, **options),  # type: ignore[arg-type]
            DepthMap(depth, limits),
        )
