"""Centered Square: paint a square around the one white pixel, wherever it is.

The network is trained with the pixel in the middle of the picture and tested with it elsewhere, so
that only one that is translation covariant succeeds. `reference.py` says the rules in plain code.
"""

from __future__ import annotations

from importlib import resources

from synthprobe_data.centered_square import preview, verify
from synthprobe_data.centered_square.browse import ENTRIES
from synthprobe_data.centered_square.card import CARD
from synthprobe_data.centered_square.centres import sizes
from synthprobe_data.centered_square.columns import COLUMNS
from synthprobe_data.centered_square.config import CANONICAL, CenteredSquareConfig
from synthprobe_data.centered_square.generate import (
    DATASET,
    WHITE,
    check_sizes,
    generate_block,
)
from synthprobe_data.dataset import Dataset, Preview, RowChecks, Scale

__all__ = ["CANONICAL", "CENTERED_SQUARE", "CenteredSquareConfig"]


def _normalisation(_config: CenteredSquareConfig) -> dict[str, Scale]:
    """Networks see 0 for black and 1 for white."""
    scale = {"offset": 0, "divisor": WHITE}
    return {"image": scale, "target": scale}


_EXAMPLES = """\
examples:
  synthprobe-gen centered-square --out centered-square.h5
      the paper's pictures: 484 to train with, 1,452 to test with
  synthprobe-gen centered-square --out small.h5 --height 24 --width 24 --square 9
      smaller pictures
  synthprobe-gen centered-square --out centered-square --shards 4
      a folder of four files, which Hugging Face datasets loads as it stands
"""

CENTERED_SQUARE = Dataset(
    name=DATASET,
    title="Centered Square",
    version="1.0.0",
    config=CenteredSquareConfig,
    sizes=sizes,
    drawn=False,
    check_sizes=check_sizes,
    columns=COLUMNS,
    generate_block=generate_block,
    row_checks=RowChecks(verify.row_checks, verify.check_block),
    normalisation=_normalisation,
    card=CARD,
    preview=Preview(preview.panels, preview.LEGEND, 3),
    browse=ENTRIES,
    strategies="synthprobe_data.centered_square.strategies",
    examples=_EXAMPLES,
    license="CC-BY-4.0",
    citation=resources.files(__package__).joinpath("citation.bib").read_text("utf-8"),
)
