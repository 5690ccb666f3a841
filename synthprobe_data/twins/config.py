"""The settings of the twins dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from synthprobe_data.config import Config, option, words
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.color_file import read_colors
from synthprobe_data.rde.config import (
    HUES,
    MAX_PAIRS,
    MAX_RECTANGLES,
    MAX_SIZE,
    MIN_SIZE,
    PALETTES,
    RdeConfig,
    check_least,
    check_palette_size,
    checked_palette,
    with_palette,
)
from synthprobe_data.rde.demands import without_demands

TWINS_OF_A_PAIR: Final = 2


@dataclass(frozen=True, kw_only=True)
class TwinsConfig(Config):
    """What a pair of twins is made of.

    Parameters
    ----------
    height, width
        Size of one band in pixels; a picture of one band has just this size.
    n_rectangles, n_vis, n_gap, n_par, min_size, trials, mode
        Of the scene in each band, as in `synthprobe_data.RdeConfig`.
    blur
        Standard deviation of the Gaussian blur, in pixels; 0 for none.
    n_colors
        Colours in the palette; ``None`` for as many as rectangles in all bands.
    bands
        Scenes that are stacked in one picture, each with rectangles and colours of its own.
    band_gap
        Rows of background between two bands.
    min_distance
        In each band, some counted pixel has at least this information distance.
    difficulty
        Whether the file also has the datasets that say how hard each sample is.
    min_rectangles
        If given, each band first draws how many rectangles to place, uniformly from this number to
        `n_rectangles`.
    palette
        As in `synthprobe_data.RdeConfig`; both twins have the same colours.
    min_depth, min_cue_distance, min_convexity_only, require_order
        As in `synthprobe_data.RdeConfig`, of each band, and in both twins.
    """

    height: int = option(8, MIN_SIZE, MAX_SIZE, "height of a band in pixels")
    width: int = option(64, MIN_SIZE, MAX_SIZE, "width of the picture in pixels")
    n_rectangles: int = option(2, 2, MAX_RECTANGLES, "rectangles in a band")
    n_vis: int = option(
        2, 0, MAX_SIZE, "in some row and in some column, a rectangle shows more pixels than this"
    )
    n_gap: int = option(
        2, 0, MAX_SIZE, "in a row or column where it shows, a rectangle shows more pixels than this"
    )
    n_par: int = option(2, 0, MAX_SIZE, "least distance of parallel sides in pixels")
    min_size: float = option(0.3, 0.0, 0.5, "least side of a rectangle, as a share of the band")
    trials: int = option(
        1000, 1, 1_000_000, "places that are tried in vain before a scene stays as it is"
    )
    blur: float = option(0.7, 0.0, 4.0, "standard deviation of the blur in pixels, 0 for none")
    n_colors: int | None = option(
        None, 2, MAX_RECTANGLES, "colours in the palette, one for each rectangle unless given"
    )
    bands: int = option(1, 1, MAX_RECTANGLES // 2, "scenes that are stacked in one picture")
    band_gap: int = option(8, 2, MAX_SIZE, "rows of background between two bands")
    min_distance: int = option(
        24, 1, MAX_SIZE, "some counted pixel of each band is at least this far from the cue"
    )
    mode: str = "certified"
    difficulty: bool = False
    min_rectangles: int | None = option(
        None,
        2,
        MAX_RECTANGLES,
        "least number of rectangles, where each band draws its own",
        least_of="n_rectangles",
    )
    palette: str | tuple[tuple[int, int, int], ...] = words(
        HUES, PALETTES, read_colors, "the colours of the rectangles"
    )
    min_depth: int = option(
        0, 0, MAX_RECTANGLES, "draw again until the highest rank of a band is at least this"
    )
    min_cue_distance: int = option(
        0, 0, MAX_SIZE, "draw again until a cue must reach at least so many pixels in each band"
    )
    min_convexity_only: int = option(
        0, 0, MAX_PAIRS, "draw again until only convexity orders at least so many pairs of a band"
    )
    require_order: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "palette", checked_palette(self.palette, self.n_colors))
        super().__post_init__()

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values; later ones only where they are set."""
        settings = super().to_dict()
        if not self.require_order:
            del settings["require_order"]
        if self.min_rectangles is None:
            del settings["min_rectangles"]
        return without_demands(with_palette(settings))

    def validate(self) -> None:
        """Raise `SynthprobeError` for the first setting that is wrong, alone or beside others."""
        super().validate()
        check_least(self.min_rectangles, self.n_rectangles)
        if self.most_rectangles > MAX_RECTANGLES:
            raise SynthprobeError(
                f"bands is {self.bands} and n_rectangles is {self.n_rectangles}: a picture has at "
                f"most {MAX_RECTANGLES} rectangles, not {self.most_rectangles}."
            )
        check_palette_size(self.palette, self.most_rectangles)
        if self.palette_size < self.most_rectangles:
            raise SynthprobeError(
                f"n_colors is {self.n_colors}: each of the {self.most_rectangles} rectangles in a "
                f"picture needs its own, so give n_colors at least {self.most_rectangles}."
            )
        if self.bands > 1 and self.band_gap < self.least_band_gap:
            raise SynthprobeError(
                f"band_gap is {self.band_gap}: with n_par = {self.n_par} and blur = {self.blur} "
                f"bands would touch each other, so give at least {self.least_band_gap}."
            )
        if self.picture_height > MAX_SIZE:
            raise SynthprobeError(
                f"{self.bands} bands of height {self.height} make a picture of "
                f"{self.picture_height} rows: it may have at most {MAX_SIZE}."
            )
        if self.min_distance >= max(self.height, self.width):
            raise SynthprobeError(
                f"min_distance is {self.min_distance}: it must be less than the longer side of a "
                f"band, which is {max(self.height, self.width)}."
            )
        _ = self.band  # says what else is wrong with the scenes

    @property
    def band(self) -> RdeConfig:
        """The scene of one band, as a scene of RDE."""
        return RdeConfig(
            height=self.height,
            width=self.width,
            n_rectangles=self.n_rectangles,
            n_vis=self.n_vis,
            n_gap=self.n_gap,
            n_par=self.n_par,
            min_size=self.min_size,
            trials=self.trials,
            blur=self.blur,
            mode=self.mode,
            difficulty=self.difficulty,
            min_rectangles=self.min_rectangles,
            palette=self.palette,
            min_depth=self.min_depth,
            min_cue_distance=self.min_cue_distance,
            min_convexity_only=self.min_convexity_only,
            require_order=self.require_order,
        )

    @property
    def picture_height(self) -> int:
        """Height of the whole picture: the bands and the gaps between them."""
        return self.bands * self.height + (self.bands - 1) * self.band_gap

    @property
    def most_rectangles(self) -> int:
        """Places for rectangles in a picture."""
        return self.bands * self.n_rectangles

    @property
    def palette_size(self) -> int:
        """Number of colours in the palette, the background not counted."""
        if isinstance(self.palette, tuple):
            return len(self.palette)
        return self.most_rectangles if self.n_colors is None else self.n_colors

    @property
    def random_palette(self) -> bool:
        """Whether each pair draws colours of its own."""
        return self.band.random_palette

    @property
    def least_band_gap(self) -> int:
        """Rows after which no rule, cue or blur reaches from one band to the next."""
        return max(2, self.n_par, 2 * int(4 * self.blur + 0.5))

    def band_top(self, band: int) -> int:
        """The first row of a band, counted from 0."""
        return band * (self.height + self.band_gap)


def check_sizes(_config: TwinsConfig, splits: Mapping[str, int]) -> None:
    """Raise `SynthprobeError` if a split would end with one of two twins."""
    for split, size in splits.items():
        if size % TWINS_OF_A_PAIR:
            raise SynthprobeError(
                f"{split} is {size}: samples come in pairs of twins, so give an even number."
            )


CANONICAL: Final = TwinsConfig()
"""Version 1 of our dataset."""

TRAIN: Final = 40_000
VALIDATION: Final = 4_000
TEST: Final = 4_000
"""Samples, two for each pair."""
