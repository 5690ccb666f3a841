"""Structures whose abilities are known by construction, and the table of the true answers.

A verdict of a profile can be checked on them: `tools/calibrate.py` does. They are no part of the
registry unless `register_known` is called, or `--load synthprobe_models.experiments.known` given.

Why an answer is true stands beside it. Where construction decides nothing, as of whether three
layers of a mean can look something up, there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor, nn

from synthprobe_models.layers.parts import Pointwise
from synthprobe_models.plugins import LOADED
from synthprobe_models.probes.ability import IN_PART, NO, YES
from synthprobe_models.registry import STRUCTURES, structure

WIDE: Final = 31
"""Of the wide convolution."""
_KEYS: Final = 8
"""Channels by which positions are compared."""


class Identity(nn.Module):
    """Every position by itself."""

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.join = Pointwise(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        return self.join(x)


class Coordinates(Identity):
    """Every position by itself, with a number of its own for each channel, which is learnt."""

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__(channels, shape)
        self.place = nn.Parameter(torch.randn(channels, *shape))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        return self.join(x + _fitted(self.place, x))


class GlobalMean(Identity):
    """The mean over all positions."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        return self.join(x.flatten(2).mean(2, keepdim=True).expand(-1, -1, x[0, 0].numel())).view(
            x.shape
        )


