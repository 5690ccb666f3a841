"""Modulated deformable convolution, in plain PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.parts import ConvNextBlock
from synthprobe_models.registry import as_in_paper, structure


def deform_conv2d(
    x: Tensor, offset: Tensor, mask: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """A convolution that reads each tap beside its place, weighed, with output of the input's size.

    The input is interpolated bilinearly and is zero outside, so that less than a pixel outside
    there still is a part of the border. It is what torchvision's operator of this name gives with
    half of the kernel as padding.

    Parameters
    ----------
    x
        (batch, inputs, H, W).
    offset
        (batch, 2 R^2, H, W): for each tap, row by row, how many pixels down and how many to the
        right.
    mask
        (batch, R^2, H, W): the weight of each tap.
    weight
        (outputs, inputs, R, R), R odd.
    bias
        (outputs,).
    """
    batch, inputs, height, width = x.shape
    size = weight.shape[-1]
    taps = size**2
    step = torch.arange(size, device=x.device) - size // 2
    down, right = offset.reshape(batch, taps, 2, height, width).unbind(2)
    rows = down + (step.repeat_interleave(size)[:, None, None] + _range(height, x)[:, None])
    columns = right + (step.repeat(size)[:, None, None] + _range(width, x))
    # grid_sample's places: the borders of the picture, not the centres of its pixels, are -1 and 1.
    grid = torch.stack([(2 * columns + 1) / width - 1, (2 * rows + 1) / height - 1], dim=-1)
    seen = F.grid_sample(
        x, grid.flatten(1, 2), mode="bilinear", padding_mode="zeros", align_corners=False
    )
    seen = seen.view(batch, inputs, taps, height * width) * mask.flatten(2)[:, None]
    y = weight.flatten(1) @ seen.flatten(1, 2)
    if bias is not None:
        y = y + bias[:, None]
    return y.view(batch, -1, height, width)


def _range(size: int, x: Tensor) -> Tensor:
    return torch.arange(size, device=x.device)


@structure("deformable", title="Deformable", source=as_in_paper("Zhu et al. 2019"), dimensions=[2])
class Deformable(nn.Module):
    """A modulated deformable convolution; a ConvNeXt block gives its offsets and its masks.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        Height and width; any others do as well.
    size
        R, the width of the kernel, an odd number.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, size: int = 7) -> None:
        super().__init__()
        check_sizes(size=size)
        if size % 2 == 0:
            raise SynthprobeError(f"a kernel of width {size} has no centre: take an odd width.")
        self.taps = size**2
        self.guide = ConvNextBlock(channels, 3 * self.taps)
        convolution = nn.Conv2d(channels, channels, size)
        self.weight = convolution.weight
        self.bias = convolution.bias

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        offset, mask = self.guide(x).split([2 * self.taps, self.taps], dim=1)
        return deform_conv2d(x, offset, mask.sigmoid(), self.weight, self.bias)
