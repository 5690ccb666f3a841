"""GoogLeNet, Inception-v1, as an encoder with a head for dense tasks and two auxiliary heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.inception import convolution
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.dense import add_up, resized
from synthprobe_models.registry import network

STEM: Final = 64
MODULES: Final = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)
"""By scale, the modules 3a to 5b of Szegedy et al. 2015: the channels of 1x1, of 3x3 and before it,
of 5x5 and before it, and after pooling. The notes draw the modules without figures."""
AUXILIARY: Final = (0, 3)
"""The modules of the second scale, 4a and 4d, behind which auxiliary heads stand."""
AUXILIARY_CHANNELS: Final = 128
AUXILIARY_WEIGHT: Final = 0.3
"""Of the loss of an auxiliary head, as published."""


class Module(nn.Module):
    """An Inception module with the channels of each convolution given.

    Parameters
    ----------
    inputs
        Channels before.
    channels
        As in `MODULES`.
    """

    def __init__(self, inputs: int, channels: Sequence[int]) -> None:
        super().__init__()
        one, before_three, three, before_five, five, pooled = channels
        self.branches = nn.ModuleList(
            [
                convolution(inputs, one, 1),
                nn.Sequential(
                    convolution(inputs, before_three, 1), convolution(before_three, three, 3)
                ),
                nn.Sequential(
                    convolution(inputs, before_five, 1), convolution(before_five, five, 5)
                ),
                nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), convolution(inputs, pooled, 1)),
            ]
        )
        self.outputs = one + three + five + pooled

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        return torch.cat([branch(x) for branch in self.branches], dim=1)


@network("googlenet", title="GoogLeNet", source="Szegedy et al. 2015", probes=["rde", "twins"])
class GoogLeNet(nn.Module):
    """Five stem layers, three scales of Inception modules, and heads.

    The head adds the features of the stem and of the scales up. Each auxiliary head reads the
    features behind one module by a 1x1 convolution to 128 channels and another one. In training,
    what these find is kept in `auxiliary`, with the weight that its loss is to have; otherwise they
    are not run. Published are heads for one class a picture, whose pooling and large linear layers
    would leave no place for an answer at each position.

    There is no batch normalisation, as in the original, and no local response normalisation.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    shape
        Height and width of the pictures; any.
    width
        Channels of the stem, 64 as published; all else goes with it.
    head
        Channels that the scales have in common; as many as the stem by default.
    auxiliary_heads
        Whether there are any.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        width: int = STEM,
        head: int | None = None,
        auxiliary_heads: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(width=width)

        def scaled(channels: int) -> int:
            return max(1, round(channels * width / STEM))

        self.stem = nn.Sequential(
            convolution(inputs, width, 7, stride=2),
            nn.MaxPool2d(3, stride=2, padding=1),
            convolution(width, width, 1),
            convolution(width, scaled(192), 3),
        )
        before = scaled(192)
        counts, self.scales = [before], nn.ModuleList()
        self.hints = nn.ModuleDict()
        for stage, modules in enumerate(MODULES):
            scale = nn.ModuleList()
            for index, channels in enumerate(modules):
                module = Module(before, [scaled(one) for one in channels])
                before = module.outputs
                scale.append(module)
                if auxiliary_heads and stage == 1 and index in AUXILIARY:
                    inner = scaled(AUXILIARY_CHANNELS)
                    self.hints[str(index)] = nn.Sequential(
                        convolution(before, inner, 1), Pointwise(inner, outputs)
                    )
            self.scales.append(scale)
            counts.append(before)
        common = width if head is None else head
        self.sides = nn.ModuleList(Pointwise(count, common) for count in counts)
        self.head = Pointwise(common, outputs)
        self.auxiliary: list[tuple[float, Tensor]] = []
        """In training: by the weight of its loss, what each auxiliary head found last."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        size = x.shape[2:]
        self.auxiliary = []
        x = self.stem(x)
        found = [x]
        for stage, scale in enumerate(self.scales):
            x = nn.functional.max_pool2d(x, 3, stride=2, padding=1)
            for index, module in enumerate(scale.children()):
                x = module(x)
                if self.training and stage == 1 and str(index) in self.hints:
                    hint = resized(self.hints[str(index)](x), size)
                    self.auxiliary.append((AUXILIARY_WEIGHT, hint))
            found.append(x)
        return self.head(resized(add_up(found, self.sides), size))