class Convolution(nn.Module):
    """A convolution of all channels with one another."""

    width = 5
    padding: Literal["zeros", "circular"] = "zeros"

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(
            channels, channels, self.width, padding=self.width // 2, padding_mode=self.padding
        )
        self.join = Pointwise(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        return self.join(self.convolution(x))


class Narrow(Convolution):
    """One that is narrower than the square of the quick preset."""

    width = 3


class Circular(Convolution):
    """One that goes on at the opposite side."""

    padding: Literal["zeros", "circular"] = "circular"


class Wide(nn.Module):
    """One of 31 x 31 in each channel, wider than a square and than most pictures.

    As pictures are small, it is computed as a matrix from positions to positions for each channel,
    which is many times quicker than the kernel of a convolution.
    """

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.kernel = nn.Conv2d(channels, channels, WIDE, padding=WIDE // 2, groups=channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        down, across = (_offsets(size, x.device) for size in x.shape[2:])
        taps = nn.functional.pad(self.kernel.weight[:, 0], (0, 1, 0, 1))  # the last ones are 0
        matrix = taps[:, down[:, None, :, None], across[None, :, None, :]]
        mixed = torch.einsum("bcij,cyxij->bcyx", x, matrix)
        bias = self.kernel.bias
        assert bias is not None
        return mixed + bias[:, None, None]


def _offsets(size: int, device: torch.device) -> Tensor:
    """For each position of the output and of the input, the tap of `Wide` between the two."""
    places = torch.arange(size, device=device)
    taps = places[None, :] - places[:, None] + WIDE // 2
    return taps.where((taps >= 0) & (taps < WIDE), torch.full_like(taps, WIDE))


class Attention(nn.Module):
    """Attention of one head without positions."""

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.query = Pointwise(channels, channels)
        self.key = Pointwise(channels, channels)
        self.value = Pointwise(channels, channels)

    def weights(self, x: Tensor) -> Tensor:
        """Which position takes how much of which: (batch, N, N)."""
        scores = self.query(x).transpose(1, 2) @ self.key(x) * x.shape[1] ** -0.5
        return scores.softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        flat = x.flatten(2)
        return (self.value(flat) @ self.weights(flat).transpose(1, 2)).view(x.shape)


class ColorLookup(Attention):
    """Positions take from those that look the same: the nearer in a few channels, the more."""

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__(channels, shape)
        self.query = Pointwise(channels, _KEYS)
        self.key = self.query
        self.sharp = nn.Parameter(torch.ones(()))

    def weights(self, x: Tensor) -> Tensor:
        """Which position takes how much of which: (batch, N, N)."""
        look = self.query(x).transpose(1, 2)
        length = look.square().sum(-1)
        apart = length[:, :, None] + length[:, None, :] - 2 * look @ look.transpose(1, 2)
        return (-self.sharp * apart).softmax(-1)


class OneHotPositions(nn.Module):
    """A matrix from all positions to all positions, whose every entry is learnt for itself."""

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.mix = nn.Linear(torch.Size(shape).numel(), torch.Size(shape).numel())
        self.join = Pointwise(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, *positions) to the same shape."""
        return self.join(self.mix(x.flatten(2)).view(x.shape))


class RowAndColumnMean(nn.Module):
    """The mean of the row, and that of the column."""

    def __init__(self, channels: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.join = Pointwise(2 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, H, W) to the same shape."""
        row, column = (x.mean(axis, keepdim=True).expand_as(x) for axis in (3, 2))
        return self.join(torch.cat([row, column], dim=1))


def _fitted(place: Tensor, x: Tensor) -> Tensor:
    """What belongs to positions, for as many as there are: repeated, or cut off."""
    for axis, size in enumerate(x.shape[2:], 1):
        repeated = torch.arange(size, device=place.device) % place.shape[axis]
        place = place.index_select(axis, repeated)
    return place


@dataclass(frozen=True)
class Truth:
    """A true answer."""

    answer: str
    """*yes*, *in part* or *no*."""
    why: str
    """By construction."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """A structure and what is true of it."""

    name: str
    title: str
    build: Callable[..., nn.Module]
    dimensions: tuple[int, ...] = (2,)
    truths: Mapping[str, Truth]
    """By probe."""


_BY_ITSELF: Final = "no position hears of another one"
_SET: Final = "all positions take the same, or from what looks the same: there is no place to paint"
_NEAR: Final = "sees 9 + {} pixels to each side, and far begins at 17"
_ALL: Final = "one bit is to be told, and all positions hear of all"
_LOOKUP: Final = "one layer can compare colours and take the code from where they are the same"


def _near(reach: int) -> Truth:
    return Truth(NO, _NEAR.format(reach))


KNOWN: Final = (
    Known(
        name="known-identity",
        title="Identity",
        build=Identity,
        dimensions=(1, 2),
        truths={
            "centered-square": Truth(NO, _BY_ITSELF),
            "color-code": Truth(NO, _BY_ITSELF),
            "twins": _near(0),
        },
    ),
    Known(
        name="known-coordinates",
        title="Coordinates alone",
        build=Coordinates,
        dimensions=(1, 2),
        truths={
            "centered-square": Truth(NO, _BY_ITSELF),
            "color-code": Truth(NO, _BY_ITSELF),
            "twins": _near(0),
        },
    ),
    Known(
        name="known-global-mean",
        title="Global mean",
        build=GlobalMean,
        truths={"centered-square": Truth(NO, _SET), "twins": Truth(YES, _ALL)},
    ),
    Known(
        name="known-convolution-3",
        title="3 x 3 convolution",
        build=Narrow,
        truths={
            "centered-square": Truth(IN_PART, "covariant, but reaches 9 of the 25 pixels"),
            "twins": _near(1),
        },
    ),
    Known(
        name="known-convolution-5",
        title="5 x 5 convolution",
        build=Convolution,
        truths={
            "centered-square": Truth(YES, "covariant, and covers the square"),
            "twins": _near(2),
        },
    ),
    Known(
        name="known-circular-5",
        title="5 x 5 convolution, circular",
        build=Circular,
        truths={
            "centered-square": Truth(YES, "covariant, and no square crosses the edge"),
            "twins": _near(2),
        },
    ),
    Known(
        name="known-depthwise-31",
        title="31 x 31 depthwise convolution",
        build=Wide,
        truths={
            "centered-square": Truth(YES, "covariant, and covers the square"),
            "twins": Truth(IN_PART, "sees 9 + 15 pixels to each side, and far is from 17 to 48"),
        },
    ),
    Known(
        name="known-attention",
        title="Attention without positions",
        build=Attention,
        dimensions=(1, 2),
        truths={
            "centered-square": Truth(NO, _SET),
            "color-code": Truth(YES, _LOOKUP),
            "twins": Truth(YES, _ALL),
        },
    ),
    Known(
        name="known-color-lookup",
        title="Lookup by colour",
        build=ColorLookup,
        dimensions=(1, 2),
        truths={
            "centered-square": Truth(NO, _SET),
            "color-code": Truth(YES, _LOOKUP),
            "twins": Truth(YES, _ALL),
        },
    ),
    Known(
        name="known-one-hot",
        title="One-hot positions",
        build=OneHotPositions,
        truths={
            "centered-square": Truth(NO, "what is learnt of a position says nothing of another"),
            "twins": Truth(YES, _ALL),
        },
    ),
    Known(
        name="known-row-and-column",
        title="Mean of row and column",
        build=RowAndColumnMean,
        truths={
            "centered-square": Truth(NO, "of the rows and columns beside its own it hears nothing"),
            "twins": Truth(YES, "one bit is to be told, and a row has all of the length"),
        },
    ),
)
"""With the true answers."""


def register_known() -> None:
    """Put them into the registry, unless they are there."""
    for one in KNOWN:
        if one.name not in STRUCTURES:
            structure(
                one.name,
                title=one.title,
                source="known by construction",
                dimensions=one.dimensions,
            )(one.build)
            LOADED[one.name] = __name__  # so that other processes find it


register_known()
