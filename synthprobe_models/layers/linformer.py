"""The Linformer's attention (Wang et al. 2020): fewer keys and values, by a learned projection."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    attend,
    check_heads,
    check_positions,
    check_sizes,
    merge_heads,
    split_heads,
    to_positions,
    to_tokens,
)
from synthprobe_models.registry import as_in_paper, structure


@structure(
    "linformer",
    title="Linformer-32",
    source=as_in_paper("Wang et al. 2020"),
    options=HEADS_BY_PROBE,
)
class Linformer(nn.Module):
    """Attention to E^T K and E^T V, where E takes the N positions to a few; no output projection.

    E has its own part for each head, and is shared by keys, values and, in a stack, all layers.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; it cannot take any others.
    heads
        How many, of channels / heads channels each.
    projected
        How many keys and values are left.
    """

    def __init__(
        self, channels: int, shape: Sequence[int], *, heads: int = HEADS, projected: int = 32
    ) -> None:
        super().__init__()
        check_heads(channels, heads)
        check_sizes(projected=projected)
        self.heads = heads
        self.shape = tuple(shape)
        self.qkv = nn.Linear(channels, 3 * channels)
        self.projection = nn.Parameter(torch.empty(heads, math.prod(shape), projected))
        # As the weights of a linear layer that has the positions as its inputs.
        bound = self.projection.shape[1] ** -0.5
        nn.init.uniform_(self.projection, -bound, bound)

    def share_with(self, first: Linformer) -> None:
        """Take the projection of the first layer."""
        self.projection = first.projection

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        check_positions("linformer", self.shape, x)
        q, k, v = split_heads(self.qkv(to_tokens(x)), self.heads, 3)
        project = self.projection.transpose(1, 2)
        mixed = attend(q, project @ k, project @ v)
        return to_positions(merge_heads(mixed), self.shape)
