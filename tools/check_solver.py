"""Whether the solver reads the ground truth off the pixels: of how many pictures, and of which not.

Certified samples: the canonical ones, all of them, and fresh ones of other seeds, sizes and numbers
of rectangles, with the palette and without. A reading is right when its rank map is the stored one,
its label map the stored one under other numbers, its convexity the stored one, and every stored
T-junction among its own.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RDE, RdeConfig, Reading, solve
from synthprobe_data.rde.config import TEST, TRAIN
from synthprobe_data.rde.palette import fixed_palette
from synthprobe_data.rde.solver.order import CONVEXITY

BLOCK = 250
SHOWN = 10
FRESH = {
    "128 pixels, 10 rectangles": RdeConfig(),
    "64 pixels, 5 rectangles": RdeConfig(height=64, width=64, n_rectangles=5),
    "64 pixels, 10 rectangles": RdeConfig(height=64, width=64),
    "128 pixels, 5 rectangles": RdeConfig(n_rectangles=5),
    "128 pixels, 15 rectangles": RdeConfig(n_rectangles=15),
    "256 pixels, 10 rectangles": RdeConfig(height=256, width=256),
    "256 pixels, 15 rectangles": RdeConfig(height=256, width=256, n_rectangles=15),
    "64 by 256 pixels, 8 rectangles": RdeConfig(height=64, width=256, n_rectangles=8),
}
OWN_COLORS = RdeConfig(palette="random", min_rectangles=3)


def wrong_with(reading: Reading, sample: dict[str, Any]) -> str | None:
    """What of a reading is not as the sample has it."""
    n = int(sample["n_rectangles"])
    both = reading.label.ravel() * np.int64(256) + sample["label"].ravel()
    pairs = np.stack(np.divmod(np.flatnonzero(np.bincount(both)), 256))
    if pairs.shape != (2, n + 1) or (np.sort(pairs[1]) != np.arange(n + 1)).any() or pairs[1, 0]:
        return "label"
    if (reading.rank != sample["rank"]).any():
        return "rank"
    order = pairs[1, 1:] - 1
    stored = sample["above"][np.ix_(order, order)]
    if (stored & CONVEXITY != reading.above & CONVEXITY).any() or (stored & ~reading.above).any():
        return "above"
    return None if reading.unambiguous else "ambiguous"


def check_block(
    config: RdeConfig, seed: int, split: str, start: int, count: int, palette: bool
) -> Counter[str]:
    found: Counter[str] = Counter()
    block = RDE.generate_block(config, seed, split, start, count)
    colors = fixed_palette(config) if palette else None
    for row in range(count):
        sample = {name: column[row] for name, column in block.items()}
        try:
            wrong = wrong_with(solve(sample["image"], colors, blur=config.blur), sample)
        except SynthprobeError as error:
            wrong = f"refused: {error}"
        found[f"{split} {start + row} of seed {seed}: {wrong}" if wrong else "right"] += 1
    return found


def blocks(count: int) -> Iterator[tuple[int, int]]:
    return ((start, min(BLOCK, count - start)) for start in range(0, count, BLOCK))


def row(
    what: str, config: RdeConfig, seed: int, splits: dict[str, int], palette: bool, workers: int
) -> None:
    jobs = (
        delayed(check_block)(config, seed, split, start, length, palette)
        for split, count in splits.items()
        for start, length in blocks(count)
    )
    found = sum(Parallel(workers)(jobs), Counter[str]())
    right, total = found.pop("right", 0), sum(splits.values())
    print(f"| {what} | {'yes' if palette else 'no'} | {total} | {right} |", flush=True)
    for name in list(found)[:SHOWN]:
        print(f"  {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", type=int, default=10_000, help="fresh samples (10000)")
    parser.add_argument("--no-canonical", action="store_true", help="leave out the 62,500")
    parser.add_argument("--only-own-colors", action="store_true", help="only random colours")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    print("| certified samples | palette given | pictures | read right |\n|---|---|---|---|")
    splits = {"fresh": given.fresh}
    row("colours of its own, 3 to 10 rectangles", OWN_COLORS, 2_000, splits, False, given.workers)
    for palette in () if given.only_own_colors else (True, False):
        if not given.no_canonical:
            splits = {"train": TRAIN, "test": TEST}
            row("canonical", RdeConfig(), 0, splits, palette, given.workers)
        for number, (what, config) in enumerate(FRESH.items()):
            splits = {"fresh": given.fresh // len(FRESH)}
            row(what, config, 1_000 + number, splits, palette, given.workers)


if __name__ == "__main__":
    main()
