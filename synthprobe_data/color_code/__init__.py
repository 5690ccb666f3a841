"""Color Code: give every position the code that its colour has where it is revealed.

`reference.py` says the rules in plain code, and has a solver; `ceiling` is how well any solver can
do.
"""

from __future__ import annotations

from importlib import resources

from synthprobe_data.color_code import preview, verify
from synthprobe_data.color_code.browse import ENTRIES
from synthprobe_data.color_code.card import CARD
from synthprobe_data.color_code.ceiling import ceiling
from synthprobe_data.color_code.columns import COLUMNS
from synthprobe_data.color_code.config import CANONICAL, PAPER, TEST, TRAIN, ColorCodeConfig
from synthprobe_data.color_code.different import check_sizes
from synthprobe_data.color_code.generate import DATASET, generate_block
from synthprobe_data.dataset import Dataset, Preview, RowChecks, Scale, SettingFlag

__all__ = ["CANONICAL", "COLOR_CODE", "PAPER", "ColorCodeConfig", "ceiling"]


def _sizes(_config: ColorCodeConfig) -> dict[str, int]:
    return {"train": TRAIN, "test": TEST}


def _normalisation(_config: ColorCodeConfig) -> dict[str, Scale]:
    """Networks see colours and bits from -1 to 1."""
    return {
        "color": {"offset": -127.5, "divisor": 127.5},
        "code": {"offset": -0.5, "divisor": 0.5},
    }


_EXAMPLES = """\
examples:
  synthprobe-gen color-code --out color-code.h5
      the paper's sizes and settings, every masked code decidable, on all cores
  synthprobe-gen color-code --out paper.h5 --paper
      as published: some colours are revealed nowhere
  synthprobe-gen color-code --out hard.h5 --positions 256 --colors 40 --bits 5 --min-distance 8
      longer samples with more colours
  synthprobe-gen color-code --out color-code --shards 8
      a folder of eight files, which Hugging Face datasets loads as it stands
"""

COLOR_CODE = Dataset(
    name=DATASET,
    title="Color Code",
    version="1.0.0",
    config=ColorCodeConfig,
    sizes=_sizes,
    check_sizes=check_sizes,
    columns=COLUMNS,
    generate_block=generate_block,
    row_checks=RowChecks(verify.row_checks, verify.check_block),
    normalisation=_normalisation,
    card=CARD,
    preview=Preview(preview.panels, preview.LEGEND, 1),
    browse=ENTRIES,
    strategies="synthprobe_data.color_code.strategies",
    flags=(
        SettingFlag(
            "--paper",
            "mode",
            "paper",
            "as published: a colour may be revealed nowhere, and colours may look alike",
        ),
    ),
    examples=_EXAMPLES,
    license="CC-BY-4.0",
    citation=resources.files(__package__).joinpath("citation.bib").read_text("utf-8"),
)
