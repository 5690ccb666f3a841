"""The settings of the Color Code dataset."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from synthprobe_data.config import Config, choice, option
from synthprobe_data.errors import SynthprobeError

MODES: Final = ("well-posed", "paper")
MAX_POSITIONS: Final = 4096
MAX_COLORS: Final = 256  # `group` has one byte
MAX_BITS: Final = 16
MAX_WHOLE: Final = 10**9
"""Greatest denominator of the share of masked positions."""
MOST_MASKED: Final = 0.99
ALL_COLORS: Final = 256**3


@dataclass(frozen=True, kw_only=True)
class ColorCodeConfig(Config):
    """What a Color Code sample is made of. The defaults are the paper's, made well-posed.

    Parameters
    ----------
    positions
        Length of a sample: the paper's N.
    colors
        Colours that a position is given one of: the paper's k. Not all of them need occur.
    masked
        Probability of a position to be masked, each by itself; at most nine decimals.
    bits
        Length of a code.
    min_distance
        Least distance of two colours of a sample: in red, green or blue they differ by at least so
        much, of 255. It does not count in the mode ``"paper"``.
    mode
        ``"well-posed"``: every colour that occurs is revealed at least once, and the colours are
        `min_distance` apart. ``"paper"``: as published, colours, codes, positions and mask all
        independent and uniform.
    """

    positions: int = option(128, 1, MAX_POSITIONS, "positions in a sample")
    colors: int = option(10, 1, MAX_COLORS, "colours that a position is given one of")
    masked: float = option(0.5, 0.0, 1.0, "probability of a position to be masked")
    bits: int = option(3, 1, MAX_BITS, "bits of a code")
    min_distance: int = option(
        32, 1, 255, "two colours differ by at least this in red, green or blue; not in mode paper"
    )
    mode: str = choice("well-posed", MODES)

    def validate(self) -> None:
        """Raise `SynthprobeError` for the first setting that is wrong, alone or beside others."""
        super().validate()
        if self.mode not in MODES:
            raise SynthprobeError(f"mode is {self.mode!r}: it must be one of {', '.join(MODES)}.")
        if self.masked_share.denominator > MAX_WHOLE:
            raise SynthprobeError(
                f"masked is {self.masked!r}: give it with at most nine decimals, so that it is an "
                "exact share."
            )
        if self.mode != "well-posed":
            return
        if self.masked > MOST_MASKED:
            raise SynthprobeError(
                f"masked is {self.masked!r}: it may be at most {MOST_MASKED} when every colour is "
                "to be revealed, which the mode paper does not ask for."
            )
        if not self._has_room(self.min_distance):
            most = max(d for d in range(1, self.min_distance) if self._has_room(d))
            raise SynthprobeError(
                f"min_distance is {self.min_distance}: {self.colors} colours have room for "
                f"{most} at most."
            )

    def _has_room(self, distance: int) -> bool:
        """Whether at least half of all colours are far enough from all others of a sample.

        Then every second colour drawn will do, at worst. What is too near to a colour lies in a
        cube around it.
        """
        return 2 * (self.colors - 1) * (2 * distance - 1) ** 3 <= ALL_COLORS

    @property
    def masked_share(self) -> Fraction:
        """The share of masked positions, exactly: 0.1 is a tenth and not the nearest double."""
        return Fraction(repr(float(self.masked)))


PAPER: Final = ColorCodeConfig(mode="paper")
"""The published settings, drawn as published."""

CANONICAL: Final = ColorCodeConfig()
"""The published settings, every sample well-posed: version 1 of our dataset."""

TRAIN: Final = 20_000
TEST: Final = 10_000
