"""The perceptron over positions of the MLP-Mixer (Tolstikhin et al. 2021)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_positions, check_sizes
from synthprobe_models.registry import as_in_paper, structure


@structure("mlp-mixer", title="MLP-Mixer", source=as_in_paper("Tolstikhin et al. 2021"))
class MlpMixer(nn.Module):
    """In each channel alike, a perceptron with one hidden layer from all N positions to all.

    It has 2 x expansion x N^2 weights, whatever the number of channels.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; it cannot take any others.
    expansion
        The hidden layer has this many times N units.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, expansion: int = 4) -> None:
        super().__init__()
        check_sizes(expansion=expansion)
        self.shape = tuple(shape)
        positions = math.prod(shape)
        self.expand = nn.Linear(positions, expansion * positions)
        self.reduce = nn.Linear(expansion * positions, positions)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        check_positions("mlp-mixer", self.shape, x)
        return self.reduce(F.gelu(self.expand(x.flatten(2)))).unflatten(-1, self.shape)
