"""A vision transformer: patches as tokens, a class token, and an answer at each pixel."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.layers.attention import check_sizes, to_positions, to_tokens
from synthprobe_models.networks.tokens import TokenBlock
from synthprobe_models.registry import network


class PatchEmbedding(nn.Module):
    """Each patch of p x p pixels as one token, by a linear map of its pixels.

    Parameters
    ----------
    inputs
        Channels of the pictures.
    width
        Channels of the tokens.
    patch
        p.
    """

    def __init__(self, inputs: int, width: int, patch: int) -> None:
        super().__init__()
        self.project = nn.Conv2d(inputs, width, patch, stride=patch)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, H W / p², width), row by row."""
        return to_tokens(self.project(x))


class VitEncoder(nn.Module):
    """Patches with a class token before them and learned positions, through pre-norm blocks.

    Parameters
    ----------
    inputs
        Channels of the pictures.
    shape
        Height and width of the pictures, multiples of the patch; no others can be taken.
    width, patch, layers, heads, expansion
        Channels of the tokens, side of a patch, and the transformer blocks.
    """

    def __init__(
        self,
        inputs: int,
        shape: Sequence[int],
        *,
        width: int,
        patch: int,
        layers: int,
        heads: int,
        expansion: int,
    ) -> None:
        super().__init__()
        check_sizes(width=width, patch=patch, layers=layers, expansion=expansion)
        if any(side % patch for side in shape):
            raise SynthprobeError(
                f"pictures of {shape[0]} x {shape[1]} pixels cannot be cut into patches of "
                f"{patch} x {patch}: take another patch."
            )
        self.shape = (shape[0] // patch, shape[1] // patch)
        count = self.shape[0] * self.shape[1]
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.embedding = PatchEmbedding(inputs, width, patch)
        self.positions = nn.Parameter(torch.empty(1, count + 1, width).normal_(std=0.02))
        self.blocks = nn.Sequential(*(TokenBlock(width, heads, expansion) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, 1 + H W / p², width), the class token first."""
        patches = self.embedding(x)
        tokens = torch.cat([self.class_token.expand(len(x), -1, -1), patches], dim=1)
        if tokens.shape[1] != self.positions.shape[1]:
            raise SynthprobeError(
                f"vit was built for {self.positions.shape[1] - 1} patches: it cannot take "
                f"{patches.shape[1]}."
            )
        return self.norm(self.blocks(tokens + self.positions))


@network(
    "vit", title="Vision transformer", source="Dosovitskiy et al. 2021", probes=["rde", "twins"]
)
class Vit(nn.Module):
    """A vision transformer for dense tasks.

    The pixels of a patch are a linear map of its token and, added to it, of the class token: what
    the class token has learnt of the whole picture is said to every pixel.

    Parameters
    ----------
    inputs, outputs
        Channels before and after.
    shape
        As for `VitEncoder`.
    width, patch, layers, heads, expansion
        As for `VitEncoder`; the defaults are small. Those of ViT-B/16 are 768, 16, 12, 12 and 4.
    class_token
        Whether the pixels are told of the class token.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        shape: Sequence[int],
        *,
        width: int = 64,
        patch: int = 4,
        layers: int = 4,
        heads: int = 4,
        expansion: int = 4,
        class_token: bool = True,
    ) -> None:
        super().__init__()
        options = {"patch": patch, "layers": layers, "heads": heads, "expansion": expansion}
        self.encoder = VitEncoder(inputs, shape, width=width, **options)
        self.pixels = nn.Linear(width, outputs * patch**2)
        self.whole = nn.Linear(width, outputs * patch**2, bias=False) if class_token else None
        self.patch = patch

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to (batch, outputs, H, W)."""
        tokens = self.encoder(x)
        found = self.pixels(tokens[:, 1:])
        if self.whole is not None:
            found = found + self.whole(tokens[:, :1])
        return F.pixel_shuffle(to_positions(found, self.encoder.shape), self.patch)
