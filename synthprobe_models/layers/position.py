"""Position encodings that are not learned: cosine or Fourier, along one axis or two, by heads."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError

_BASE: Final = 10_000.0
FAMILIES: Final = ("cosine", "fourier")
"""The choices of frequencies."""


def frequencies(family: str, channels: int, axes: int) -> Tensor:
    """The frequencies w_1, w_2, ... of an encoding, in double precision.

    Parameters
    ----------
    family
        ``"cosine"``: geometric, from 1 down to almost 1/10000. ``"fourier"``: 2 pi c / (2C) for
        c = 1, 2, ...
    channels
        C, the channels of the encoding: a multiple of 2 along one axis, of 4 along two.
    axes
        1 or 2; each frequency has a cosine and a sine along each axis.
    """
    _check_family(family)
    count = channels // (2 * axes)
    if family == "cosine":
        return _BASE ** -(torch.arange(count, dtype=torch.double) / count)
    return torch.arange(1, count + 1, dtype=torch.double) * (math.pi / channels)


def _check_family(family: str) -> None:
    if family not in FAMILIES:
        raise SynthprobeError(
            f"there are no frequencies {family!r}: take one of {', '.join(FAMILIES)}."
        )


def encode_positions(
    shape: Sequence[int], channels: int, family: str = "fourier", *, turned: bool = False
) -> Tensor:
    """The matrix P of positions, (channels, N), in double precision.

    Along one axis the channels are cos(w_k n), sin(w_k n) for each k; along two axes cos(w_k h),
    sin(w_k h), cos(w_k w), sin(w_k w). Positions are counted from 0.

    Parameters
    ----------
    shape
        The positions: (N,) or (H, W).
    channels
        A multiple of 2 along one axis, of 4 along two.
    family
        Of the frequencies.
    turned
        By a quarter turn: -sin for cos, and cos for sin. P_1^T P_2 with P_2 turned is then odd in
        the displacement, where P^T P is even.
    """
    axes = len(shape)
    omega = frequencies(family, channels, axes)
    parts = []
    for axis, size in enumerate(shape):
        angle = omega[:, None] * torch.arange(size, dtype=torch.double)
        waves = (-angle.sin(), angle.cos()) if turned else (angle.cos(), angle.sin())
        along = [size if a == axis else 1 for a in range(axes)]
        parts += [wave.reshape(-1, *along).expand(-1, *shape) for wave in waves]
    return torch.stack(parts, dim=1).reshape(channels, -1)


def coordinates(shape: Sequence[int]) -> Tensor:
    """Each position's place along each axis, from -1 to 1, as (axes, N), in double precision.

    An axis of a single position has the place 0.
    """
    along = [
        torch.linspace(-1, 1, size, dtype=torch.double)
        if size > 1
        else torch.zeros(1, dtype=torch.double)
        for size in shape
    ]
    return torch.stack([place.flatten() for place in torch.meshgrid(*along, indexing="ij")])


class Placed(nn.Module, ABC):
    """Figures that depend on nothing but the shape of the positions, made once for each shape.

    They are buffers, neither trained nor saved. Whatever shape, precision or device an input has,
    they are made for it from double precision, and kept until an input is different.

    Parameters
    ----------
    shape
        The positions that are expected.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__()
        self._made_for: tuple[object, ...] = ()
        self.axes = len(shape)

    @abstractmethod
    def make(self, shape: Sequence[int]) -> tuple[Tensor, ...]:
        """The values at these positions, in double precision."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """The values at the positions of (batch, channels, *positions)."""
        return self.at(x.shape[2:], x)

    def at(self, shape: Sequence[int], like: Tensor) -> tuple[Tensor, ...]:
        """The values at these positions, with the precision and the device of a tensor."""
        shape = tuple(shape)
        wanted = (shape, like.dtype, like.device)
        # A module that was cast to another precision holds values of the old one, so what counts
        # is what they were made for.
        if self._made_for != wanted:
            if len(shape) != self.axes:
                raise SynthprobeError(
                    f"positions along {self.axes} axes were expected, not along {len(shape)}."
                )
            # What is made while nothing is recorded must do for training as well.
            with torch.inference_mode(False), torch.device("cpu"):
                made = [values.to(like) for values in self.make(shape)]
            self._kept = len(made)
            for k, values in enumerate(made):
                self.register_buffer(f"values_{k}", values, persistent=False)
            self._made_for = wanted
        return tuple(getattr(self, f"values_{k}") for k in range(self._kept))


class PositionEncoding(Placed):
    """The matrices P_1 and P_2 of an encoding, reshaped to (heads, C / heads, N).

    Parameters
    ----------
    channels
        C, which is free. It is rounded up so that every head has whole groups of a cosine and a
        sine along each axis: to a multiple of 2 for each head along one axis, of 4 along two. Only
        so each head is a function of displacements alone.
    shape
        The positions: (N,) or (H, W).
    family
        Of the frequencies: ``"cosine"`` or ``"fourier"``.
    heads
        How many.
    isotropic
        P_2 is P_1. Otherwise P_2 is P_1 by a quarter turn, which tells a displacement from its
        opposite.
    """

    def __init__(
        self,
        channels: int,
        shape: Sequence[int],
        *,
        family: str = "fourier",
        heads: int = 1,
        isotropic: bool = True,
    ) -> None:
        super().__init__(shape)
        if channels < 1:
            raise SynthprobeError(f"an encoding needs at least 1 channel, not {channels}.")
        _check_family(family)
        group = 2 * self.axes * heads
        self.channels = -(-channels // group) * group
        self.family = family
        self.heads = heads
        self.isotropic = isotropic

    def make(self, shape: Sequence[int]) -> tuple[Tensor, ...]:
        """P_1 and P_2, or P alone."""
        turns = (False,) if self.isotropic else (False, True)
        return tuple(
            encode_positions(shape, self.channels, self.family, turned=turned).view(
                self.heads, self.channels // self.heads, -1
            )
            for turned in turns
        )

    def pair(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """P_1 and P_2 for the positions of (batch, channels, *positions)."""
        made = self(x)
        return made[0], made[-1]


class Coordinates(Placed):
    """The `coordinates` of all positions, or of some."""

    def make(self, shape: Sequence[int]) -> tuple[Tensor, ...]:
        """One tensor, (axes, N)."""
        return (coordinates(shape),)

    def append(
        self, x: Tensor, shape: Sequence[int] | None = None, queries: Tensor | None = None
    ) -> Tensor:
        """Put the coordinates behind the channels.

        Parameters
        ----------
        x
            (batch, channels, *positions).
        shape, queries
            With these, the positions of ``x`` are only those numbers of a larger ``shape``.
        """
        (places,) = self.at(x.shape[2:] if shape is None else shape, x)
        if queries is not None:
            places = places[:, queries]
        places = places.view(1, -1, *x.shape[2:]).expand(len(x), *(-1,) * (x.ndim - 1))
        return torch.cat([x, places], dim=1)
