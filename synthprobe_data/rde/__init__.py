"""Rectangle Depth Estimation: rank overlapping rectangles from T-junctions and convexity.

`RULES.md`, beside this file, says exactly what a scene is; `reference.py` says it again in plain
code.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from synthprobe_data.dataset import (
    Block,
    Computed,
    Dataset,
    PixelChecks,
    Preview,
    RowChecks,
    Sample,
    Scale,
    SettingFlag,
)
from synthprobe_data.rde import preview, verify
from synthprobe_data.rde.card import CARD
from synthprobe_data.rde.columns import COLUMNS, DIFFICULTY
from synthprobe_data.rde.config import CANONICAL, PAPER, TEST, TRAIN, RdeConfig
from synthprobe_data.rde.counts import COUNTS
from synthprobe_data.rde.expectation import check_expected
from synthprobe_data.rde.explain.entries import ENTRIES
from synthprobe_data.rde.generate import DATASET, generate_block
from synthprobe_data.rde.kernels.difficulty import Difficulty, difficulty_block
from synthprobe_data.rde.kernels.pairs import pair_distances
from synthprobe_data.rde.levels import LEVELS
from synthprobe_data.rde.palette import fixed_palette
from synthprobe_data.rde.readable import check_certifiable
from synthprobe_data.rde.scene import Scene, first_refused, read_difficulty, read_scene
from synthprobe_data.rde.solver import Reading, solve
from synthprobe_data.rde.suite import SUITE
from synthprobe_data.rde.verify_pixels import check_pixels_readable, read_pixels

if TYPE_CHECKING:
    from synthprobe_data.shards.collection import OpenDataset, Split

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
    palette = fixed_palette(config)
    return {} if palette is None else {"palette": palette}


def _normalisation(config: RdeConfig) -> dict[str, Scale]:
    """Networks see ranks in (0, 1]."""
    return {"rank": {"offset": 1, "divisor": config.n_rectangles + 1}}


def used_rectangles(facts: Sample) -> Sample:
    """The facts of a sample without places for rectangles that it has not."""
    n = int(facts["n_rectangles"])
    rows = {"rectangles", "color", "rectangle_rank", "pieces"} & facts.keys()
    used = {name: facts[name][:n] for name in rows}
    return {**facts, **used, "above": facts["above"][:n, :n]}


def _difficulty(block: Block, config: RdeConfig) -> Block:
    return difficulty_block(
        block["rectangles"], block["n_rectangles"], height=config.height, width=config.width
    )


def _scene(sample: Sample, config: RdeConfig) -> Scene:
    n = int(sample["n_rectangles"])
    return read_scene(sample["rectangles"][:n], height=config.height, width=config.width)


def _difficulty_of(sample: Sample, config: RdeConfig) -> Difficulty:
    return read_difficulty(_scene(sample, config))


def _figure(data: OpenDataset, split: Split, position: int, kind: str) -> bytes:
    from synthprobe_data.rde.explain.figure import draw_sample  # which needs the dataset

    return draw_sample(data, split, position, kind)


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
  synthprobe-gen rde --out varied.h5 --n-rectangles 3..10
      each sample draws how many rectangles it has
  synthprobe-gen rde --out colors.h5 --palette random
      each picture draws its own colours
  synthprobe-gen rde --out hard.h5 --level hard
      settings that belong together; those that are given beside them stay
  synthprobe-gen rde --out deep.h5 --min-depth 7
      only scenes with seven ranks or more
  synthprobe-gen rde --suite suite
      test splits of all kinds for one trained network: a folder with one card
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
    columns=COLUMNS,
    generate_block=generate_block,
    row_checks=RowChecks(
        verify.row_checks, verify.check_block, PixelChecks(check_pixels_readable, read_pixels)
    ),
    attributes=_attributes,
    normalisation=_normalisation,
    card=CARD,
    preview=Preview(preview.panels, preview.LEGEND, 2),
    trim=used_rectangles,
    computed=Computed(
        names=tuple(column.name for column in DIFFICULTY),
        needs=("rectangles", "n_rectangles"),
        compute=_difficulty,
    ),
    readings={"scene": _scene, "difficulty": _difficulty_of},
    explain=_figure,
    browse=ENTRIES,
    counts=COUNTS,
    strategies="synthprobe_data.rde.strategies",
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
            "also store how hard each sample is, as columns of their own",
        ),
        SettingFlag(
            "--require-order",
            "require_order",
            True,
            "draw a scene again until at least two ranks occur in it",
        ),
    ),
    levels=LEVELS,
    suite=SUITE,
    examples=_EXAMPLES,
    license="CC-BY-4.0",
    citation=resources.files(__package__).joinpath("citation.bib").read_text("utf-8"),
)
