"""A two-task network with attention in both branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.aspp import Aspp
from synthprobe_models.layers.attention import to_positions, to_tokens
from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.networks.adaptive_depth import AdaptiveBranch
from synthprobe_models.networks.deeplab import Decoder, reduced
from synthprobe_models.networks.heads import CLASSES, BranchedNetwork
from synthprobe_models.networks.resnet import Features, ResNet18
from synthprobe_models.networks.tokens import TokenBlock, edge_of, extract_latents
from synthprobe_models.registry import REPORT, network

LATENTS: Final = {"self": "aspp", "cross": "encoder"}
"""By the attention of the segmentation: what the bins of the depth are made of."""


class SelfSegmentation(nn.Module):
    """Classes from ASPP features that have attended to one another, then a decoder.

    Parameters
    ----------
    classes
        How many classes.
    width
        Channels of the first stage of the encoder.
    latents
        How many tokens attend to one another, a square number.
    layers
        How many transformer blocks.
    block
        Options of each block.
    """

    def __init__(
        self, classes: int, width: int, latents: int = 256, layers: int = 3, **block: Any
    ) -> None:
        super().__init__()
        self.edge = edge_of(latents)
        self.aspp = Aspp(8 * width, 4 * width)
        self.blocks = nn.Sequential(*(TokenBlock(4 * width, **block) for _ in range(layers)))
        self.decoder = Decoder(4 * width, width, 4 * width, skip=reduced(width))
        self.head = Pointwise(4 * width, classes)

    def forward(self, features: Features) -> Tensor:
        """The scores of the classes, as fine as the fine features."""
        tokens = self.blocks(extract_latents(self.aspp(features.deep), self.edge))
        square = to_positions(tokens, (self.edge, self.edge))
        return self.head(self.decoder(square, features.fine))


class CrossSegmentation(nn.Module):
    """Classes by similarity to tokens, one for each class, that have attended to the features.

    Parameters
    ----------
    classes, width, layers, block
        As for `SelfSegmentation`.
    """

    def __init__(self, classes: int, width: int, layers: int = 3, **block: Any) -> None:
        super().__init__()
        self.aspp = Aspp(8 * width, 4 * width)
        self.decoder = Decoder(4 * width, width, 4 * width, skip=reduced(width))
        self.tokens = nn.Parameter(torch.randn(classes, 4 * width))
        self.blocks = nn.ModuleList(
            TokenBlock(4 * width, cross=True, **block) for _ in range(layers)
        )

    def forward(self, features: Features) -> Tensor:
        """The scores of the classes, as fine as the fine features."""
        decoded = self.decoder(self.aspp(features.deep), features.fine)
        tokens, seen = self.tokens.expand(len(decoded), -1, -1), to_tokens(decoded)
        for block in self.blocks:
            tokens = block(tokens, seen)
        return torch.einsum("bkc,bchw->bkhw", tokens, decoded)


@network("two-task-attention", title="Two tasks with attention", source=REPORT, probes=["rde"])
class TwoTaskAttention(BranchedNetwork):
    """An encoder, adaptive bins for the depth, and attention for the classes.

    Parameters
    ----------
    inputs, outputs
        Channels of the pictures and of the depth.
    shape
        Height and width of the pictures; any.
    classes
        How many classes, the background included.
    width
        Channels of the first stage of the encoder; all other channels go with it.
    attention
        ``"self"``: the segmentation is a `SelfSegmentation`, and the bins of the depth are made of
        the features of an ASPP; ``"cross"``: a `CrossSegmentation`, and of those of the encoder.
    bins
        How many bins and, with self-attention, how many tokens; a square number.
    layers
        How many transformer blocks each branch has.
    dilated
        As for `ResNet18`.
    block
        Options of each block: ``heads``, ``expansion`` and ``dropout``.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        classes: int = CLASSES,
        width: int = 64,
        attention: str = "self",
        bins: int = 256,
        layers: int = 3,
        dilated: bool = True,
        **block: Any,
    ) -> None:
        if attention not in LATENTS:
            raise SynthprobeError(f"attention is {attention!r}: take one of {', '.join(LATENTS)}.")
        segmentation: nn.Module
        if attention == "self":
            segmentation = SelfSegmentation(classes, width, bins, layers, **block)
        else:
            segmentation = CrossSegmentation(classes, width, layers, **block)
        depth = AdaptiveBranch(
            outputs, width, LATENTS[attention], bins=bins, layers=layers, **block
        )
        super().__init__(ResNet18(inputs, width, dilated=dilated), depth, segmentation)
