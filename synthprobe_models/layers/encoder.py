"""The encoder block of a transformer, with LayerNorm before or after its two parts."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import HEADS, HEADS_BY_PROBE, check_sizes
from synthprobe_models.layers.parts import ChannelNorm, Pointwise
from synthprobe_models.layers.transformer import SelfAttention
from synthprobe_models.registry import structure


@structure(
    "encoder-pre-norm",
    title="Transformer encoder, pre-norm",
    source="Xiong et al. 2020",
    options=HEADS_BY_PROBE,
)
class PreNormEncoder(nn.Module):
    """y = x + attention(LN x), then y + FFN(LN y), where FFN is a perceptron at each position.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any others can be taken, too.
    heads
        How many, of channels / heads channels each.
    expansion
        The hidden layer of the perceptron, with ReLU, has this many times the channels.
    dropout
        In training, the probability that a weight of the attention is dropped.
    """

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        heads: int = HEADS,
        expansion: int = 4,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(expansion=expansion)
        self.attention = SelfAttention(channels, shape, heads=heads, dropout=dropout)
        self.attention_norm = ChannelNorm(channels)
        self.expand = Pointwise(channels, expansion * channels)
        self.reduce = Pointwise(expansion * channels, channels)
        self.feed_forward_norm = ChannelNorm(channels)

    def feed_forward(self, x: Tensor) -> Tensor:
        """The perceptron (FFN)."""
        return self.reduce(F.relu(self.expand(x)))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


@structure(
    "encoder-post-norm",
    title="Transformer encoder, post-norm",
    source="Vaswani et al. 2017",
    options=HEADS_BY_PROBE,
)
class PostNormEncoder(PreNormEncoder):
    """y = LN(x + attention(x)), then LN(y + FFN(y)), where FFN is a perceptron at each position.

    Parameters
    ----------
    channels, shape, heads, expansion, dropout
        As for `PreNormEncoder`.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        x = self.attention_norm(x + self.attention(x))
        return self.feed_forward_norm(x + self.feed_forward(x))
