"""What the structures that attend have in common: tokens, heads, and what is checked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from torch import Tensor

from synthprobe_data import SynthprobeError

HEADS: Final = 8
"""As in the paper."""
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
