"""Attention of tokens to tokens, the same or others."""

from __future__ import annotations

from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    attend,
    check_dropout,
    check_heads,
    merge_heads,
    split_heads,
)


class Attention(nn.Module):
    """Attention with several heads, of tokens to tokens.

    Parameters
    ----------
    width
        Channels of all tokens.
    heads
        How many heads.
    dropout
        The part of the attention weights that is set to 0 in training, the others growing for it.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_heads(width, heads)
        check_dropout(dropout)
        self.queries = nn.Linear(width, width)
        self.keys = nn.Linear(width, width)
        self.values = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.heads = heads
        self.dropout = dropout

    def forward(
        self,
        tokens: Tensor,
        seen: Tensor,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Map (batch, n, width), which attend to (batch, m, width), to (batch, n, width).

        Parameters
        ----------
        tokens, seen
            As above.
        positions
            Added to the queries, (1, n, width).
        mask
            Which of the m each of the n may attend to: booleans (1, 1, n, m).
        """
        asked = self.queries(tokens)
        (queries,) = split_heads(asked if positions is None else asked + positions, self.heads)
        (keys,) = split_heads(self.keys(seen), self.heads)
        (values,) = split_heads(self.values(seen), self.heads)
        dropout = self.dropout if self.training else 0.0
        found = attend(queries, keys, values, mask, dropout=dropout)
        return self.out(merge_heads(found))
