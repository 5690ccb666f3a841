"""The settings of the Centered Square dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from synthprobe_data.config import Config, option
from synthprobe_data.errors import SynthprobeError

MAX_SIZE: Final = 1024


@dataclass(frozen=True, kw_only=True)
class CenteredSquareConfig(Config):
    """What a Centered Square picture is made of. The defaults are the paper's.

    Parameters
    ----------
    height, width
        Size of the picture in pixels: the paper's H and W.
    square
        Side of the square in pixels, an odd number: the paper's w.
    """

    height: int = option(64, 1, MAX_SIZE, "height of the picture in pixels")
    width: int = option(64, 1, MAX_SIZE, "width of the picture in pixels")
    square: int = option(21, 1, MAX_SIZE - 1, "side of the square in pixels, an odd number")

    def validate(self) -> None:
        """Raise `SynthprobeError` for the first setting that is wrong, alone or beside others."""
        super().validate()
        if self.square % 2 == 0:
            raise SynthprobeError(
                f"square is {self.square}: it must be odd, so that a pixel is its centre."
            )
        for axis, size in (("height", self.height), ("width", self.width)):
            if self.square > size:
                raise SynthprobeError(
                    f"square is {self.square}: it does not fit into a {axis} of {size}."
                )


CANONICAL: Final = CenteredSquareConfig()
"""The published settings, and version 1 of our dataset."""
