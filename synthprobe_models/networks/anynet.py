"""The design space of RegNet: four stages, each with a depth, a width, groups and a bottleneck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.networks.dense import WITHOUT, DenseNetwork
from synthprobe_models.registry import PublishedCount, network

STAGES: Final = 4
OPTIONS: Final = ("depths", "widths", "groups", "ratios")
"""The four options with a value for each of the four stages: sixteen dimensions."""


class XBlock(nn.Module):
    """ReLU(skip + F(x)), F being 1x1 to fewer channels, 3x3 in groups, and 1x1 to the width.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    ratio
        How many times fewer channels the 3x3 convolution has than the block.
    groups
        Of the 3x3 convolution.
    stride
        Of the 3x3 convolution. Where it is not 1, or the channels change, the skip is a 1x1
        convolution with batch normalisation.
    """

    def __init__(self, inputs: int, outputs: int, *, ratio: int, groups: int, stride: int) -> None:
        super().__init__()
        inner = outputs // ratio
        self.parts = nn.Sequential(
            conv_norm(inputs, inner, 1),
            conv_norm(inner, inner, 3, stride=stride, groups=groups),
            conv_norm(inner, outputs, 1, activation=None),
        )
        same = stride == 1 and inputs == outputs
        self.skip = (
            nn.Identity() if same else conv_norm(inputs, outputs, 1, stride=stride, activation=None)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H / stride, W / stride), rounded up."""
        return F.relu(self.skip(x) + self.parts(x))


class AnyNet(nn.Module):
    """A 3x3 convolution and four stages of blocks.

    Parameters
    ----------
    inputs
        Channels of the pictures.
    stem
        Channels of the first convolution.
    depths, widths, groups, ratios
        Of each stage: blocks, channels, groups of the 3x3 convolutions, and how many times fewer
        channels these have.
    strides
        Of the first convolution and of the first block of each stage.
    """

    def __init__(
        self,
        inputs: int,
        *,
        stem: int,
        depths: Sequence[int],
        widths: Sequence[int],
        groups: Sequence[int],
        ratios: Sequence[int],
        strides: Sequence[int],
    ) -> None:
        super().__init__()
        check_design(depths=depths, widths=widths, groups=groups, ratios=ratios)
        if len(strides) != STAGES + 1:
            raise SynthprobeError(f"strides is {list(strides)}: it must be {STAGES + 1} numbers.")
        self.stem = conv_norm(inputs, stem, 3, stride=strides[0])
        self.stages = nn.ModuleList()
        before = stem
        for depth, width, group, ratio, stride in zip(
            depths, widths, groups, ratios, strides[1:], strict=True
        ):
            blocks = []
            for number in range(depth):
                step = 1 if number else stride
                blocks.append(XBlock(before, width, ratio=ratio, groups=group, stride=step))
                before = width
            self.stages.append(nn.Sequential(*blocks))

    def forward(self, x: Tensor) -> list[Tensor]:
        """The features of (batch, inputs, H, W) after each stage."""
        x, found = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return found


def count_anynet(
    inputs: int,
    outputs: int,
    stem: int,
    *,
    depths: Sequence[int],
    widths: Sequence[int],
    groups: Sequence[int],
    ratios: Sequence[int],
) -> int:
    """The parameters of the network ``anynet`` with a head as wide as its stem.

    Quick enough to look through thousands of designs.

    Parameters
    ----------
    inputs, outputs, stem
        Channels before, after, and of the first convolution.
    depths, widths, groups, ratios
        As for `AnyNet`, with the strides of ``anynet``.
    """

    def normed(before: int, after: int, area: int = 1, parts: int = 1) -> int:
        return area * before * after // parts + 2 * after

    total, before = normed(inputs, stem, 9), stem
    for number, (depth, width, group, ratio) in enumerate(
        zip(depths, widths, groups, ratios, strict=True)
    ):
        inner = width // ratio
        for block in range(depth):
            total += normed(before, inner) + normed(inner, inner, 9, group) + normed(inner, width)
            if before != width or (number and not block):
                total += normed(before, width)
            before = width
        total += width * stem + stem
    return total + stem * outputs + outputs


def check_design(**options: Sequence[int]) -> None:
    """Raise `SynthprobeError` for a design that cannot be built.

    Parameters
    ----------
    options
        Those of `OPTIONS`.
    """
    for name, values in options.items():
        whole = isinstance(values, Sequence) and not isinstance(values, str)
        if not whole or len(values) != STAGES or not all(_is_size(value) for value in values):
            raise SynthprobeError(
                f"{name} is {values!r}: it must be {STAGES} whole numbers from 1, one for each "
                f"stage."
            )
    for width, group, ratio in zip(*(options[name] for name in OPTIONS[1:]), strict=True):
        if width % ratio or (width // ratio) % group:
            raise SynthprobeError(
                f"a width of {width} cannot be divided by the ratio {ratio} and then into {group} "
                f"groups."
            )


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


REGNET_400: Final = {
    "width": 32,
    "depths": (1, 2, 7, 12),
    "widths": (32, 64, 160, 400),
    "groups": (2, 4, 10, 25),
    "strides": (2,) * (STAGES + 1),
}


@network(
    "anynet",
    title="AnyNet",
    source="Radosavovic et al. 2020",
    probes=["rde", "twins"],
    published=[
        PublishedCount(
            parameters=5_094_976,
            of=f"RegNetX-400MF, {WITHOUT}",
            options=REGNET_400,
            part="encoder",
        )
    ],
)
def anynet(
    inputs: int,
    outputs: int,
    shape: Sequence[int],
    *,
    width: int = 12,
    depths: Sequence[int] = (1, 1, 1, 1),
    widths: Sequence[int] | None = None,
    groups: Sequence[int] = (1, 1, 1, 1),
    ratios: Sequence[int] = (1, 1, 1, 1),
    strides: Sequence[int] = (1, 1, 2, 2, 2),
    head: int | None = None,
) -> DenseNetwork:
    """A network of RegNet's design space, U-shaped by its head; `widths` are `width` by default.

    The strides are for small pictures: the first stage is as fine as the picture, and each further
    one halves it. RegNet's own are 2 five times.
    """
    given = (width,) * STAGES if widths is None else widths
    encoder = AnyNet(
        inputs,
        stem=width,
        depths=depths,
        widths=given,
        groups=groups,
        ratios=ratios,
        strides=strides,
    )
    return DenseNetwork(encoder, list(given), outputs, width if head is None else head)
