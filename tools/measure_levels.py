"""What scenes of each level of RDE are like: the table in ``RULES.md``, which a test compares."""

from __future__ import annotations

import argparse

import numpy as np

from synthprobe_data.rde import RDE, RdeConfig
from synthprobe_data.rde.generate import EASY, KEPT, generate_with_tally
from synthprobe_data.rde.kernels.difficulty import difficulty_block

SAMPLES = 200
SPLIT = "test"


def table() -> list[str]:
    """The lines of the table: the first test samples of seed 0."""
    lines = [
        "| level | depth | only by convexity | cue distance | scenes accepted |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, level in RDE.levels.items():
        config = RdeConfig(**level.settings({}))
        block, tally = generate_with_tally(config, 0, SPLIT, 0, SAMPLES)
        found = difficulty_block(
            block["rectangles"], block["n_rectangles"], height=config.height, width=config.width
        )
        cells = []
        for figure in ("depth", "convexity_only", "cue_distance"):
            low, middle, high = np.percentile(found[figure], (5, 50, 95), method="lower")
            cells.append(f"{middle} ({low} to {high})")
        share = tally[KEPT] / (tally[KEPT] + tally[EASY])
        lines.append(f"| `{name}` | {' | '.join(cells)} | {share:.1%} |")
    return lines


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    print("\n".join(table()))


if __name__ == "__main__":
    main()
