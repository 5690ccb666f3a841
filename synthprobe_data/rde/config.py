"""The settings of the Rectangle Depth Estimation dataset."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from synthprobe_data.config import Config, choice, option, words
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.color_file import read_colors
from synthprobe_data.rde.demands import check_demands, without_demands

HUES: Final = "hues"
RANDOM: Final = "random"
PALETTES: Final = (HUES, RANDOM)
MODES: Final = ("certified", "rules", "ambiguous")
MAX_SIZE: Final = 1024
MIN_SIZE: Final = 8
MAX_RECTANGLES: Final = 63  # one bit each in a 64-bit cover mask
MAX_PAIRS: Final = MAX_RECTANGLES * (MAX_RECTANGLES - 1) // 2


@dataclass(frozen=True, kw_only=True)
class RdeConfig(Config):
    """What an RDE scene is made of. The defaults are the paper's.

    Parameters
    ----------
    height, width
        Size of the picture in pixels.
    n_rectangles
        Rectangles to place in a scene.
    n_vis
        What must stay visible, in pixels: a rectangle shows more than this in its longest row and
        column, and the stem and arms of a T-junction are at least this long.
    n_gap
        A rectangle shows more than this many pixels in every row and column in which it shows.
    n_par
        Least distance of parallel sides, in pixels.
    min_size
        Least width and height of a rectangle, as a share of the picture's.
    trials
        Unsuccessful candidates after which a scene stops with the rectangles it has.
    blur
        Standard deviation of the Gaussian blur, in pixels; 0 for none. New samples are certified
        only up to a blur that can be undone: 0.78 with ten colours, less with more.
    n_colors
        Colours in the palette; ``None`` for as many as rectangles.
    mode
        ``"certified"``: all placement rules and the certificate. ``"rules"``: the paper's rules
        only. ``"ambiguous"``: neither, as in the paper's row "Baseline*".
    difficulty
        Whether the file also has the datasets that say how hard each sample is.
    require_order
        Whether a scene is drawn again until at least two ranks occur in it.
    min_rectangles
        If given, each sample first draws how many rectangles to place, uniformly from this number
        to `n_rectangles`; ``None`` for `n_rectangles` in every scene.
    palette
        ``"hues"``: fully saturated colours at equally spaced hues. ``"random"``: each picture draws
        colours of its own. Or a list of colours, each of three whole numbers from 0 to 255.
    min_depth, min_cue_distance, min_convexity_only
        How hard each scene is at least, as the difficulty of a sample says it; a scene that falls
        short is drawn again. 0 for any.
    """

    height: int = option(128, MIN_SIZE, MAX_SIZE, "height of the picture in pixels")
    width: int = option(128, MIN_SIZE, MAX_SIZE, "width of the picture in pixels")
    n_rectangles: int = option(10, 1, MAX_RECTANGLES, "rectangles in a scene")
    n_vis: int = option(
        5, 0, MAX_SIZE, "in some row and in some column, a rectangle shows more pixels than this"
    )
    n_gap: int = option(
        5, 0, MAX_SIZE, "in a row or column where it shows, a rectangle shows more pixels than this"
    )
    n_par: int = option(5, 0, MAX_SIZE, "least distance of parallel sides in pixels")
    min_size: float = option(0.1, 0.0, 0.5, "least side of a rectangle, as a share of the picture")
    trials: int = option(
        1000, 1, 1_000_000, "places that are tried in vain before a scene stays as it is"
    )
    blur: float = option(0.7, 0.0, 4.0, "standard deviation of the blur in pixels, 0 for none")
    n_colors: int | None = option(
        None, 1, MAX_RECTANGLES, "colours in the palette, one for each rectangle unless given"
    )
    mode: str = choice("certified", MODES)
    difficulty: bool = False
    require_order: bool = False
    min_rectangles: int | None = option(
        None,
        1,
        MAX_RECTANGLES,
        "least number of rectangles, where each sample draws its own",
        least_of="n_rectangles",
    )
    palette: str | tuple[tuple[int, int, int], ...] = words(
        HUES, PALETTES, read_colors, "the colours of the rectangles"
    )
    min_depth: int = option(
        0, 0, MAX_RECTANGLES, "draw again until the highest rank is at least this"
    )
    min_cue_distance: int = option(
        0, 0, MAX_SIZE, "draw again until a cue must reach at least so many pixels"
    )
    min_convexity_only: int = option(
        0, 0, MAX_PAIRS, "draw again until only convexity orders at least so many pairs"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "palette", checked_palette(self.palette, self.n_colors))
        super().__post_init__()

    def validate(self) -> None:
        """Raise `SynthprobeError` for the first setting that is wrong, alone or beside others."""
        super().validate()
        if self.mode not in MODES:
            raise SynthprobeError(f"mode is {self.mode!r}: it must be one of {', '.join(MODES)}.")
        for name in ("difficulty", "require_order"):
            if not isinstance(getattr(self, name), bool):
                raise SynthprobeError(
                    f"{name} is {getattr(self, name)!r}: it must be true or false."
                )
        check_least(self.min_rectangles, self.n_rectangles)
        if self.require_order and self.least_rectangles < 2:
            name = "n_rectangles" if self.min_rectangles is None else "min_rectangles"
            raise SynthprobeError(
                f"require_order asks for two ranks, but {name} is 1: give at least 2."
            )
        check_demands(self, least=self.least_rectangles, height=self.height, width=self.width)
        check_palette_size(self.palette, self.n_rectangles)
        if self.palette_size < self.n_rectangles:
            raise SynthprobeError(
                f"n_rectangles is {self.n_rectangles} but n_colors is {self.n_colors}: every "
                f"rectangle needs its own, so give n_colors at least {self.n_rectangles}."
            )
        if self.mode != "ambiguous":
            for axis, least, size in (
                ("width", self.least_width, self.width),
                ("height", self.least_height, self.height),
            ):
                if least > size:
                    raise SynthprobeError(
                        f"n_vis = {self.n_vis} and n_gap = {self.n_gap} ask for rectangles of at "
                        f"least {least} pixels, which leaves no room in a {axis} of {size}."
                    )

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values; those that were added later only where they are set.

        So what files say that were made before they were there, and without them, stays the same.
        """
        settings = super().to_dict()
        if not self.require_order:
            del settings["require_order"]
        if self.min_rectangles is None:
            del settings["min_rectangles"]
        return without_demands(with_palette(settings))

    @property
    def least_rectangles(self) -> int:
        """The least number of rectangles that a sample asks for."""
        return self.n_rectangles if self.min_rectangles is None else self.min_rectangles

    @property
    def min_width(self) -> int:
        """Least width by rule 1, in pixels."""
        return _share_of(self.min_size, self.width)

    @property
    def min_height(self) -> int:
        """Least height by rule 1, in pixels."""
        return _share_of(self.min_size, self.height)

    @property
    def least_width(self) -> int:
        """Least width by rules 1 and 2, in pixels."""
        return max(self.min_width, self.n_vis + 1, self.n_gap + 1)

    @property
    def least_height(self) -> int:
        """Least height by rules 1 and 2, in pixels."""
        return max(self.min_height, self.n_vis + 1, self.n_gap + 1)

    @property
    def palette_size(self) -> int:
        """Number of colours in the palette, the background not counted."""
        if isinstance(self.palette, tuple):
            return len(self.palette)
        return self.n_rectangles if self.n_colors is None else self.n_colors

    @property
    def random_palette(self) -> bool:
        """Whether each picture draws colours of its own."""
        return bool(self.palette == RANDOM)


