"""The networks of the Rectangle Depth Estimation probe: a U-Net, and one with non-local layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.parts import ConvNextBlock, InvertedBottleneck, Mix, Pointwise
from synthprobe_models.networks.stack import MakeStructure
from synthprobe_models.registry import PAPER, network

DOWN_SAMPLINGS: Final = 5


class UNet(nn.Module):
    """A U-Net with as many channels at every scale; with a structure, the Non-Local U-Net.

    At each scale the input goes through a local module and, beside it, through the structure in its
    frame; what the two give is concatenated, and a 1x1 convolution takes it back to the width.
    Between scales there are max-pooling on the way down, bilinear interpolation on the way up, and
    concatenated skips. Without a structure only the local modules are left: the baseline.

    Parameters
    ----------
    make
        Makes the structure of a scale from its channels and its positions; ``None`` for the
        baseline.
    inputs, outputs
        Channels before and after.
    shape
        Height and width of the input.
    width
        Channels at every scale.
    down_samplings
        How many times the picture is halved.
    added_hidden
        Hidden channels that the last bottleneck of each scale has beside its four times the width,
        or fewer: a fine way to match the parameters of another network.
    """

    def __init__(
        self,
        make: MakeStructure | None = None,
        *,
        inputs: int = 3,
        outputs: int = 1,
        shape: Sequence[int] = (128, 128),
        width: int = 48,
        down_samplings: int = DOWN_SAMPLINGS,
        added_hidden: int = 0,
    ) -> None:
        super().__init__()
        shapes = scale_shapes(shape, down_samplings)
        check_hidden(width, added_hidden)
        self.stem = Pointwise(inputs, width)
        self.encoder = nn.ModuleList(
            Scale(make, width, width, size, added_hidden) for size in shapes
        )
        self.decoder = nn.ModuleList(
            Scale(make, 2 * width, width, size, added_hidden) for size in reversed(shapes[:-1])
        )
        self.head = Pointwise(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        x = self.stem(x)
        skips: list[Tensor] = []
        for scale in self.encoder:
            if skips:
                x = F.max_pool2d(x, 2)
            x = scale(x)
            skips.append(x)
        skips.pop()
        for scale in self.decoder:
            skip = skips.pop()
            x = F.interpolate(x, skip.shape[2:], mode="bilinear", align_corners=False)
            x = scale(torch.cat([x, skip], dim=1))
        return self.head(x)


def scale_shapes(shape: Sequence[int], down_samplings: int) -> list[tuple[int, int]]:
    """Height and width at each scale, the finest first; `SynthprobeError` if one has no pixels."""
    if min(shape) >> down_samplings < 1:
        raise SynthprobeError(
            f"a picture of {shape[0]} x {shape[1]} pixels cannot be halved {down_samplings} "
            f"times: take a larger one, or fewer down-samplings."
        )
    return [(shape[0] >> k, shape[1] >> k) for k in range(down_samplings + 1)]


def check_hidden(width: int, added_hidden: int) -> None:
    """Raise `SynthprobeError` if a bottleneck would be left without hidden channels."""
    if 4 * width + added_hidden < 1:
        raise SynthprobeError(
            f"added_hidden is {added_hidden}: a width of {width} has {4 * width} hidden channels, "
            f"of which at least one must stay."
        )


@network("unet", title="Baseline", source=PAPER, probes=("rde", "twins"), is_frame=True)
def baseline(inputs: int, outputs: int, shape: Sequence[int], **options: Any) -> UNet:
    """The U-Net without non-local layers."""
    return UNet(inputs=inputs, outputs=outputs, shape=shape, **options)


class Scale(nn.Module):
    """One scale of a `UNet`.

    Parameters
    ----------
    make
        Makes the structure; ``None`` for a local module alone.
    inputs
        Channels before.
    width
        Channels after.
    shape
        Height and width at this scale.
    added_hidden
        As for `UNet`.
    """

    def __init__(
        self,
        make: MakeStructure | None,
        inputs: int,
        width: int,
        shape: Sequence[int],
        added_hidden: int = 0,
    ) -> None:
        super().__init__()
        self.local = nn.Sequential(
            ConvNextBlock(inputs, width), ConvNextBlock(width, width), InvertedBottleneck(width)
        )
        if added_hidden:
            last = self.local[-1]
            last.expand = Pointwise(width, 4 * width + added_hidden)
            last.reduce = Pointwise(4 * width + added_hidden, width)
        self.non_local: nn.Module | None = None
        if make is not None:
            enter = nn.Identity() if inputs == width else Pointwise(inputs, width)
            self.non_local = nn.Sequential(enter, Mix(make(width, shape), width))
            self.join = Pointwise(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, width, H, W)."""
        local = self.local(x)
        if self.non_local is None:
            return local
        return self.join(torch.cat([local, self.non_local(x)], dim=1))
