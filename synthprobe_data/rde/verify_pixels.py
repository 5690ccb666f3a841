"""Checking the rows of a file from their pixels alone, by the solver."""

from __future__ import annotations

import numpy as np

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde.kernels.apart import drawn_apart
from synthprobe_data.rde.palette import fixed_palette
from synthprobe_data.rde.readable import Scenes
from synthprobe_data.rde.solver import Reading, check_distant, check_readable, solve


def check_pixels_readable(config: Scenes) -> None:
    """Raise `SynthprobeError` if pictures of this config cannot be read with certainty."""
    palette = fixed_palette(config)
    if palette is None:
        check_distant(drawn_apart(config.mode, config.blur), blur=config.blur)
    else:
        check_readable(palette, blur=config.blur)


def read_pixels(config: Scenes, block: Block) -> tuple[list[tuple[int, str]], dict[str, int]]:
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
    palette = fixed_palette(config)  # without one, the solver finds the colours itself
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
    config: Scenes, reading: Reading, other_ranks: bool, block: Block, row: int
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
