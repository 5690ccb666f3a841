"""Global Context: one weighted mean of all positions, transformed, for every position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.registry import as_in_paper, structure

_REDUCTION: Final = 2


@structure("global-context", title="Global Context", source=as_in_paper("Cao et al. 2020"))
class GlobalContext(nn.Module):
    """One attention map over all positions, shared by all queries, and two 1x1 convolutions.

    Parameters
    ----------
    channels
        Channels of input and output; in between there are half as many, but at least one.
    shape
        The positions; any others do as well.
    """

    takes_queries = True

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        hidden = max(channels // _REDUCTION, 1)
        self.attention = Pointwise(channels, 1)
        self.reduce = Pointwise(channels, hidden)
        self.expand = Pointwise(hidden, channels)

    def forward(self, x: Tensor, queries: Tensor | None = None) -> Tensor:
        """Map (batch, channels, *positions) to the same shape.

        With ``queries``, numbers of positions, to (batch, channels, queries).
        """
        flat = x.flatten(2)
        weights = self.attention(flat).softmax(-1)
        context = flat @ weights.mT
        y = self.expand(F.gelu(self.reduce(context)))
        shape = x.shape[2:] if queries is None else queries.shape
        return y[..., 0][(..., *(None,) * len(shape))].expand(-1, -1, *shape)
