"""Twins: pairs of scenes that differ in nothing but which of two rectangles is in front.

How far a network reaches is the distance up to which it tells the two apart. `RULES.md`, beside
this file, has the definition and the proof; `reference.py` says it again in plain code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from importlib import resources
from typing import Any, Final

from synthprobe_data.dataset import (
    Block,
    Dataset,
    Level,
    PixelChecks,
    Preview,
    RowChecks,
    Sample,
    Scale,
    SettingFlag,
)
from synthprobe_data.rde import (
    RDE,
    Difficulty,
    Scene,
    read_difficulty,
    read_scene,
    used_rectangles,
)
from synthprobe_data.rde.explain.entries import ENTRIES as RDE_ENTRIES
from synthprobe_data.rde.kernels.difficulty import difficulty_block
from synthprobe_data.rde.palette import fixed_palette
from synthprobe_data.rde.readable import check_certifiable
from synthprobe_data.rde.verify_pixels import check_pixels_readable, read_pixels
from synthprobe_data.twins import preview, verify
from synthprobe_data.twins.card import CARD
from synthprobe_data.twins.columns import COLUMNS
from synthprobe_data.twins.config import (
    CANONICAL,
    TEST,
    TRAIN,
    TWINS_OF_A_PAIR,
    VALIDATION,
    TwinsConfig,
    check_sizes,
)
from synthprobe_data.twins.generate import DATASET, generate_block

__all__ = ["CANONICAL", "TWINS", "TwinsConfig"]


def _attributes(config: TwinsConfig) -> dict[str, Any]:
    palette = fixed_palette(config)
    return {} if palette is None else {"palette": palette}


def _normalisation(config: TwinsConfig) -> dict[str, Scale]:
    """Networks see ranks in (0, 1]."""
    return {"rank": {"offset": 1, "divisor": config.n_rectangles + 1}}


def _scene(sample: Sample, config: TwinsConfig) -> Scene:
    n = int(sample["n_rectangles"])
    return read_scene(sample["rectangles"][:n], height=config.picture_height, width=config.width)


def _picture_size(config: TwinsConfig) -> tuple[int, int]:
    return config.picture_height, config.width


def _difficulty_of(sample: Sample, config: TwinsConfig) -> Difficulty:
    return read_difficulty(_scene(sample, config))


def _difficulty(block: Block, config: TwinsConfig) -> Block:
    return difficulty_block(
        block["rectangles"],
        block["n_rectangles"],
        height=config.picture_height,
        width=config.width,
    )


def _sizes(_config: TwinsConfig) -> dict[str, int]:
    return {"train": TRAIN, "validation": VALIDATION, "test": TEST}


def _at_level(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a scene of RDE at this level, for a band of twins."""
    settings = RDE.levels[name].settings(given)
    # Twins have as many colours as all bands need.
    return {n: settings[n] for n in settings if n in _SCENE_SETTINGS and n != "n_colors"}


_SCENE_SETTINGS: Final = {field.name for field in fields(TwinsConfig)}

_EXAMPLES = """\
samples come in pairs: 2 i and 2 i + 1 are twins, so 40000 samples are 20000 pairs

examples:
  synthprobe-gen twins --out twins.h5
      strips of 8 x 64 with two rectangles, certified, on all cores
  synthprobe-gen twins --out long.h5 --width 128 --train 0 --validation 0
      longer strips, to test on
  synthprobe-gen twins --out bands.h5 --bands 4
      four strips in one picture: one summary of it no longer suffices
  synthprobe-gen twins --out scenes.h5 --level paper --train 0 --validation 0
      scenes of RDE with their twins, to test networks that were trained on RDE
"""

TWINS = Dataset(
    name=DATASET,
    title="Twins",
    version="1.0.0",
    config=TwinsConfig,
    sizes=_sizes,
    check_sizes=check_sizes,
    check_new=check_certifiable,
    together=TWINS_OF_A_PAIR,
    distinct=False,
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
    computed=replace(RDE.computed, compute=_difficulty) if RDE.computed else None,
    readings={"scene": _scene, "difficulty": _difficulty_of},
    explain=RDE.explain,
    browse=replace(
        RDE_ENTRIES,
        size=_picture_size,
        ignored_checks=RDE_ENTRIES.ignored_checks | {"bands", "exchange", "min_distance"},
    ),
    strategies="synthprobe_data.twins.strategies",
    flags=(
        SettingFlag(
            "--no-certify",
            "mode",
            "rules",
            "the rules of placement alone, without the certificate",
        ),
        SettingFlag(
            "--ambiguous",
            "mode",
            "ambiguous",
            "without the rules against ambiguity",
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
            "two ranks in every scene, which twins always have",
        ),
    ),
    levels={
        name: Level(f"scenes of RDE: {level.meaning}", partial(_at_level, name))
        for name, level in RDE.levels.items()
    },
    examples=_EXAMPLES,
    license="CC-BY-4.0",
    citation=resources.files(__package__).joinpath("citation.bib").read_text("utf-8"),
)
