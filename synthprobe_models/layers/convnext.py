"""The ConvNeXt block, which the paper's U-Net is made of, as a structure of its own."""

from __future__ import annotations

from collections.abc import Sequence

from synthprobe_models.layers.parts import ConvNextBlock
from synthprobe_models.registry import structure


@structure("convnext", title="ConvNeXt block", source="Liu et al. 2022", dimensions=[2])
def convnext(channels: int, shape: Sequence[int]) -> ConvNextBlock:
    """The block with as many channels before and after."""
    return ConvNextBlock(channels, channels)
