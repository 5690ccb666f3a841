"""Self-attention in windows, alone or with a local module beside it (ScalableViT)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from synthprobe_models.layers.attention import (
    HEADS,
    HEADS_BY_PROBE,
    attend,
    check_heads,
    check_sizes,
    merge_heads,
    split_heads,
)
from synthprobe_models.registry import SCALABLE_VIT, structure


@structure(
    "window-attention",
    title="Window attention",
    source=SCALABLE_VIT,
    dimensions=(2,),
    options=HEADS_BY_PROBE,
)
class WindowAttention(nn.Module):
    """Self-attention within each window of a fixed partition of the picture.

    The partition starts at the top left; where the window does not divide the picture, the windows
    at the right and at the bottom are smaller.

    Parameters
    ----------
    channels
        Channels of input and output.
    shape
        Height and width; any others can be taken, too.
    heads
        How many, of channels / heads channels each.
    window
        Height and width of a window.
    """

    def __init__(
        self, channels: int, shape: Sequence[int], *, heads: int = HEADS, window: int = 7
    ) -> None:
        super().__init__()
        check_heads(channels, heads)
        check_sizes(window=window)
        self.heads = heads
        self.window = window
        self.qkv = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        batch, channels, height, width = x.shape
        windows = Windows(height, width, self.window)
        qkv = self.qkv(x.movedim(1, -1))
        q, k, v = split_heads(windows.cut(qkv).flatten(1, 2), self.heads, 3)
        mixed = attend(q, k, v, windows.mask(batch, x.device))
        joined = windows.join(merge_heads(mixed).unflatten(1, windows.window))
        return self.out(self.add_local(joined, qkv[..., -channels:], windows)).movedim(-1, 1)

    def add_local(self, mixed: Tensor, values: Tensor, windows: Windows) -> Tensor:
        """What goes into the output projection: here what the windows give, and nothing more.

        Parameters
        ----------
        mixed
            What the windows give, merged: (batch, H, W, channels).
        values
            The values, merged likewise.
        windows
            The partition.
        """
        return mixed


@structure("iwsa", title="IWSA (LIM)", source=SCALABLE_VIT, dimensions=(2,), options=HEADS_BY_PROBE)
class InteractiveWindowAttention(WindowAttention):
    """Window attention with the local interactive module (LIM).

    LIM is a 3x3 convolution in each channel of the merged values, so across windows.

    Parameters
    ----------
    channels, shape, heads, window
        As for `WindowAttention`.
    """

    def __init__(
        self, channels: int, shape: Sequence[int], *, heads: int = HEADS, window: int = 7
    ) -> None:
        super().__init__(channels, shape, heads=heads, window=window)
        self.convolution = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)

    def add_local(self, mixed: Tensor, values: Tensor, windows: Windows) -> Tensor:
        """Add the convolution of the merged values."""
        return mixed + self.convolution(values.movedim(-1, 1)).movedim(1, -1)


@structure(
    "window-attention-lem",
    title="Window attention (LEM)",
    source=SCALABLE_VIT,
    dimensions=(2,),
    options=HEADS_BY_PROBE,
)
class EnhancedWindowAttention(InteractiveWindowAttention):
    """Window attention with LEM, LIM's counterpart: the same convolution inside each window.

    Parameters
    ----------
    channels, shape, heads, window
        As for `WindowAttention`.
    """

    def add_local(self, mixed: Tensor, values: Tensor, windows: Windows) -> Tensor:
        """Add the convolution of each window for itself, with zeros around it."""
        local = self.convolution(windows.cut(values).movedim(-1, 1))
        return mixed + windows.join(local.movedim(1, -1))


class Windows:
    """A partition of a picture into windows.

    Parameters
    ----------
    height, width
        Of the picture.
    window
        Height and width of a window.
    """

    def __init__(self, height: int, width: int, window: int) -> None:
        self.picture = (height, width)
        self.window = (min(window, height), min(window, width))
        self.counts = (-(-height // self.window[0]), -(-width // self.window[1]))
        self.padding = (0, -width % self.window[1], 0, -height % self.window[0])

    def cut(self, x: Tensor) -> Tensor:
        """From (batch, H, W, channels) to (batch x windows, height, width, channels)."""
        if any(self.padding):
            x = F.pad(x, (0, 0, *self.padding))
        x = x.unflatten(2, (self.counts[1], self.window[1]))
        x = x.unflatten(1, (self.counts[0], self.window[0]))
        return x.transpose(2, 3).flatten(0, 2)

    def join(self, windows: Tensor) -> Tensor:
        """From (batch x windows, height, width, channels) to (batch, H, W, channels)."""
        x = windows.unflatten(0, (-1, *self.counts)).transpose(2, 3)
        x = x.flatten(3, 4).flatten(1, 2)
        return x[:, : self.picture[0], : self.picture[1]]

    def mask(self, batch: int, device: torch.device) -> Tensor | None:
        """Which keys are in the picture, (batch x windows, 1, 1, keys); ``None`` if all are."""
        if not any(self.padding):
            return None
        inside = torch.ones(1, *self.picture, 1, dtype=torch.bool, device=device)
        return self.cut(inside).flatten(1).repeat(batch, 1)[:, None, None]
