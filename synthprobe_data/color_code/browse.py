"""What the page of ``browse`` shows of a sample: its colours, the codes shown and all codes."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.color_code.config import ColorCodeConfig
from synthprobe_data.dataset import BrowseEntries, Sample
from synthprobe_data.pictures import base64_png

_MASKED: Final = 128
"""The grey of a bit that the input does not show."""


def _entry(sample: Sample, _config: ColorCodeConfig) -> dict[str, Any]:
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
        "png": base64_png(_stacked(color, shown)),
        "f": [
            len(colors),
            int((~revealed).sum()),
            sum(masked for _, _, seen, masked in colors if not seen),
            _least_difference([bytes.fromhex(name[1:]) for name, *_ in colors]),
        ],
        "panels": [base64_png(color[None]), base64_png(shown), base64_png(bits)],
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


def _size(config: ColorCodeConfig) -> tuple[int, int]:
    return 2 * config.bits, config.positions


ENTRIES: Final = BrowseEntries(
    figures={
        "colors": "colours that occur",
        "masked": "masked positions",
        "nowhere": "masked codes that are shown nowhere",
        "nearest": "difference of the two nearest colours",
    },
    entry=_entry,
    size=_size,
    layout="strips",
    captions=(
        "The colour of each position",
        "Its code where the input shows it: a bit is white for 1, black for 0; grey is masked",
        "All codes: those at grey places are to be found",
    ),
    headings=("colour", "code", "shown", "masked"),
    hint="its codes",
)
