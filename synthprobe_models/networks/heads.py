"""What networks for two tasks have in common: a depth for each pixel, and a class.

On Rectangle Depth Estimation, depth is the rank and the class is the colour. A step of training::

    depth, classes = network.both(batch["image"])
    colors = color_classes(label, color)
    loss = (1 - w) * F.cross_entropy(classes, colors) + w * depth_loss(depth, batch["target"])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_data import RdeConfig, SynthprobeError

CLASSES: Final = RdeConfig().palette_size + 1
"""The background and the colours of the canonical Rectangle Depth Estimation dataset."""


class TwoTasks(NamedTuple):
    """What a network finds in pictures of H x W pixels."""

    depth: Tensor
    """(batch, outputs, H, W)."""
    classes: Tensor
    """The score of each class, before any softmax: (batch, classes, H, W)."""


class TwoTaskNetwork(nn.Module, ABC):
    """A network that finds depth and classes.

    Called like any other network it gives the depth alone, so it goes into the same probes;
    `both` gives both.
    """

    @abstractmethod
    def both(self, x: Tensor) -> TwoTasks:
        """Depth and classes of (batch, inputs, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to the depth, (batch, outputs, H, W)."""
        return self.both(x).depth


class BranchedNetwork(TwoTaskNetwork):
    """A network whose two tasks have only the encoder in common.

    Parameters
    ----------
    encoder
        From pictures to features.
    depth, segmentation
        From these features to the depth and to the classes, at any size.
    depth_map
        What becomes of the depth at the size of the picture.
    """

    def __init__(
        self,
        encoder: nn.Module,
        depth: nn.Module,
        segmentation: nn.Module,
        depth_map: DepthMap | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.depth = depth
        self.segmentation = segmentation
        self.map = DepthMap() if depth_map is None else depth_map

    def both(self, x: Tensor) -> TwoTasks:
        """Depth and classes of (batch, inputs, H, W)."""
        features = self.encoder(x)
        depth = self.map(resize(self.depth(features), x))
        return TwoTasks(depth, resize(self.segmentation(features), x))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, H, W) to the depth; the segmentation is not run."""
        return self.map(resize(self.depth(self.encoder(x)), x))


DEPTHS: Final = ("linear", "exp")
DEPTH_LIMITS: Final = (0.1, 300.0)
"""Of the report, in metres. On RDE with ten rectangles the background has the depth 1/11, so that
the lower one leaves a little of it out."""


class DepthMap(nn.Module):
    """What becomes of the last channel of a network for depth.

    Parameters
    ----------
    kind
        ``"linear"``: nothing. ``"exp"``: its exponential, clamped to the limits. What lies beyond
        them is not learnt from.
    limits
        The least and the greatest depth.
    """

    def __init__(self, kind: str = "linear", limits: Sequence[float] = DEPTH_LIMITS) -> None:
        super().__init__()
        if kind not in DEPTHS:
            raise SynthprobeError(f"depth is {kind!r}: take one of {', '.join(DEPTHS)}.")
        if len(limits) != 2 or not 0 < limits[0] < limits[1]:
            raise SynthprobeError(
                f"limits is {list(limits)}: it must be two depths above 0, the smaller one first."
            )
        self.kind = kind
        self.low, self.high = limits

    def forward(self, depth: Tensor) -> Tensor:
        """Map (batch, outputs, H, W) to the same shape."""
        return depth if self.kind == "linear" else depth.exp().clamp(self.low, self.high)


def color_classes(label: Tensor, color: Tensor) -> Tensor:
    """The class of each pixel of Rectangle Depth Estimation samples, for a cross entropy.

    Parameters
    ----------
    label, color
        As the files have them: (n, H, W), and (n, R) for R rectangles.

    Returns
    -------
    Tensor
        int64 (n, H, W): 0 for the background, k + 1 for row k of the palette.
    """
    of_label = F.pad(color.long() + 1, (1, 0))
    return torch.gather(of_label, 1, label.long().flatten(1)).view(label.shape)


def resize(x: Tensor, like: Tensor) -> Tensor:
    """Bilinear interpolation to the height and width of another tensor."""
    return F.interpolate(x, like.shape[2:], mode="bilinear", align_corners=False)
