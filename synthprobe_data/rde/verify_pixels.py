"""Checking the rows of a file from their pixels alone, by the solver."""

from __future__ import annotations

import numpy as np

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.rde.render import hue_palette
from synthprobe_data.rde.solver import Reading, check_readable, solve


def check_pixels_readable(config: RdeConfig) -> None:
    """Raise `SynthprobeError` if pictures of this config cannot be read with certainty."""
    check_readable(hue_palette(config.palette_size), blur=config.blur)


def read_pixels(config: RdeConfig, block: Block) -> tuple[list[tuple[int, str]], dict[str, int]]:
    """Solve the pictures of a block and compare with what is stored about them.

    Returns
    -------
    failed
        Rows that fail, from 0, each with a sentence. Every picture must be solved and give the
        regions of the stored label map. In a certified file the reading must also be unambiguous
        and give the stored ranks.
    counts
        Readings that are not unambiguous, and readings with other ranks than the stored ones. Only
        the certificate rules them out, so in other files they are counted and do not fail.
    """
    palette = hue_palette(config.palette_size)
    failed: list[tuple[int, str]] = []
    counts = {"not unambiguous": 0, "other ranks": 0}
    for row in range(len(block["image"])):
        try:
            reading = solve(block["image"][row], palette, blur=config.blur)
        except SynthprobeError as error:
            failed.append((row, str(error)))
            continue
        other_ranks = bool(np.any(reading.rank != block["rank"][row]))
        counts["not unambiguous"] += not reading.unambiguous
        counts["other ranks"] += other_ranks
        sentence = _wrong(config, reading, other_ranks, block, row)
        if sentence:
            failed.append((row, sentence))
    return failed, counts


def _wrong(
    config: RdeConfig, reading: Reading, other_ranks: bool, block: Block, row: int
) -> str | None:
    if not reading.has_regions_of(block["label"][row]):
        return "its picture shows other regions than label has."
    if config.mode != "certified":
        return None
    if other_ranks:
        return "its picture tells other ranks than rank has."
    if not reading.unambiguous:
        return "its picture does not tell the order of all regions that touch."
    return None
