"""The network of the twins probe: one structure at one scale, between local blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from synthprobe_models.layers.parts import ConvNextBlock, Mix, Pointwise
from synthprobe_models.networks.stack import MakeStructure
from synthprobe_models.registry import network


class SingleScale(nn.Module):
    """A 1x1 convolution, two local blocks, a structure in its frame, a local block, and a head.

    The blocks see 9 pixels to each side, all three together. What the network knows of a pixel
    farther away has come through the structure.

    Parameters
    ----------
    make
        Makes the structure from its channels and its positions; ``None`` for the blocks alone.
    inputs, outputs
        Channels before and after.
    shape
        Height and width of the input.
    width
        Channels in between.
    layers
        How many structures there are, one behind the other, each in its frame.
    """

    def __init__(
        self,
        make: MakeStructure | None = None,
        *,
        inputs: int = 3,
        outputs: int = 1,
        shape: Sequence[int],
        width: int = 12,
        layers: int = 1,
    ) -> None:
        super().__init__()
        self.stem = Pointwise(inputs, width)
        self.before = nn.Sequential(ConvNextBlock(width, width), ConvNextBlock(width, width))
        mixes = [] if make is None else [Mix(make(width, shape), width) for _ in range(layers)]
        # With one layer its parameters have the names that they always had.
        self.mix = mixes[0] if len(mixes) == 1 else nn.Sequential(*mixes)
        self.after = ConvNextBlock(width, width)
        self.head = Pointwise(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        return self.head(self.after(self.mix(self.before(self.stem(x)))))


@network("single-scale", title="No structure", probes=("twins",), is_frame=True)
def no_structure(inputs: int, outputs: int, shape: Sequence[int], **options: Any) -> SingleScale:
    """The local blocks alone."""
    return SingleScale(inputs=inputs, outputs=outputs, shape=shape, **options)
