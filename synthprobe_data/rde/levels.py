"""Named difficulties: settings that belong together, as shares of those of the paper.

What they come to at the paper's settings, and what scenes of each level are like, `RULES.md` says
under "Levels"; ``tools/measure_levels.py`` measures it. At other sizes or numbers of rectangles, a
level changes the settings by the same shares.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, Final

from synthprobe_data.dataset import Level
from synthprobe_data.rde.config import HUES, RdeConfig

_LENGTHS: Final = ("n_vis", "n_gap", "n_par")


def _share(value: float, numerator: int, denominator: int) -> int:
    """A share of a whole number, rounded to the nearest, half up."""
    return (2 * int(value) * numerator + denominator) // (2 * denominator)


def easy(base: RdeConfig) -> dict[str, Any]:
    """Few large rectangles with long cues, and an order in every scene."""
    most = max(2, base.n_rectangles // 2)
    least = max(2, base.n_rectangles * 3 // 10)
    return {
        "n_rectangles": most,
        "min_rectangles": least if least < most else None,
        **{name: _share(getattr(base, name), 8, 5) for name in _LENGTHS},
        "min_size": min(0.5, 2 * base.min_size),
        **same_colors(base),
        "min_depth": 2,
    }


def hard(base: RdeConfig) -> dict[str, Any]:
    """As many rectangles with short cues, in the deep scenes whose cues have far to go."""
    return {
        "min_rectangles": None,
        **shorter(base),
        "min_depth": _share(base.n_rectangles, 3, 5),
        "min_cue_distance": math.isqrt(base.height * base.width) * 7 // 25,
        "min_convexity_only": base.n_rectangles * 3 // 10,
    }


def shorter(base: RdeConfig) -> dict[str, Any]:
    """Shorter cues, which leave room for more rectangles."""
    return {name: _share(getattr(base, name), 3, 5) for name in _LENGTHS}


def same_colors(base: RdeConfig) -> dict[str, Any]:
    """The colours of the base, whatever the number of rectangles."""
    return {"n_colors": base.palette_size} if base.palette == HUES else {}


def _paper(_base: RdeConfig) -> dict[str, Any]:
    return {}


_CHANGES: Final = {"easy": easy, "paper": _paper, "hard": hard}


def at_level(name: str, base: RdeConfig) -> RdeConfig:
    """The settings of a level beside others."""
    return dataclasses.replace(base, **_CHANGES[name](base))


def scene_settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a scene at a level, all of them, where those that are given stay."""
    base = dataclasses.asdict(RdeConfig())
    # What a user demands is no share of anything, and may be more than the base allows.
    free = {n: v for n, v in given.items() if n in base and not n.startswith("min_")}
    sizes = {n: given[n] for n in ("min_size", "min_rectangles") if n in given}
    settings = at_level(name, RdeConfig(**{**free, **sizes, "require_order": False}))
    return {n: getattr(settings, n) for n in base}


def _level(name: str, meaning: str) -> Level:
    return Level(meaning, functools.partial(scene_settings, name))


LEVELS: Final = {
    "easy": _level("easy", "few large rectangles with long cues"),
    "paper": _level("paper", "the published settings"),
    "hard": _level("hard", "short cues, in deep scenes where they have far to go"),
}
