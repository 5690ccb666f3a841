"""Tokens from features, and transformer blocks in which they attend to these or to others."""

from __future__ import annotations

from math import isqrt

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.attention import to_tokens
from synthprobe_models.layers.token_attention import Attention


class TokenBlock(nn.Module):
    """A transformer block that normalises first: attention and a perceptron, each with a skip.

    Parameters
    ----------
    width, heads, dropout
        As for `Attention`.
    expansion
        How many times more channels the perceptron has inside.
    cross
        Whether the tokens attend to other ones, which then have a normalisation of their own,
        or to themselves.
    """

    def __init__(
        self,
        width: int,
        heads: int = 4,
        expansion: int = 4,
        dropout: float = 0.0,
        cross: bool = False,
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.norm_seen = nn.LayerNorm(width) if cross else None
        self.attention = Attention(width, heads, dropout)
        self.perceptron = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, expansion * width),
            nn.GELU(),
            nn.Linear(expansion * width, width),
        )

    def forward(
        self, tokens: Tensor, seen: Tensor | None = None, positions: Tensor | None = None
    ) -> Tensor:
        """Map (batch, n, width) to the same shape.

        Parameters
        ----------
        tokens
            As above.
        seen
            With ``cross``, (batch, m, width).
        positions
            Added to the queries, (1, n, width).
        """
        normal = self.norm(tokens)
        seen = normal if self.norm_seen is None else self.norm_seen(seen)
        tokens = tokens + self.attention(normal, seen, positions)
        return tokens + self.perceptron(tokens)


def edge_of(latents: int) -> int:
    """The edge of a square of so many latents; `SynthprobeError` if they are not a square."""
    edge = isqrt(max(latents, 0))
    if edge < 1 or edge**2 != latents:
        raise SynthprobeError(f"bins is {latents}: it must be a square number, such as 256.")
    return edge


def extract_latents(features: Tensor, edge: int) -> Tensor:
    """A square of edge x edge tokens, (batch, edge², channels), by bilinear interpolation."""
    square = F.interpolate(features, (edge, edge), mode="bilinear", align_corners=False)
    return to_tokens(square)
