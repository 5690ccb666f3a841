"""What the structures that attend have in common: tokens, heads, and what is checked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from synthprobe_data import SynthprobeError

HEADS: Final = 8
"""As in the paper."""
FEW_WEIGHTS: Final = 2**18
"""Up to so many weights of a head, that of 512 x 512 positions, they may be kept in memory."""
HEADS_BY_PROBE: Final[Mapping[str, Mapping[str, Any]]] = {"rde": {"heads": 4}}
"""The widths of the U-Net are smaller: the paper's Lambda layers have 4 heads there."""


def check_heads(channels: int, heads: int) -> None:
    """`SynthprobeError` if the channels cannot be dealt out to the heads."""
    check_sizes(heads=heads)
    if channels % heads:
        raise SynthprobeError(f"{channels} channels cannot be divided among {heads} heads.")


def check_dropout(dropout: float) -> None:
    """`SynthprobeError` if it is no probability, or would drop all."""
    if not 0 <= dropout < 1:
        raise SynthprobeError(f"dropout must be at least 0 and below 1, not {dropout}.")


def check_sizes(**sizes: int) -> None:
    """`SynthprobeError` if an option is below 1."""
    for name, size in sizes.items():
        if size < 1:
            raise SynthprobeError(f"{name} must be at least 1, not {size}.")


def check_positions(name: str, expected: Sequence[int], x: Tensor) -> None:
    """`SynthprobeError` if a structure sees other positions than it was built for."""
    if tuple(x.shape[2:]) != tuple(expected):
        raise SynthprobeError(
            f"{name} was built for {_times(expected)} positions: it cannot take "
            f"{_times(x.shape[2:])}."
        )


def _times(shape: Sequence[int]) -> str:
    return " x ".join(str(n) for n in shape)


def to_tokens(x: Tensor) -> Tensor:
    """From (batch, channels, *positions) to (batch, N, channels)."""
    return x.flatten(2).transpose(1, 2)


def to_positions(tokens: Tensor, positions: Sequence[int]) -> Tensor:
    """From (batch, N, channels) to (batch, channels, *positions)."""
    return tokens.transpose(1, 2).unflatten(-1, tuple(positions))


def split_heads(tokens: Tensor, heads: int, parts: int = 1) -> tuple[Tensor, ...]:
    """From (batch, N, parts x channels) to each part as (batch, heads, N, channels / heads)."""
    return tokens.unflatten(-1, (parts, heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)


def merge_heads(x: Tensor) -> Tensor:
    """From (batch, heads, N, channels / heads) to (batch, N, channels)."""
    return x.transpose(1, 2).flatten(2)


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
) -> Tensor:
    """For each query a mean of the values, weighted by softmax(Q K^T / sqrt(C')).

    Parameters
    ----------
    queries, keys, values
        As (batch, heads, positions, channels of a head).
    mask
        Which keys may be seen: booleans of four axes, to be broadcast to (batch, heads, queries,
        keys).
    dropout
        The probability that a weight is dropped.
    """
    weights = queries.shape[-2] * keys.shape[-2]
    on_cpu = queries.device.type == "cpu"
    if not on_cpu or queries.dtype != torch.bfloat16 or weights > FEW_WEIGHTS:
        return F.scaled_dot_product_attention(queries, keys, values, mask, dropout)
    # Here the backward pass of torch's kernel takes several times as long as these products.
    scores = queries @ keys.transpose(-1, -2) * queries.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return F.dropout(scores.softmax(-1), dropout) @ values
