"""Rectangle Depth Estimation: rank overlapping rectangles from T-junctions and convexity.

`RULES.md`, beside this file, says exactly what a scene is; `reference.py` says it again in plain
code.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from synthprobe_data.dataset import Dataset
from synthprobe_data.rde.config import CANONICAL, PAPER, TEST, TRAIN, RdeConfig
from synthprobe_data.rde.generate import DATASET, empty_block, generate_block
from synthprobe_data.rde.render import hue_palette
from synthprobe_data.rde.scene import Scene, first_refused, read_scene
from synthprobe_data.rde.solver import Reading, solve

__all__ = [
    "CANONICAL",
    "PAPER",
    "RDE",
    "RdeConfig",
    "Reading",
    "Scene",
    "first_refused",
    "read_scene",
    "solve",
]


def _attributes(config: RdeConfig) -> dict[str, Any]:
    """The palette, and how networks see ranks: (rank + offset) / divisor, in (0, 1]."""
    return {
        "palette": hue_palette(config.palette_size),
        "normalisation": json.dumps({"rank": {"offset": 1, "divisor": config.n_rectangles + 1}}),
    }


RDE = Dataset(
    name=DATASET,
    title="Rectangle Depth Estimation",
    version="1.0.0",
    config=RdeConfig,
    splits={"train": TRAIN, "test": TEST},
    empty_block=empty_block,
    generate_block=generate_block,
    attributes=_attributes,
    license="CC-BY-4.0",
    citation=resources.files(__package__).joinpath("citation.bib").read_text("utf-8"),
)
