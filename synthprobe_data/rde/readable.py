"""Whether pictures of some settings can be read from their pixels, which certified ones must be.

The blur along an axis has an inverse, whose taps alternate in sign. So the sum of their sizes is
their sum with every other sign turned, which is what they do to a picture that alternates from
pixel to pixel: one over what the blur leaves of it. That, and how far the colours are apart, is
what decides (`RULES.md`, "Reading a picture"). Where the colours are not known beforehand, they
must be twice as far apart. The solver has its own bound, from the taps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.kernels.apart import drawn_apart, least_apart
from synthprobe_data.rde.kernels.render import hue_palette
from synthprobe_data.rde.palette import Colored, fixed_palette

_HUNDREDTHS: Final = 400  # of a pixel, up to the widest blur


class Scenes(Colored, Protocol):
    """The settings that say whether pictures can be read: those of RDE, or of twins."""

    @property
    def mode(self) -> str:
        """Whether samples are certified."""

    @property
    def blur(self) -> float:
        """Standard deviation of the blur."""


@lru_cache(maxsize=1024)
def is_readable(blur: float, n_colors: int) -> bool:
    """Whether no other label map gives the same pixels, at this blur with so many colours."""
    return _nearest(hue_palette(n_colors)) >= least_apart(blur)


def most_drawn(apart: int) -> int:
    """How many colours so far apart a picture may draw: half as many as fit for certain.

    Those on a grid of this pitch fit, black among them. Drawn one after another at random, half as
    many nearly always find room.
    """
    return int((1 + 255 // apart) ** 3 // 2 - 1)


def can_be_read(config: Scenes) -> bool:
    """Whether no other label map gives the pixels of a picture of these settings."""
    colors = fixed_palette(config)
    if colors is None:
        apart = drawn_apart(config.mode, config.blur)
        return least_apart(config.blur, known=False) <= apart
    return _nearest(colors) >= least_apart(config.blur)


def check_certifiable(config: Scenes) -> None:
    """Raise `SynthprobeError` if the pixels of certified samples would not tell their ranks."""
    if config.random_palette:
        _check_room(config)
    if config.mode != "certified" or can_be_read(config):
        return
    if isinstance(config.palette, tuple):
        raise SynthprobeError(_too_near(config))
    limit = most_blur(config.palette_size)
    raise SynthprobeError(
        f"blur is {config.blur:g}: the pixels then do not tell for certain what was painted in "
        f"{config.palette_size} colours, so no sample can be certified; give at most {limit:g}, or "
        "--no-certify (mode 'rules')."
    )


def most_blur(n_colors: int) -> float:
    """The widest blur at which pictures of so many colours can be read, in whole hundredths."""
    return max(k for k in range(_HUNDREDTHS + 1) if is_readable(k / 100, n_colors)) / 100


def _check_room(config: Scenes) -> None:
    """Raise `SynthprobeError` if a picture could not draw colours that are far enough apart."""
    apart = drawn_apart(config.mode, config.blur)
    most = most_drawn(apart)
    if most < config.palette_size:
        raise SynthprobeError(
            f"palette is random and blur is {config.blur:g}: colours must then be {apart} levels "
            f"apart, which leaves room for {max(most, 0)} of them, not for {config.palette_size}; "
            "give fewer rectangles, a smaller blur, or --no-certify (mode 'rules')."
        )


def _too_near(config: Scenes) -> str:
    """Which two colours of a list are too near each other, and what would do."""
    colors = [(0, 0, 0), *config.palette]
    pairs = [(colors[i], b) for i in range(len(colors)) for b in colors[i + 1 :]]
    a, b = min(pairs, key=lambda pair: _distance(*pair))
    return (
        f"the colours {_hex(a)} and {_hex(b)} of the palette are {_distance(a, b)} levels apart "
        f"where they differ most (black, the background, is one of them): at a blur of "
        f"{config.blur:g} no sample can be certified unless all are {least_apart(config.blur)} "
        "apart; give others, a smaller blur, or --no-certify (mode 'rules')."
    )


def _hex(color: tuple[int, ...]) -> str:
    return "#" + bytes(color).hex()


def _distance(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def _nearest(palette: NDArray[np.uint8]) -> int:
    """How far the two nearest colours are apart, black among them, where they differ most."""
    colors = np.concatenate([np.zeros((1, 3), np.int64), palette.astype(np.int64)])
    return min(
        int(np.abs(colors[i + 1 :] - colors[i]).max(axis=1).min()) for i in range(len(palette))
    )
