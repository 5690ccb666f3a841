"""The Lambda layer with CoordConv: every convolution is told where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.lambda_layer import OPTIONS, Lambda
from synthprobe_models.layers.parts import ChannelNorm, LayerScale, Pointwise
from synthprobe_models.layers.position import Coordinates
from synthprobe_models.registry import PAPER, structure


@structure("lambda-coordconv", title="CoordConv", source=PAPER, options=OPTIONS)
class CoordConvLambda(Lambda):
    """The Lambda layer whose Q, K and V have the coordinates of a position as further inputs.

    The bottleneck of its frame has them, too, as inputs of both of its convolutions.

    Parameters
    ----------
    channels, shape, options
        As for `Lambda`.
    """

    def __init__(self, channels: int, shape: Sequence[int], **options: Any) -> None:
        super().__init__(channels, shape, inputs=channels + len(shape), **options)
        self.coordinates = Coordinates(shape)

    def widen(self, x: Tensor) -> Tensor:
        """The same with zeros behind the channels, to which `offsets` adds the coordinates."""
        return F.pad(x, (0, 0, 0, self.coordinates.axes))

    def offsets(self, shape: Sequence[int], like: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """The coordinates behind the channels."""
        axes = self.coordinates.axes
        (places,) = self.coordinates.at(shape, like)
        placed = F.pad(places[None], (0, 0, self.query.weight.shape[1] - axes, 0))
        plain, encoded = (
            placed if given is None else placed + self.widen(given)
            for given in super().offsets(shape, like)
        )
        return plain, encoded

    def make_bottleneck(self, channels: int) -> nn.Module:
        """The bottleneck of the frame."""
        return CoordConvBottleneck(channels, self.coordinates.axes)


class CoordConvBottleneck(nn.Module):
    """An `InvertedBottleneck` with the coordinates as further inputs of both convolutions.

    Parameters
    ----------
    channels
        Channels of input and output.
    axes
        Of the positions.
    """

    takes_queries = True

    def __init__(self, channels: int, axes: int) -> None:
        super().__init__()
        self.coordinates = Coordinates((1,) * axes)
        self.norm = ChannelNorm(channels)
        self.expand = Pointwise(channels + axes, 4 * channels)
        self.reduce = Pointwise(4 * channels + axes, channels)
        self.scale = LayerScale(channels)

    def forward(
        self, x: Tensor, shape: Sequence[int] | None = None, queries: Tensor | None = None
    ) -> Tensor:
        """Map (batch, channels, *positions) to the same shape.

        With ``shape`` and ``queries``, the positions are only those numbers of this shape.
        """
        hidden = self.expand(self.coordinates.append(self.norm(x), shape, queries))
        y = self.reduce(self.coordinates.append(F.gelu(hidden), shape, queries))
        return x + self.scale(y)
