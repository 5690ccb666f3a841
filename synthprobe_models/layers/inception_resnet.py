"""The modules A and B of Inception-ResNet: several paths, 1x1 back to the channels, and a skip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.layers.convolution import conv_norm
from synthprobe_models.registry import structure

REDUCTION: Final = 8
"""32 of 256 channels, as in Inception-ResNet-v1."""
LENGTH: Final = 7
SOURCE: Final = "Szegedy et al. 2017"


class _Paths(nn.Module):
    """ReLU(x + F(x)), F being paths side by side, concatenated, and a 1x1 convolution with a bias.

    Parameters
    ----------
    channels
        Channels of input and output.
    paths
        From the input to ``inner`` channels each.
    inner
        Of each path.
    """

    def __init__(self, channels: int, paths: Sequence[nn.Module], inner: int) -> None:
        super().__init__()
        self.paths = nn.ModuleList(paths)
        self.join = nn.Conv2d(len(paths) * inner, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        return F.relu(x + self.join(torch.cat([path(x) for path in self.paths], dim=1)))


@structure("inception-resnet-a", title="Inception-ResNet-A", source=SOURCE, dimensions=[2])
class InceptionResNetA(_Paths):
    """Three 1x1 convolutions: alone, with a 3x3 one behind it, and with two.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any.
    reduction
        How many times fewer channels a path has; at least one.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, reduction: int = REDUCTION) -> None:
        check_sizes(reduction=reduction)
        inner = max(1, channels // reduction)
        paths = [
            nn.Sequential(
                conv_norm(channels, inner, 1), *(conv_norm(inner, inner, 3) for _ in range(behind))
            )
            for behind in range(3)
        ]
        super().__init__(channels, paths, inner)


@structure("inception-resnet-b", title="Inception-ResNet-B", source=SOURCE, dimensions=[2])
class InceptionResNetB(_Paths):
    """Two 1x1 convolutions: alone, and with a 1x7 and a 7x1 one behind it.

    The notes say three, but list these two paths, as Szegedy et al. do.

    Parameters
    ----------
    channels, shape, reduction
        As for `InceptionResNetA`.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, reduction: int = REDUCTION) -> None:
        check_sizes(reduction=reduction)
        inner = max(1, channels // reduction)
        long = nn.Sequential(
            conv_norm(channels, inner, 1), _line(inner, (1, LENGTH)), _line(inner, (LENGTH, 1))
        )
        super().__init__(channels, [conv_norm(channels, inner, 1), long], inner)


def _line(channels: int, kernel: tuple[int, int]) -> nn.Sequential:
    """A convolution along one axis, with batch normalisation and a ReLU."""
    padding = (kernel[0] // 2, kernel[1] // 2)
    convolution = nn.Conv2d(channels, channels, kernel, padding=padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(channels), nn.ReLU())
