"""Self-attention, as in the Transformer (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    attend,
    check_dropout,
    check_heads,
    merge_heads,
    split_heads,
    to_positions,
    to_tokens,
)
from synthprobe_models.registry import as_in_paper, structure


@structure(
    "transformer",
    title="Transformer",
    source=as_in_paper("Vaswani et al. 2017"),
    options=HEADS_BY_PROBE,
)
class SelfAttention(nn.Module):
    """Every position takes a mean of the values of all, weighted by softmax(Q K^T / sqrt(C')).

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any others can be taken, too.
    heads
        How many, of C' = channels / heads channels each.
    dropout
        In training, the probability that a weight of the mean is dropped.
    """

    def __init__(
        self, channels: int, shape: Sequence[int], *, heads: int = HEADS, dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_heads(channels, heads)
        check_dropout(dropout)
        self.heads = heads
        self.dropout = dropout
        self.qkv = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        q, k, v = split_heads(self.qkv(to_tokens(x)), self.heads, 3)
        dropout = self.dropout if self.training else 0.0
        mixed = attend(q, k, v, dropout=dropout)
        return to_positions(self.out(merge_heads(mixed)), x.shape[2:])
