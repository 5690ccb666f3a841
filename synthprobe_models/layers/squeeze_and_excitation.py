"""Squeeze-and-excitation (Hu et al. 2018): a factor for each channel, from the whole picture."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import check_sizes
from synthprobe_models.registry import structure


@structure(
    "squeeze-and-excitation",
    title="Squeeze-and-excitation",
    source="Hu et al. 2018",
)
class SqueezeAndExcitation(nn.Module):
    """Each channel times sigmoid(W2 relu(W1 m)), where m is the mean over all positions.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        The positions; any others can be taken, too.
    ratio
        The channels are compressed by this ratio in between, to one at least.
    """

    def __init__(self, channels: int, shape: Sequence[int], *, ratio: int = 16) -> None:
        super().__init__()
        check_sizes(ratio=ratio)
        hidden = max(1, channels // ratio)
        self.compress = nn.Linear(channels, hidden)
        self.restore = nn.Linear(hidden, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        squeezed = x.flatten(2).mean(-1)
        factor = self.restore(F.relu(self.compress(squeezed))).sigmoid()
        return x * factor[(..., *(None,) * (x.ndim - 2))]
