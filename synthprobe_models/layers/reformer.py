"""The Reformer's attention (Kitaev et al. 2020): only to positions that hashing brings together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    check_heads,
    check_sizes,
    merge_heads,
    split_heads,
    to_positions,
    to_tokens,
)
from synthprobe_models.registry import as_in_paper, structure

SELF_PENALTY: Final = 1e5
"""Taken off the score of a position with itself, which so counts only where it is alone."""
_ONE_HASH: Final = 64
"""Up to this many buckets there is one rotation; above, a product of two."""


@structure(
    "reformer",
    title="Reformer-32",
    source=as_in_paper("Kitaev et al. 2020"),
    options=HEADS_BY_PROBE,
)
class Reformer(nn.Module):
    """Attention among positions with similar queries, found by locality-sensitive hashing.

    Queries are keys, too (as keys they have norm 1). In each round, a random rotation R gives a
    position with query q the bucket argmax [q R, -q R]; the positions are sorted by bucket and cut
    into chunks; each attends to its chunk and to the one before (before the first is the last). The
    rounds are combined by their sums of exponentials, and what is seen in several of them counts
    once: the result is a softmax over all that any round brings together. A position attends to
    itself only where there is no other.

    In training, each forward pass draws its rotations from torch's default generator, so
    `torch.manual_seed` repeats them. In evaluation they follow from the buffer ``seed``, which was
    drawn when the layer was built and is saved with it: the output depends on the input alone.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any others can be taken, too.
    heads
        How many, of channels / heads channels each.
    bucket
        The length of a chunk, and of a bucket on average. Two chunks already see all.
    rounds
        How many times positions are hashed. The paper does not say; two are the fewest that need
        combining.
    """

    seed: Tensor

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        heads: int = HEADS,
        bucket: int = 32,
        rounds: int = 2,
    ) -> None:
        super().__init__()
        check_heads(channels, heads)
        check_sizes(bucket=bucket, rounds=rounds)
        self.heads = heads
        self.bucket = bucket
        self.rounds = rounds
        self.qk_v = nn.Linear(channels, 2 * channels)
        self.out = nn.Linear(channels, channels)
        self.register_buffer("seed", torch.empty((), dtype=torch.long).random_(2**62))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        qk, v = split_heads(self.qk_v(to_tokens(x)), self.heads, 2)
        length = min(self.bucket, qk.shape[-2])
        mixed = attend_in_chunks(qk, v, self.hash(qk), length)
        return to_positions(self.out(merge_heads(mixed)), x.shape[2:])

    @torch.no_grad()
    def hash(self, qk: Tensor) -> Tensor:
        """The bucket of each position, (batch, heads, rounds, N), from (batch, heads, N, C')."""
        chunks = math.ceil(qk.shape[-2] / self.bucket)
        if chunks <= 2:  # Whatever the order, all see all.
            return qk.new_zeros((*qk.shape[:2], 1, qk.shape[2]), dtype=torch.long)
        generator = None if self.training else torch.Generator().manual_seed(int(self.seed))
        buckets = torch.zeros((), dtype=torch.long, device=qk.device)
        for size in hash_sizes(chunks):
            rotation = torch.randn(
                self.heads, qk.shape[-1], self.rounds * size // 2, generator=generator
            )
            rotated = (qk @ rotation.to(qk)).unflatten(-1, (self.rounds, size // 2))
            found = torch.cat([rotated, -rotated], dim=-1).argmax(-1)
            buckets = buckets * size + found.transpose(-1, -2)
        return buckets


def hash_sizes(chunks: int) -> tuple[int, ...]:
    """How many buckets there are in each factor of a hash, even numbers, for so many chunks.

    One rotation into all buckets would take N^2 operations for N positions, so that many buckets
    are pairs of fewer.
    """
    if chunks <= _ONE_HASH:
        return (_even(chunks),)
    first = _even(math.isqrt(chunks))
    return first, _even(math.ceil(chunks / first))


def _even(n: int) -> int:
    return n + n % 2


def attend_in_chunks(qk: Tensor, v: Tensor, buckets: Tensor, length: int) -> Tensor:
    """Attention of (batch, heads, N, C') within chunks of sorted buckets, and the chunks before.

    Parameters
    ----------
    qk, v
        Shared queries and keys, and values.
    buckets
        (batch, heads, rounds, N).
    length
        Of a chunk.
    """
    batch, heads, positions, width = qk.shape
    chunks = math.ceil(positions / length)
    order = buckets.argsort(dim=-1, stable=True)
    place = torch.empty_like(order).scatter_(
        -1, order, torch.arange(positions, device=qk.device).expand_as(order)
    )
    # Places beyond the last position are filled with the first one, and masked.
    slots = F.pad(order, (0, chunks * length - positions)).unflatten(-1, (chunks, length))

    rows = torch.cat([qk, F.normalize(qk, dim=-1), v], dim=-1).flatten(0, 2)
    start = torch.arange(0, len(rows), positions, device=qk.device).view(batch, heads, 1, 1, 1)
    queries, keys, values = rows[slots + start].split(width, dim=-1)
    keys, values = _with_chunk_before(keys), _with_chunk_before(values)

    scores = (width**-0.5 * queries) @ keys.transpose(-1, -2)
    scores = scores + _mask(positions, chunks, length).to(scores)
    if buckets.shape[2] > 1:
        scores = scores - _times_seen(place // length, slots, chunks).to(scores).log()
    mixed = scores.softmax(-1) @ values

    # Back to the order of the positions, and the rounds together.
    total = scores.logsumexp(-1).flatten(3).gather(-1, place)
    rows = mixed.flatten(0, 4)
    start = torch.arange(0, len(rows), chunks * length, device=qk.device)
    mixed = rows[place + start.view(*place.shape[:3], 1)]
    return (total.softmax(2).unsqueeze(-1) * mixed).sum(2)


def _with_chunk_before(x: Tensor) -> Tensor:
    """From (..., chunks, length, C') to (..., chunks, 2 length, C'): the one before comes first."""
    return x if x.shape[-3] == 1 else torch.cat([x.roll(1, -3), x], dim=-2)


def _mask(positions: int, chunks: int, length: int) -> Tensor:
    """What is added to the scores, (chunks, length, keys): no padding, and not oneself."""
    padding = torch.arange(chunks * length).view(chunks, length, 1) >= positions
    padding = _with_chunk_before(padding).transpose(-1, -2)
    mask = torch.zeros(chunks, length, padding.shape[-1])
    mask[..., -length:].masked_fill_(torch.eye(length, dtype=torch.bool), -SELF_PENALTY)
    return mask.masked_fill_(padding, -math.inf)


def _times_seen(chunk: Tensor, slots: Tensor, chunks: int) -> Tensor:
    """In how many rounds a query sees a key, (batch, heads, rounds, chunks, length, keys).

    Parameters
    ----------
    chunk
        Of each position in each round, (batch, heads, rounds, N).
    slots
        The positions in sorted order, (batch, heads, rounds, chunks, length).
    chunks
        How many.
    """
    # In its own round once, by construction.
    seen = torch.ones((), dtype=torch.int32, device=chunk.device)
    for shift in range(1, chunk.shape[2]):
        other = chunk.roll(shift, 2).gather(-1, slots.flatten(3)).view_as(slots)
        own = other.to(torch.int32).unsqueeze(-1)
        keys = _with_chunk_before(own).transpose(-1, -2)
        seen = seen + ((keys == own) | (keys == (own - 1) % chunks))
    return seen
