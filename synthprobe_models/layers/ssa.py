"""Scalable self-attention (ScalableViT): fewer keys, of another width than the values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    attend,
    check_heads,
    check_sizes,
    merge_heads,
    split_heads,
    to_positions,
    to_tokens,
)
from synthprobe_models.registry import SCALABLE_VIT, structure

KEYS_PER_AXIS: Final = 7
"""What every stage of ScalableViT leaves of a picture of 224 x 224 pixels."""


@structure(
    "ssa",
    title="Scalable self-attention",
    source=SCALABLE_VIT,
    dimensions=(2,),
    options=HEADS_BY_PROBE,
)
class ScalableSelfAttention(nn.Module):
    """Attention of every position to a smaller map, with keys of scaled width.

    The smaller map has one position for each square of the picture: a convolution in each channel,
    one across channels to the width of the keys, LayerNorm and GELU. Queries come from the picture,
    keys and values from the map. A picture that the squares do not fill exactly is padded with
    zeros at the right and at the bottom.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        Height and width; any others can be taken, too.
    heads
        How many, of channels / heads channels each.
    reduction
        The side of a square; by default such that about 7 x 7 keys are left of the shape.
    widening
        How many times the channels of a head its queries and keys have.
    """

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        heads: int = HEADS,
        reduction: int | None = None,
        widening: float = 1.25,
    ) -> None:
        super().__init__()
        check_heads(channels, heads)
        if not 0 < widening < math.inf:
            raise SynthprobeError(f"widening must be positive, not {widening}.")
        if reduction is None:
            reduction = max(1, math.isqrt(math.prod(shape)) // KEYS_PER_AXIS)
        check_sizes(reduction=reduction)
        wide = heads * max(1, round(widening * channels / heads))
        self.heads = heads
        self.reduction = reduction
        self.query = nn.Linear(channels, wide)
        self.reduce = nn.Conv2d(channels, channels, reduction, stride=reduction, groups=channels)
        self.widen = nn.Linear(channels, wide)
        self.norm = nn.LayerNorm(wide, eps=1e-6)
        self.key = nn.Linear(wide, wide)
        self.value = nn.Linear(wide, channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        bottom, right = (-size % self.reduction for size in x.shape[2:])
        reduced = self.reduce(F.pad(x, (0, right, 0, bottom)))
        reduced = F.gelu(self.norm(self.widen(to_tokens(reduced))))
        (q,) = split_heads(self.query(to_tokens(x)), self.heads)
        (k,) = split_heads(self.key(reduced), self.heads)
        (v,) = split_heads(self.value(reduced), self.heads)
        mixed = attend(q, k, v)
        return to_positions(self.out(merge_heads(mixed)), x.shape[2:])
