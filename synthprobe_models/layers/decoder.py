"""The decoder block of a transformer: causal self-attention, then attention to a memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    check_sizes,
    to_positions,
    to_tokens,
)
from synthprobe_models.layers.token_attention import Attention
from synthprobe_models.registry import structure


class DecoderBlock(nn.Module):
    """Three parts, each with LayerNorm before it and a skip around it.

    In the first, a token attends to itself and to those before it; in the second to all tokens of a
    memory, which the encoder has made; the third is a perceptron at each token, with ReLU.

    Parameters
    ----------
    channels
        Channels of tokens and memory.
    heads
        How many, of channels / heads channels each.
    expansion
        The hidden layer of the perceptron has this many times the channels.
    memory
        Whether there is one; without it the second part is left out.
    """

    def __init__(
        self, channels: int, *, heads: int = HEADS, expansion: int = 4, memory: bool = True
    ) -> None:
        super().__init__()
        check_sizes(expansion=expansion)
        self.own_norm = nn.LayerNorm(channels)
        self.own = Attention(channels, heads)
        self.memory_norm = nn.LayerNorm(channels) if memory else None
        self.memory = Attention(channels, heads) if memory else None
        self.norm = nn.LayerNorm(channels)
        self.expand = nn.Linear(channels, expansion * channels)
        self.reduce = nn.Linear(expansion * channels, channels)

    def forward(self, tokens: Tensor, memory: Tensor | None = None) -> Tensor:
        """Map (batch, n, channels) to the same shape; the memory is (batch, m, channels)."""
        count = tokens.shape[1]
        before = torch.ones(1, 1, count, count, dtype=torch.bool, device=tokens.device).tril()
        normal = self.own_norm(tokens)
        tokens = tokens + self.own(normal, normal, mask=before)
        if self.memory is not None and self.memory_norm is not None:
            assert memory is not None
            tokens = tokens + self.memory(self.memory_norm(tokens), memory)
        return tokens + self.reduce(F.relu(self.expand(self.norm(tokens))))


@structure(
    "decoder",
    title="Transformer decoder",
    source="Vaswani et al. 2017",
    options=HEADS_BY_PROBE,
)
class Decoder(nn.Module):
    """A `DecoderBlock` over the positions, row by row, whose memory is its own input.

    The notes draw the decoder behind an encoder, whose output it attends to. As a structure it has
    one input only, which is both. Without a memory, a position sees itself and those before it
    alone: the block of a language model.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any others can be taken, too.
    heads, expansion, memory
        As for `DecoderBlock`.
    """

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        heads: int = HEADS,
        expansion: int = 4,
        memory: bool = True,
    ) -> None:
        super().__init__()
        self.block = DecoderBlock(channels, heads=heads, expansion=expansion, memory=memory)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        tokens = to_tokens(x)
        return to_positions(self.block(tokens, tokens), x.shape[2:])
