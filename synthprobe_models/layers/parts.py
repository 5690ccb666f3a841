"""The parts that all networks of the paper are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.columns import Columns

INITIAL_SCALE: Final = 0.1
_KERNEL: Final = 7


class Pointwise(nn.Module):
    """The same linear map at every position: a convolution of width 1.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    bias
        With a constant for each output.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        # The weights of a linear layer, and so its initial values.
        linear = nn.Linear(inputs, outputs, bias)
        self.weight = linear.weight
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, *positions) to (batch, outputs, *positions)."""
        # As a product with the channels last, whose memory stays in this order: the layers that
        # follow then copy nothing.
        return F.linear(x.movedim(1, -1), self.weight, self.bias).movedim(-1, 1)


class ChannelNorm(nn.Module):
    """LayerNorm over the channels of each position (LN in the paper's figures).

    Parameters
    ----------
    channels
        Channels of the input.
    """

    def __init__(self, channels: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (batch, channels, *positions)."""
        last = x.movedim(1, -1)
        normal = F.layer_norm(last, self.weight.shape, self.weight, self.bias, self.epsilon)
        return normal.movedim(-1, 1)


class LayerScale(nn.Module):
    """A factor for each channel, small at first, so that a block starts near the identity.

    Parameters
    ----------
    channels
        Channels of the input.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.full((channels,), INITIAL_SCALE))
        self.drop = 0.0
        """Stochastic depth: in training, the probability that a sample gets 0, others more."""

    def forward(self, x: Tensor) -> Tensor:
        """Scale (batch, channels, *positions)."""
        scaled = x * self.factor[(..., *(None,) * (x.ndim - 2))]
        if not self.training or not self.drop:
            return scaled
        kept = torch.rand(len(x), *(1,) * (x.ndim - 1), device=x.device) >= self.drop
        return scaled * kept / (1 - self.drop)


def set_stochastic_depth(network: nn.Module, last: float) -> None:
    """Give every residual branch with a LayerScale its probability of being skipped.

    Parameters
    ----------
    network
        Anything with `Mix`, `InvertedBottleneck` or `ConvNextBlock`.
    last
        The probability of the last branch; that of the others grows evenly from 0.
    """
    branches = [
        module.scale
        for module in network.modules()
        if isinstance(module, (Mix, InvertedBottleneck))
        or (isinstance(module, ConvNextBlock) and module.skip)
    ]
    for number, scale in enumerate(branches):
        scale.drop = last * number / max(1, len(branches) - 1)


class InvertedBottleneck(nn.Module):
    """To four times the channels and back at every position, with a skip (IB).

    Parameters
    ----------
    channels
        Channels of input and output.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = ChannelNorm(channels)
        self.expand = Pointwise(channels, 4 * channels)
        self.reduce = Pointwise(4 * channels, channels)
        self.scale = LayerScale(channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        return x + self.scale(self.reduce(F.gelu(self.expand(self.norm(x)))))


class Mix(nn.Module):
    """The frame of every structure: normalise, mix the positions, skip; then a bottleneck.

    The bottleneck is an `InvertedBottleneck`, unless the structure has a method
    ``make_bottleneck(channels)``, which then gives it.

    A structure with the class attribute ``takes_queries = True`` can be asked for some positions
    only: its ``forward(x, queries)`` maps to (batch, channels, queries). If the bottleneck depends
    on positions, it has this attribute, too, and is called with ``shape`` and ``queries``.

    One with ``takes_columns = True`` has a method ``forward_columns(x, queries)`` for inputs that
    are `Columns`, and may then be given these.

    Parameters
    ----------
    structure
        Maps (batch, channels, *positions) to the same shape.
    channels
        Channels of input and output.
    """

    def __init__(self, structure: nn.Module, channels: int) -> None:
        super().__init__()
        self.norm = ChannelNorm(channels)
        self.structure = structure
        self.scale = LayerScale(channels)
        self.bottleneck = getattr(structure, "make_bottleneck", InvertedBottleneck)(channels)

    def forward(self, x: Tensor | Columns, queries: Tensor | None = None) -> Tensor:
        """Map (batch, channels, *positions) to the same shape.

        Parameters
        ----------
        x
            The input.
        queries
            The numbers of some positions, counted through all axes: the output then is that at
            these positions only, (batch, channels, queries).
        """
        if isinstance(x, Columns):
            structure: Any = self.structure
            mixed = self.scale(structure.forward_columns(x.map(self.norm), queries))
            return self._bottleneck(x.at(queries) + mixed, x.shape, queries)
        if queries is None:
            return self.bottleneck(x + self.scale(self.structure(self.norm(x))))
        if not getattr(self.structure, "takes_queries", False):
            raise SynthprobeError(
                f"{type(self.structure).__name__} cannot be asked for some positions only: "
                f"leave the queries out."
            )
        mixed = self.scale(self.structure(self.norm(x), queries))
        return self._bottleneck(x.flatten(2)[..., queries] + mixed, x.shape[2:], queries)

    def _bottleneck(self, x: Tensor, shape: Sequence[int], queries: Tensor | None) -> Tensor:
        """The bottleneck for (batch, channels, queries), or for all positions as (…, *shape)."""
        if queries is None:
            return self.bottleneck(x.reshape(*x.shape[:2], *shape))
        if getattr(self.bottleneck, "takes_queries", False):
            return self.bottleneck(x, shape=shape, queries=queries)
        return self.bottleneck(x)


class ConvNextBlock(nn.Module):
    """A ConvNeXt block (CN): 7x7 in each channel, then to four times the channels and back.

    Parameters
    ----------
    inputs, outputs
        Channels before and after; there is a skip when they are equal.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(inputs, inputs, _KERNEL, padding=_KERNEL // 2, groups=inputs)
        self.norm = ChannelNorm(inputs)
        self.expand = Pointwise(inputs, 4 * inputs)
        self.reduce = Pointwise(4 * inputs, outputs)
        self.scale = LayerScale(outputs)
        self.skip = inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        y = self.scale(self.reduce(F.gelu(self.expand(self.norm(self.depthwise(x))))))
        return x + y if self.skip else y
