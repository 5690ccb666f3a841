"""Global Average Pooling: the mean of all positions, for every position."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from synthprobe_models.registry import PAPER, structure


@structure("global-average-pooling", title="Global Average Pooling", source=PAPER)
class GlobalAveragePooling(nn.Module):
    """The simplest non-local layer: each channel's mean over all positions, no parameters.

    Parameters
    ----------
    channels, shape
        Any; nothing depends on them.
    """

    takes_queries = True

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()

    def forward(self, x: Tensor, queries: Tensor | None = None) -> Tensor:
        """Map (batch, channels, *positions) to the same shape.

        With ``queries``, numbers of positions, to (batch, channels, queries).
        """
        mean = x.flatten(2).mean(-1)
        shape = x.shape[2:] if queries is None else queries.shape
        return mean[(..., *(None,) * len(shape))].expand(-1, -1, *shape)
