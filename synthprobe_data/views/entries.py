"""What the page to look through samples shows of each one, for every dataset.

An entry is what the script of the page wants of a sample, with short names because there are many:
``i`` is its index, ``png`` its picture, ``f`` the figures to filter and sort by. Samples of RDE
have their rectangles and cues beside these, others have pictures with a caption each.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.centered_square.centres import central_half, fitting
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.export import png
from synthprobe_data.shards.opened import OpenDataset, Sample, Split
from synthprobe_data.shards.row_checks import ROW_CHECKS
from synthprobe_data.views.explanation import explain

_MASKED: Final = 128
"""The grey of a bit that the input does not show."""


@dataclass(frozen=True, kw_only=True)
class Entries:
    """How the samples of a dataset stand in the page."""

    figures: dict[str, str]
    """What the samples can be filtered and sorted by, in this order, each in words."""
    entry: Callable[[OpenDataset, Split, int], dict[str, Any]]
    """``entry(data, split, position)``: a sample as the script wants it."""
    size: Callable[[dict[str, Any]], tuple[int, int]]
    """``size(settings)``: height and width of ``png``."""
    panels: tuple[str, ...] = ()
    """The captions of an entry's ``panels``; without any, it is a scene with its rectangles."""
    hint: str
    """What there is to see of a sample."""


def _base64(picture: NDArray[np.uint8]) -> str:
    return base64.b64encode(png(picture)).decode()


def _height_and_width(settings: dict[str, Any]) -> tuple[int, int]:
    return settings["height"], settings["width"]


# ------------------------------------------------------------------------------------------- RDE

_SCENE_FIGURES: Final = {
    "depth": "depth of the order",
    "occluded_pairs": "occluded pairs",
    "convexity_only": "pairs ordered by convexity only",
    "pieces": "visible pieces",
    "cue_distance": "longest way to a cue, in pixels",
}


def _scene(data: OpenDataset, split: Split, position: int) -> dict[str, Any]:
    shown = explain(data, split, position)
    difficulty = shown.difficulty
    figures = {
        "depth": difficulty.depth,
        "occluded_pairs": shown.occluded_pairs,
        "convexity_only": difficulty.convexity_only,
        "pieces": int(difficulty.pieces.sum()),
        "cue_distance": difficulty.cue_distance,
    }
    return {
        "i": shown.index,
        "png": _base64(shown.image),
        "f": [figures[name] for name in _SCENE_FIGURES],
        "rects": shown.rectangles.tolist(),
        "rgb": ["#" + bytes(color).hex() for color in shown.colors],
        "rank": shown.rectangle_rank.tolist(),
        "pieces": difficulty.pieces.tolist(),
        "at": [shown.centres.get(k) for k in range(len(shown.rectangles))],
        "t": [list(t) for t in shown.t_junctions],
        "hidden": [list(segment) for segment in shown.hidden_sides],
        "meet": [[a, b, *box] for (a, b), box in shown.overlaps.items()],
        "x": [round(x, 2) for x, _ in shown.drawing.places],
        # Who, whom, by which cue, and where it passes each layer between the two.
        "above": [
            [arrow.upper, arrow.lower, arrow.cue, *(round(x, 2) for x, _ in arrow.places[1:-1])]
            for arrow in shown.drawing.arrows
        ],
        "wide": round(shown.drawing.width, 2),
    }


# ------------------------------------------------------------------------------- Centered Square


def _square(data: OpenDataset, split: Split, position: int) -> dict[str, Any]:
    sample, index = _checked(data, split, position)
    settings = data.config.to_dict()
    center = [int(place) for place in sample["center"]]
    away = 0
    for place, size in zip(center, _height_and_width(settings), strict=True):
        trained = central_half(fitting(size, settings["square"]))
        if trained:  # a single centre along an axis has no central half
            away = max(away, trained.start - place, place - (trained.stop - 1))
    picture = _base64(sample["image"])
    return {
        "i": index,
        "png": picture,
        "f": [*center, away],
        "panels": [picture, _base64(sample["target"])],
    }


# ------------------------------------------------------------------------------------ Color Code


def _codes(data: OpenDataset, split: Split, position: int) -> dict[str, Any]:
    sample, index = _checked(data, split, position)
    color, bits = sample["color"], (sample["code"].T * 255).astype(np.uint8)
    revealed, group = sample["revealed"] > 0, sample["group"]
    shown = np.where(revealed[None], bits, np.uint8(_MASKED))
    colors: list[tuple[str, str, int, int]] = []
    for one in np.unique(group).tolist():
        here = group == one
        first = int(np.argmax(here))
        colors.append(
            (
                "#" + bytes(color[first]).hex(),
                "".join(map(str, sample["code"][first].tolist())),
                int((here & revealed).sum()),
                int((here & ~revealed).sum()),
            )
        )
    return {
        "i": index,
        "png": _base64(_stacked(color, shown)),
        "f": [
            len(colors),
            int((~revealed).sum()),
            sum(masked for _, _, seen, masked in colors if not seen),
            _least_difference([bytes.fromhex(name[1:]) for name, *_ in colors]),
        ],
        "panels": [_base64(color[None]), _base64(shown), _base64(bits)],
        "colors": colors,
    }


def _stacked(color: NDArray[np.uint8], shown: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The colours above the codes that are shown, both as high: a column for each position."""
    bits = len(shown)
    codes = np.repeat(shown[..., None], 3, axis=-1)
    return np.concatenate([np.repeat(color[None], bits, axis=0), codes])


def _least_difference(colors: list[bytes]) -> int:
    """How much the two nearest colours differ in red, green or blue; 255 if there is only one."""
    pairs = combinations(colors, 2)
    return min((max(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs), default=255)


def _checked(data: OpenDataset, split: Split, position: int) -> tuple[Sample, int]:
    """A sample that keeps the rules of its dataset, and its index; or `SynthprobeError`."""
    sample, index = split[position], split.index_of(position)
    checks = ROW_CHECKS[data.dataset.name]
    block = {column: np.asarray(value)[None] for column, value in sample.items()}
    mask = int(checks.check_block(data.config, block, [(split.name, index)])[0])
    names = checks.names(data.config)
    failed = [check for bit, check in enumerate(names) if mask >> bit & 1]
    if failed:
        raise SynthprobeError(
            f"{split.name} {index} does not agree with itself ({', '.join(failed)}), so it is not "
            "shown: synthprobe-shards verify says more."
        )
    return sample, index


ENTRIES: Final = {
    "rde": Entries(
        figures=_SCENE_FIGURES,
        entry=_scene,
        size=_height_and_width,
        hint="what tells its ranks",
    ),
    "centered-square": Entries(
        figures={
            "row": "row of the pixel",
            "column": "column of the pixel",
            "away": "pixels from the region of training",
        },
        entry=_square,
        size=_height_and_width,
        panels=("Picture, as stored", "The square to paint"),
        hint="the square to paint",
    ),
    "color-code": Entries(
        figures={
            "colors": "colours that occur",
            "masked": "masked positions",
            "nowhere": "masked codes that are shown nowhere",
            "nearest": "difference of the two nearest colours",
        },
        entry=_codes,
        size=lambda settings: (2 * settings["bits"], settings["positions"]),
        panels=(
            "The colour of each position",
            "Its code where the input shows it: a bit is white for 1, black for 0; grey is masked",
            "All codes: those at grey places are to be found",
        ),
        hint="its codes",
    ),
}
"""By the name of the dataset."""
