"""Inputs of which most positions look the same, kept as the few different columns that occur."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

MOST: Final = 4
"""More different columns than these are not worth the trouble."""


@dataclass(frozen=True)
class Columns:
    """The different columns of a batch of inputs, and where they are.

    A picture of Centered Square is black but for one pixel. What a layer computes at each position
    by itself, such as keys and values, then takes two values only, and sums over all positions are
    sums over two classes of them. The result is the same to rounding error, at a small part of the
    cost.

    Parameters
    ----------
    values
        The D columns that occur in the batch, (1, channels, D).
    masks
        For each sample and each column, 1 where it is and 0 elsewhere: (batch, D, N).
    shape
        The positions: (N,) or (H, W).
    """

    values: Tensor
    masks: Tensor
    shape: tuple[int, ...]

    @classmethod
    def of(cls, x: Tensor) -> Columns | None:
        """The columns of (batch, 1, *positions); ``None`` if they are many."""
        if x.shape[1] != 1 or x.requires_grad:
            return None
        values, which = torch.unique(x.flatten(1), return_inverse=True)
        if len(values) > MOST:
            return None
        masks = F.one_hot(which, len(values)).movedim(-1, 1).to(x.dtype)
        return cls(values[None, None], masks.contiguous(), tuple(x.shape[2:]))

    def map(self, part: Callable[[Tensor], Tensor]) -> Columns:
        """What a part that works at each position by itself makes of them."""
        return replace(self, values=part(self.values))

    def spread(self, values: Tensor, queries: Tensor | None = None) -> Tensor:
        """Put columns (1, channels, D) to their positions: (batch, channels, N or queries)."""
        masks = self.masks if queries is None else self.masks[..., queries]
        return (masks.mT @ values[0].mT).mT

    def at(self, queries: Tensor | None = None) -> Tensor:
        """The columns at their positions: (batch, channels, N or queries)."""
        return self.spread(self.values, queries)

    def sums(self, values: Tensor) -> Tensor:
        """Sums of (..., N), the same for all samples, over each column's positions.

        The result is (batch, ..., D).
        """
        sums = self.masks @ values.reshape(-1, values.shape[-1]).mT
        return sums.mT.reshape(len(self.masks), *values.shape[:-1], -1)

    def products(self, first: Tensor, second: Tensor) -> Tensor:
        """Sums of products over each column's positions.

        From (..., K, N) and (..., V, N), the same for all samples, to (batch, ..., K, V, D).
        """
        # The sum over all positions is one for the batch. What is left of it for the commonest
        # column may be small beside it, so it is computed in double precision.
        total = first.double() @ second.double().mT
        commonest = int(self.masks.sum((0, 2)).argmax())
        found: list[Tensor | None] = []
        for d in range(self.masks.shape[1]):
            if d == commonest:
                found.append(None)
                continue
            sample, position = self.masks[:, d].nonzero(as_tuple=True)
            terms = first[..., None, position] * second[..., None, :, position]
            sums = terms.new_zeros(len(self.masks), *total.shape)
            found.append(sums.index_add(0, sample, terms.movedim(-1, 0)))
        none = total.new_zeros(len(self.masks), *total.shape)
        rest = total - sum((f for f in found if f is not None), none)
        return torch.stack([rest.to(first) if f is None else f for f in found], dim=-1)

    @property
    def counts(self) -> Tensor:
        """How often each column occurs in each sample, (batch, D)."""
        return self.masks.sum(-1)
