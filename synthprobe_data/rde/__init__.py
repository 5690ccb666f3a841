"""Rectangle Depth Estimation: rank overlapping rectangles from T-junctions and convexity.

`RULES.md`, beside this file, says exactly what a scene is; `reference.py` says it again in plain
code.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from synthprobe_data.dataset import Dataset, SettingFlag
from synthprobe_data.rde.config import CANONICAL, PAPER, TEST, TRAIN, RdeConfig
from synthprobe_data.rde.difficulty import Difficulty, read_difficulty
from synthprobe_data.rde.expectation import check_expected
from synthprobe_data.rde.generate import DATASET, empty_block, generate_block
from synthprobe_data.rde.pairs import pair_distances
from synthprobe_data.rde.readable import check_certifiable
from synthprobe_data.rde.render import hue_palette
from synthprobe_data.rde.scene import Scene, first_refused, read_scene
from synthprobe_data.rde.solver import Reading, solve

__all__ = [
    "CANONICAL",
    "PAPER",
    "RDE",
    "Difficulty",
    "RdeConfig",
    "Reading",
    "Scene",
    "first_refused",
    "pair_distances",
    "read_difficulty",
    "read_scene",
    "solve",
]


def _attributes(config: RdeConfig) -> dict[str, Any]:
    """The palette, and how networks see ranks: (rank + offset) / divisor, in (0, 1]."""
    return {
        "palette": hue_palette(config.palette_size),
        "normalisation": json.dumps({"rank": {"offset": 1, "divisor": config.n_rectangles + 1}}),
    }


def _sizes(_config: RdeConfig) -> dict[str, int]:
    return {"train": TRAIN, "test": TEST}


_EXAMPLES = """\
examples:
  synthprobe-gen rde --out rde.h5
      the paper's sizes and settings, every sample certified, on all cores
  synthprobe-gen rde --out small.h5 --train 1000 --test 100 --seed 7
      a small one, other samples
  synthprobe-gen rde --out easy.h5 --height 64 --width 64 --n-rectangles 4
      smaller pictures, fewer rectangles
  synthprobe-gen rde --out rde --shards 8
      a folder of eight files, which Hugging Face datasets loads as it stands
  synthprobe-gen rde --out paper.h5 --no-certify
      by the rules of the paper alone
"""

RDE = Dataset(
    name=DATASET,
    title="Rectangle Depth Estimation",
    version="1.0.0",
    config=RdeConfig,
    sizes=_sizes,
    check_new=check_certifiable,
    check_expected=check_expected,
    empty_block=empty_block,
    generate_block=generate_block,
    attributes=_attributes,
    flags=(
        SettingFlag(
            "--no-certify",
            "mode",
            "rules",
            "the rules of the paper alone, without the certificate",
        ),
        SettingFlag(
            "--ambiguous",
            "mode",
            "ambiguous",
            "without the rules against ambiguity, as for the paper's row Baseline*",
        ),
        SettingFlag(
            "--difficulty",
            "difficulty",
            True,
            "also store how hard each sample is, as datasets of their own",
        ),
        SettingFlag(
            "--require-order",
            "require_order",
            True,
            "draw a scene again until at least two ranks occur in it",
        ),
    ),
    examples=_EXAMPLES,
    license="CC-BY-4.0",
    citation=resources.files(__package__).joinpath("citation.bib").read_text("utf-8"),
)
