"""What a user may demand of every scene: how hard it is at least.

A scene that falls short is drawn again, like one that fails the certificate. What the three figures
mean, `RULES.md` says under "Difficulty".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError

DEMANDS: Final[Mapping[str, str]] = {
    "min_depth": "depth",
    "min_convexity_only": "convexity_only",
    "min_cue_distance": "cue_distance",
}
"""By the name of a setting: the figure that must be at least so large."""


class Demanding(Protocol):
    """Settings that may demand something: those of RDE, or of twins."""

    @property
    def min_depth(self) -> int:
        """Least highest rank."""

    @property
    def min_convexity_only(self) -> int:
        """Least number of pairs that only convexity orders."""

    @property
    def min_cue_distance(self) -> int:
        """Least cue distance."""


_Settings = TypeVar("_Settings", bound=Any)


def demanded(config: Demanding) -> dict[str, int]:
    """What is demanded, by the names of the settings."""
    values = {name: int(getattr(config, name)) for name in DEMANDS}
    return {name: value for name, value in values.items() if value}


def demand_words(config: Demanding) -> str:
    """What is demanded, for a sentence."""
    words = [f"{name} = {value}" for name, value in demanded(config).items()]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def demand_nothing(config: _Settings) -> _Settings:
    """The same settings, for scenes of any difficulty."""
    return dataclasses.replace(config, min_depth=0, min_convexity_only=0, min_cue_distance=0)


def without_demands(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as plain JSON values, with demands only where there are some."""
    return {name: v for name, v in settings.items() if name not in DEMANDS or v}


def meet_demands(
    config: Demanding, difficulty: Mapping[str, NDArray[np.integer]]
) -> NDArray[np.bool_]:
    """Which scenes meet the demands, by the arrays of their difficulty."""
    met = np.ones(len(difficulty["depth"]), np.bool_)
    for name, least in demanded(config).items():
        met &= difficulty[DEMANDS[name]] >= least
    return met


def check_demands(config: Demanding, *, least: int, height: int, width: int) -> None:
    """Raise `SynthprobeError` for a demand that no scene can meet, whatever is drawn.

    Parameters
    ----------
    config
        What is demanded.
    least
        The least number of rectangles that a sample may ask for.
    height, width
        Size of the scene.
    """
    pairs = least * (least - 1) // 2
    if config.min_depth > least:
        raise SynthprobeError(
            f"min_depth is {config.min_depth}: a scene of {least} rectangles, which is the least "
            f"that is asked for, has no more ranks than that; give at most {least}."
        )
    if config.min_convexity_only > pairs:
        raise SynthprobeError(
            f"min_convexity_only is {config.min_convexity_only}: a scene of {least} rectangles, "
            f"which is the least that is asked for, has {pairs} pairs; give at most {pairs}."
        )
    if config.min_cue_distance >= max(height, width):
        raise SynthprobeError(
            f"min_cue_distance is {config.min_cue_distance}: in a picture of {height} by {width} "
            f"no cue is farther than {max(height, width) - 1} pixels."
        )
