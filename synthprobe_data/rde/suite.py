"""The suite of RDE: test splits that ask what a network that was trained once carries over."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from synthprobe_data.dataset import Member, Suite
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.kernels.difficulty import COLUMNS, are_scenes, difficulty_block
from synthprobe_data.rde.levels import at_level, shorter
from synthprobe_data.rde.neutrality import Neutrality
from synthprobe_data.tally import iter_blocks

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset

SAMPLES: Final = 2_000
_SIDE: Final = 8
"""Sides are multiples of this, for networks that halve pictures three times."""


def members(base: RdeConfig) -> dict[str, Member]:
    """The settings of each member; the first one has those of ``base``."""
    if base.random_palette or base.mode == "ambiguous":
        raise SynthprobeError(
            "a suite begins with the settings that a network was trained with, and has new colours "
            "and ambiguous scenes besides: leave --palette random and --ambiguous out."
        )
    more = (3 * base.n_rectangles + 1) // 2
    changed: dict[str, tuple[dict[str, Any], str]] = {
        "more-rectangles": (
            {"n_rectangles": more, "min_rectangles": None, "n_colors": None, **shorter(base)},
            f"{more} rectangles, in as many colours, with the short cues of the level hard",
        ),
        "smaller": (
            {**_sides(base, 3, 4), **_lengths(base, 4, 5)},
            "pictures of three quarters of the side, with cues of four fifths of the length",
        ),
        "larger": (_sides(base, 3, 2), "pictures of one and a half times the side"),
        "new-colors": (
            {"palette": "random", "n_colors": None},
            "the same scenes, each picture in colours of its own",
        ),
        "ambiguous": ({"mode": "ambiguous"}, "without the rules against ambiguity"),
    }
    return {
        "paper": Member(base, "the settings themselves"),
        "easy": Member(at_level("easy", base), "the level easy"),
        "hard": Member(at_level("hard", base), "the level hard"),
        **{
            name: Member(dataclasses.replace(base, **settings), meaning)
            for name, (settings, meaning) in changed.items()
        },
    }


def _sides(base: RdeConfig, numerator: int, denominator: int) -> dict[str, int]:
    """Height and width by a share, to the nearest multiple of `_SIDE`."""
    pitch = 2 * denominator * _SIDE
    return {
        name: (2 * numerator * getattr(base, name) + denominator * _SIDE) // pitch * _SIDE
        for name in ("height", "width")
    }


def _lengths(base: RdeConfig, numerator: int, denominator: int) -> dict[str, int]:
    return {
        name: (2 * numerator * getattr(base, name) + denominator) // (2 * denominator)
        for name in ("n_vis", "n_gap", "n_par")
    }


def figures(data: OpenDataset) -> dict[str, str]:
    """What scenes of a member are like, and what tells the order without a cue."""
    config: Any = data.config
    size = {"height": config.height, "width": config.width}
    neutrality = Neutrality(data, **size)
    found: dict[str, Counter[int]] = {name: Counter() for name in ("n_rectangles", *COLUMNS)}
    for split, block in iter_blocks(data, neutrality.columns):
        neutrality.add(split, block)
        scenes = are_scenes(block["rectangles"], block["n_rectangles"])
        numbers = block["n_rectangles"][scenes]
        difficulty = difficulty_block(block["rectangles"][scenes], numbers, **size)
        for name, counter in found.items():
            values = numbers if name == "n_rectangles" else difficulty[name]
            counter.update(np.asarray(values).ravel().tolist())
    told = neutrality.tally()
    (split,) = told.counts
    pairs = max(1, (told.totals or {})[split])
    return {
        "rectangles, mean": f"{_mean(found['n_rectangles']):.2f}",
        "depth, median": str(_median(found["depth"])),
        "pairs that only convexity orders, mean": f"{_mean(found['convexity_only']):.2f}",
        "how far a cue must reach, median": str(_median(found["cue_distance"])),
        "order told by size alone": f"{told.counts[split]['size'] / pairs:.1%}",
        "order told by all that is no cue": f"{told.counts[split]['all of these'] / pairs:.1%}",
    }


def _mean(counts: Counter[int]) -> float:
    return sum(value * times for value, times in counts.items()) / max(1, counts.total())


def _median(counts: Mapping[int, int]) -> int:
    values = sorted(Counter(counts).elements())
    return values[len(values) // 2] if values else 0


SUITE: Final = Suite(
    members=members,
    samples=SAMPLES,
    figures=figures,
    notes=(
        "Sample i of each member comes from the same random stream, so `new-colors` has the very "
        "scenes of `paper`, and what differs between the two is the colours alone.",
        "`easy` has fewer rectangles in the colours of `paper`; `more-rectangles` needs more "
        "colours than `paper` has, so some of them are new, too.",
        "Ranks of members with another number of rectangles are normalised by another number. "
        "Compare predictions by the order of pairs, or aligned, as `eval` and `score` do on a "
        "suite.",
        "In `ambiguous` the picture does not always tell the rank: nobody can be right "
        "everywhere there.",
    ),
)
