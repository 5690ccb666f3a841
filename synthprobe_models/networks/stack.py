"""The network of two probes: one layer of a structure, or three, between 1x1 convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from synthprobe_models.layers.columns import Columns
from synthprobe_models.layers.parts import Mix, Pointwise

MakeStructure = Callable[[int, Sequence[int]], nn.Module]
"""From channels and positions to a structure."""


class LayerStack(nn.Module):
    """A 1x1 convolution, some layers of a structure, each in its frame, and a 1x1 convolution.

    A structure that has a method ``share_with(first)`` is told the one of the first layer, so that
    all layers can have parts in common.

    Parameters
    ----------
    make
        Makes the structure of a layer from its channels and its positions.
    inputs, outputs
        Channels before and after.
    shape
        The positions: (N,) or (H, W).
    width
        Channels in between.
    layers
        How many layers.
    """

    def __init__(
        self,
        make: MakeStructure,
        *,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        width: int,
        layers: int = 1,
    ) -> None:
        super().__init__()
        self.stem = Pointwise(inputs, width)
        structures = [make(width, shape) for _ in range(layers)]
        for later in structures[1:]:
            share = getattr(later, "share_with", None)
            if share is not None:
                share(structures[0])
        self.layers = nn.ModuleList(Mix(structure, width) for structure in structures)
        self.head = Pointwise(width, outputs)
        self.takes_queries = bool(getattr(structures[-1], "takes_queries", False))
        """Whether it can be asked for some positions only."""
        # A first layer's output has many columns, whatever its input has.
        self.takes_columns = layers == 1 and bool(getattr(structures[0], "takes_columns", False))
        """Whether inputs with few different columns are worth looking for."""

    def forward(self, x: Tensor, queries: Tensor | None = None) -> Tensor:
        """Map ``(batch, inputs, *positions)`` to ``(batch, outputs, *positions)``.

        Parameters
        ----------
        x
            The input.
        queries
            The numbers of some positions, counted through all axes, for a structure that can be
            asked for them only: the output then is that at these, (batch, outputs, queries). Only
            the last layer is spared the others, since each of its outputs needs all of its inputs.
        """
        columns = Columns.of(x) if self.takes_columns else None
        if columns is not None:
            return self.head(self.layers[0](columns.map(self.stem), queries))
        x = self.stem(x)
        *earlier, last = self.layers
        for layer in earlier:
            x = layer(x)
        return self.head(last(x, queries))
