"""MobileNetV2 and EfficientNet, as encoders with a head for dense tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.dense import WITHOUT, DenseNetwork, resized
from synthprobe_models.registry import PublishedCount, network


@dataclass(frozen=True)
class Group:
    """Blocks of one kind, one after another: a row of the published tables."""

    expansion: int
    channels: int
    blocks: int
    stride: int
    kernel: int = 3


MOBILE_STEM: Final = 32
MOBILE_NET: Final = (
    Group(1, 16, 1, 1),
    Group(6, 24, 2, 2),
    Group(6, 32, 3, 2),
    Group(6, 64, 4, 2),
    Group(6, 96, 3, 1),
    Group(6, 160, 3, 2),
    Group(6, 320, 1, 1),
)
"""Table 2.1 of the notes."""
EFFICIENT_NET: Final = (
    Group(1, 16, 1, 1),
    Group(6, 24, 2, 2),
    Group(6, 40, 2, 2, 5),
    Group(6, 80, 3, 2),
    Group(6, 112, 3, 1, 5),
    Group(6, 192, 4, 2, 5),
    Group(6, 320, 1, 1),
)
"""EfficientNet-B0; the notes have it as a drawing without figures."""
DEPTH: Final = 1.2
WIDTH: Final = 1.1
RESOLUTION: Final = 1.15
"""α, β and γ of Tan and Le 2019; the notes say only that a grid search finds them."""
DIVISOR: Final = 8
"""Channels that compound scaling gives are multiples of it, as in the public code."""
SQUEEZE: Final = 4


class SqueezeInside(nn.Module):
    """The squeeze-and-excitation of EfficientNet, whose hidden layer goes by the block's inputs."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.reduce = Pointwise(channels, hidden)
        self.restore = Pointwise(hidden, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Weigh the channels of (batch, channels, H, W)."""
        mean = x.mean(dim=(2, 3), keepdim=True)
        return x * torch.sigmoid(self.restore(nn.functional.silu(self.reduce(mean))))


class MobileBlock(nn.Module):
    """1x1 to more channels, a convolution in each, and 1x1 back without an activation.

    There is a skip where neither size nor channels change; without an expansion the first
    convolution is left out.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    expansion, kernel, stride
        How many times more channels are inside, and of the convolution in each.
    efficient
        Whether it is a block of EfficientNet: SiLU for ReLU6, and squeeze-and-excitation.
    drop
        In training, the probability that a sample has its skip alone: stochastic depth.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        expansion: int,
        kernel: int = 3,
        stride: int = 1,
        efficient: bool = False,
        drop: float = 0.0,
    ) -> None:
        super().__init__()
        activation = nn.SiLU if efficient else nn.ReLU6
        inner = expansion * inputs
        parts: list[nn.Module] = []
        if expansion > 1:
            parts.append(conv_norm(inputs, inner, 1, activation=activation))
        parts.append(
            conv_norm(inner, inner, kernel, stride=stride, groups=inner, activation=activation)
        )
        if efficient:
            parts.append(SqueezeInside(inner, max(1, inputs // SQUEEZE)))
        parts.append(conv_norm(inner, outputs, 1, activation=None))
        self.parts = nn.Sequential(*parts)
        self.skip = stride == 1 and inputs == outputs
        self.drop = drop

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H / stride, W / stride), rounded up."""
        found = self.parts(x)
        if not self.skip:
            return found
        if self.training and self.drop:
            kept = torch.rand(len(x), 1, 1, 1, device=x.device) >= self.drop
            found = found * kept / (1 - self.drop)
        return x + found


class MobileEncoder(nn.Module):
    """A strided 3x3 convolution, groups of blocks, and a 1x1 convolution to many channels.

    Parameters
    ----------
    inputs
        Channels of the pictures.
    stem, groups, last
        Channels after the first convolution, the blocks, and channels after the last convolution.
    efficient
        As for `MobileBlock`.
    drop
        The probability of the last block; that of the others grows evenly from 0.
    resolution
        Pictures are first enlarged by this factor.
    """

    def __init__(
        self,
        inputs: int,
        stem: int,
        groups: Sequence[Group],
        last: int,
        *,
        efficient: bool = False,
        drop: float = 0.0,
        resolution: float = 1.0,
    ) -> None:
        super().__init__()
        if not 0 <= drop < 1:
            raise SynthprobeError(f"drop is {drop!r}: it must be at least 0 and below 1.")
        activation = nn.SiLU if efficient else nn.ReLU6
        self.resolution = resolution
        # Each scale ends before the next stride.
        self.scales = nn.ModuleList()
        self.channels: list[int] = []
        scale: list[nn.Module] = [conv_norm(inputs, stem, 3, stride=2, activation=activation)]
        before, done, total = stem, 0, sum(group.blocks for group in groups)
        for group in groups:
            for number in range(group.blocks):
                stride = 1 if number else group.stride
                if stride > 1:
                    self._close(scale, before)
                    scale = []
                scale.append(
                    MobileBlock(
                        before,
                        group.channels,
                        expansion=group.expansion,
                        kernel=group.kernel,
                        stride=stride,
                        efficient=efficient,
                        drop=drop * done / total,
                    )
                )
                before, done = group.channels, done + 1
        scale.append(conv_norm(before, last, 1, activation=activation))
        self._close(scale, last)

    def _close(self, scale: Sequence[nn.Module], channels: int) -> None:
        self.scales.append(nn.Sequential(*scale))
        self.channels.append(channels)

    def forward(self, x: Tensor) -> list[Tensor]:
        """The features of (batch, inputs, H, W) at each scale, the finest at half its size."""
        if self.resolution != 1:
            x = resized(x, [round(side * self.resolution) for side in x.shape[2:]])
        found = []
        for scale in self.scales:
            x = scale(x)
            found.append(x)
        return found


@network(
    "mobilenet-v2-encoder",
    title="MobileNetV2",
    source="Sandler et al. 2018",
    probes=["rde", "twins"],
    published=[PublishedCount(parameters=2_223_872, of=WITHOUT, part="encoder")],
)
def mobilenet_v2(
    inputs: int,
    outputs: int,
    shape: Sequence[int],
    *,
    width: int = MOBILE_STEM,
    head: int | None = None,
) -> DenseNetwork:
    """MobileNetV2; `width` is that of the stem, 32 as published, and all else goes with it."""
    check_sizes(width=width)
    groups = [_wider(group, width / MOBILE_STEM) for group in MOBILE_NET]
    last = max(1, round(1280 * width / MOBILE_STEM))
    encoder = MobileEncoder(inputs, width, groups, last)
    return DenseNetwork(encoder, encoder.channels, outputs, width if head is None else head)


@network(
    "efficientnet",
    title="EfficientNet",
    source="Tan, Le 2019",
    probes=["rde", "twins"],
    published=[PublishedCount(parameters=4_007_548, of=f"B0, {WITHOUT}", part="encoder")],
)
def efficientnet(
    inputs: int,
    outputs: int,
    shape: Sequence[int],
    *,
    compound: float = 0.0,
    width: int = MOBILE_STEM,
    head: int | None = None,
    drop: float = 0.0,
) -> DenseNetwork:
    """EfficientNet; `compound` is φ: 0 for B0, each step of 1 about doubles the operations."""
    check_sizes(width=width)
    if isinstance(compound, bool) or not isinstance(compound, (int, float)) or compound < 0:
        raise SynthprobeError(f"compound is {compound!r}: it must be a number from 0.")
    depth, wide, resolution = compound_scaling(compound)
    scaled = [
        Group(
            group.expansion,
            divisible(group.channels * wide) if compound else group.channels,
            math.ceil(group.blocks * depth),
            group.stride,
            group.kernel,
        )
        for group in EFFICIENT_NET
    ]
    groups = [_wider(group, width / MOBILE_STEM) for group in scaled]
    stem = divisible(MOBILE_STEM * wide) if compound else MOBILE_STEM
    stem = max(1, round(stem * width / MOBILE_STEM))
    last = max(1, round((divisible(1280 * wide) if compound else 1280) * width / MOBILE_STEM))
    options = {"efficient": True, "drop": drop, "resolution": resolution}
    encoder = MobileEncoder(inputs, stem, groups, last, **options)  # type: ignore[arg-type]
    return DenseNetwork(encoder, encoder.channels, outputs, stem if head is None else head)


def compound_scaling(compound: float) -> tuple[float, float, float]:
    """The factors of depth, width and resolution: α^φ, β^φ and γ^φ."""
    return DEPTH**compound, WIDTH**compound, RESOLUTION**compound


def divisible(channels: float) -> int:
    """The nearest multiple of `DIVISOR`, or the next one if that is less than nine tenths."""
    nearest = max(DIVISOR, int(channels + DIVISOR / 2) // DIVISOR * DIVISOR)
    return nearest + DIVISOR if nearest < 0.9 * channels else nearest


def _wider(group: Group, factor: float) -> Group:
    channels = max(1, round(group.channels * factor))
    return Group(group.expansion, channels, group.blocks, group.stride, group.kernel)
