"""Depth from adaptive bins: their values are found for each picture, and each pixel mixes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.aspp import Aspp
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.deeplab import Decoder
from synthprobe_models.networks.heads import resize
from synthprobe_models.networks.resnet import Features, ResNet18
from synthprobe_models.networks.tokens import TokenBlock, edge_of, extract_latents
from synthprobe_models.registry import REPORT, PublishedCount, network

LATENTS: Final = ("decoder", "encoder", "aspp")
"""The features that the bins may be found from."""
POSITIONS: Final = ("none", "queries", "input")
"""What learned positions of the bins are added to."""
POSITION_DEVIATION: Final = 0.02


class AdaptiveBins(nn.Module):
    """The depth of a pixel is the mean of the bins' values, weighted by a softmax of similarities.

    A bin is a token: a transformer has made it of a square of features, a linear map gives it
    its value, and its similarity to a pixel is the dot product with that pixel's query.

    Parameters
    ----------
    width
        Channels of features and tokens.
    outputs
        Channels of the depth.
    bins
        How many bins, a square number.
    layers
        How many transformer blocks.
    heads, expansion, dropout
        Of each block.
    dimension
        Channels of the tokens, and of what they are made of; `width` by default. With others, a
        linear map takes the tokens to `width` for the similarities, behind the map to their values.
    positions
        What learned positions of the bins are added to in each block: nothing, the queries, or once
        the tokens that come in.
    """

    def __init__(
        self,
        width: int,
        outputs: int = 1,
        *,
        bins: int = 256,
        layers: int = 3,
        heads: int = 4,
        expansion: int = 4,
        dropout: float = 0.0,
        dimension: int | None = None,
        positions: str = "none",
    ) -> None:
        super().__init__()
        if positions not in POSITIONS:
            raise SynthprobeError(
                f"positions is {positions!r}: take one of {', '.join(POSITIONS)}."
            )
        channels = width if dimension is None else dimension
        self.edge = edge_of(bins)
        self.queries = nn.Conv2d(width, width, 3, padding=1)
        self.blocks = nn.Sequential(
            *(TokenBlock(channels, heads, expansion, dropout) for _ in range(layers))
        )
        self.values = nn.Linear(channels, outputs)
        self.reduce = nn.Linear(channels, width) if channels != width else None
        self.places = positions
        self.positions: nn.Parameter | None = None
        if positions != "none":
            drawn = POSITION_DEVIATION * torch.randn(1, bins, channels)
            self.positions = nn.Parameter(drawn)

    def find(self, features: Tensor, latents: Tensor) -> tuple[Tensor, Tensor]:
        """The weights of the bins at each pixel and their values.

        Parameters
        ----------
        features
            Where depth is wanted: (batch, width, H, W).
        latents
            What the bins are made of: (batch, dimension, h, w).

        Returns
        -------
        tuple
            The weights (batch, bins, H, W), which add up to 1 over the bins, and the values
            (batch, bins, outputs).
        """
        bins = extract_latents(latents, self.edge)
        if self.positions is not None and self.places == "input":
            bins = bins + self.positions
        asked = self.positions if self.places == "queries" else None
        for block in self.blocks:
            bins = block(bins, None, asked)
        compared = bins if self.reduce is None else self.reduce(bins)
        similarity = torch.einsum("bchw,bnc->bnhw", self.queries(features), compared)
        return similarity.softmax(dim=1), self.values(bins)

    def forward(self, features: Tensor, latents: Tensor) -> Tensor:
        """The depth, (batch, outputs, H, W)."""
        return torch.einsum("bnhw,bno->bohw", *self.find(features, latents))


class AdaptiveBranch(nn.Module):
    """From the features of the encoder to depth: a decoder, and adaptive bins.

    Parameters
    ----------
    outputs
        Channels of the depth.
    width
        Channels of the first stage of the encoder.
    latents
        The features that the bins are made of: those of the decoder, the deep ones of the encoder
        (through a linear map), or those of an ASPP.
    double
        Whether the bins have 8 width channels, 512 as the report has it, instead of 4 width. Those
        of the encoder are then taken as they are.
    options
        Those of `AdaptiveBins`.
    """

    def __init__(
        self,
        outputs: int,
        width: int,
        latents: str = "decoder",
        double: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        self.decoder = Decoder(8 * width, width, 4 * width, skip=width, convolutions=3)
        self.head = Pointwise(4 * width, 4 * width)
        self.latents: nn.Module | None = None
        channels = 8 * width if double else 4 * width
        if latents == "encoder":
            self.latents = nn.Identity() if double else Pointwise(8 * width, 4 * width)
        elif latents == "aspp":
            self.latents = Aspp(8 * width, channels)
        elif latents == "decoder":
            self.latents = Pointwise(4 * width, channels) if double else None
        else:
            raise SynthprobeError(f"latents is {latents!r}: take one of {', '.join(LATENTS)}.")
        self.of_encoder = latents in ("encoder", "aspp")
        self.bins = AdaptiveBins(4 * width, outputs, dimension=channels, **options)

    def forward(self, features: Features) -> Tensor:
        """The depth, as fine as the fine features."""
        decoded = self.head(self.decoder(features.deep, features.fine))
        latents = features.deep if self.of_encoder else decoded
        return self.bins(decoded, latents if self.latents is None else self.latents(latents))


@network(
    "adaptive-depth",
    title="Adaptive depth",
    source=REPORT,
    probes=["rde"],
    published=[PublishedCount(parameters=16_715_137, of="as in the report")],
)
class AdaptiveDepth(nn.Module):
    """An encoder, a decoder without ASPP, and adaptive bins.

    Parameters
    ----------
    inputs, outputs
        Channels of the pictures and of the depth.
    shape
        Height and width of the pictures; any.
    width
        Channels of the first stage of the encoder; all other channels go with it.
    dilated
        As for `ResNet18`.
    latents, double, options
        As for `AdaptiveBranch`.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        width: int = 64,
        dilated: bool = True,
        latents: str = "decoder",
        **options: Any,
    ) -> None:
        super().__init__()
        self.encoder = ResNet18(inputs, width, dilated=dilated)
        self.depth = AdaptiveBranch(outputs, width, latents, **options)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        return resize(self.depth(self.encoder(x)), x)