def checked_palette(palette: Any, n_colors: int | None) -> Any:
    """The palette, a list as a tuple; `SynthprobeError` if it is none."""
    if palette != HUES and n_colors is not None:
        raise SynthprobeError(
            f"n_colors is {n_colors}: it is a number of hues, so leave it out beside another "
            "palette."
        )
    if palette in PALETTES:
        return palette
    if not isinstance(palette, list | tuple) or not 1 <= len(palette) <= MAX_RECTANGLES:
        raise SynthprobeError(
            f"palette is {palette!r}: it must be {' or '.join(PALETTES)}, or a list of 1 to "
            f"{MAX_RECTANGLES} colours."
        )
    colors: list[tuple[int, ...]] = []
    for color in palette:
        if (
            not isinstance(color, list | tuple)
            or len(color) != 3
            or any(isinstance(c, bool) or not isinstance(c, int) for c in color)
            or not all(0 <= c <= 255 for c in color)
        ):
            raise SynthprobeError(
                f"palette has {color!r}: a colour is three whole numbers from 0 to 255."
            )
        if tuple(color) in [(0, 0, 0), *colors]:
            raise SynthprobeError(
                f"palette has {tuple(color)} twice, or it is black, the background: every "
                "rectangle needs a colour of its own."
            )
        colors.append(tuple(color))
    return tuple(colors)


def check_palette_size(palette: Any, most: int) -> None:
    """Raise `SynthprobeError` if a list has fewer colours than there may be rectangles."""
    if isinstance(palette, tuple) and len(palette) < most:
        raise SynthprobeError(
            f"palette has {len(palette)} colours: each of {most} rectangles needs its own."
        )


def with_palette(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as plain JSON values, with the palette only where it is not that of hues."""
    if settings["palette"] == HUES:
        del settings["palette"]
    elif isinstance(settings["palette"], tuple):
        settings["palette"] = [list(color) for color in settings["palette"]]
    return settings


def check_least(least: int | None, most: int) -> None:
    """Raise `SynthprobeError` if ``min_rectangles`` leaves nothing to draw."""
    if least is not None and least >= most:
        raise SynthprobeError(
            f"min_rectangles is {least} but n_rectangles is {most}: give less, or none where every "
            "scene is to have the same number."
        )


def _share_of(share: float, size: int) -> int:
    # Through the shortest decimal, so that 0.1 means one tenth and not the nearest double.
    return max(1, math.ceil(Fraction(repr(float(share))) * size))


PAPER: Final = RdeConfig(mode="rules")
"""The published settings, by the published rules alone."""

CANONICAL: Final = RdeConfig()
"""The published settings, every sample certified: version 1 of our dataset."""

TRAIN: Final = 50_000
TEST: Final = 12_500
