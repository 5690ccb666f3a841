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
from synthprobe_models.registry import REPORT, network

LATENTS: Final = ("decoder", "encoder", "aspp")
"""The features that the bins may be found from."""


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
    ) -> None:
        super().__init__()
        self.edge = edge_of(bins)
        self.queries = nn.Conv2d(width, width, 3, padding=1)
        self.blocks = nn.Sequential(
            *(TokenBlock(width, heads, expansion, dropout) for _ in range(layers))
        )
        self.values = nn.Linear(width, outputs)

    def find(self, features: Tensor, latents: Tensor) -> tuple[Tensor, Tensor]:
        """The weights of the bins at each pixel and their values.

        Parameters
        ----------
        features
            Where depth is wanted: (batch, width, H, W).
        latents
            What the bins are made of: (batch, width, h, w).

        Returns
        -------
        tuple
            The weights (batch, bins, H, W), which add up to 1 over the bins, and the values
            (batch, bins, outputs).
        """
        bins = self.blocks(extract_latents(latents, self.edge))
        similarity = torch.einsum("bchw,bnc->bnhw", self.queries(features), bins)
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
    options
        Those of `AdaptiveBins`.
    """

    def __init__(self, outputs: int, width: int, latents: str = "decoder", **options: Any) -> None:
        super().__init__()
        self.decoder = Decoder(8 * width, width, 4 * width, skip=width, convolutions=3)
        self.head = Pointwise(4 * width, 4 * width)
        self.latents: nn.Module | None = None
        if latents == "encoder":
            self.latents = Pointwise(8 * width, 4 * width)
        elif latents == "aspp":
            self.latents = Aspp(8 * width, 4 * width)
        elif latents != "decoder":
            raise SynthprobeError(f"latents is {latents!r}: take one of {', '.join(LATENTS)}.")
        self.bins = AdaptiveBins(4 * width, outputs, **options)

    def forward(self, features: Features) -> Tensor:
        """The depth, as fine as the fine features."""
        decoded = self.head(self.decoder(features.deep, features.fine))
        latents = decoded if self.latents is None else self.latents(features.deep)
        return self.bins(decoded, latents)


@network("adaptive-depth", title="Adaptive depth", source=REPORT, probes=["rde"])
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
    latents, options
        As for `AdaptiveBranch`.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        width: int = 64,
        latents: str = "decoder",
        **options: Any,
    ) -> None:
        super().__init__()
        self.encoder = ResNet18(inputs, width)
        self.depth = AdaptiveBranch(outputs, width, latents, **options)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        return resize(self.depth(self.encoder(x)), x)
