"""How often the upper one of two rectangles that a cue orders is the smaller one."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from synthprobe_data import RdeConfig, iter_samples


@dataclass(frozen=True)
class SizePrior:
    """Counts over the ordered pairs of some samples."""

    pairs: int
    smaller: int
    """Pairs whose upper rectangle has the smaller area."""


def measure(samples: int, config: RdeConfig, split: str = "test", seed: int = 0) -> SizePrior:
    """Count over the first samples of a split."""
    pairs = smaller = 0
    for sample in iter_samples("rde", split=split, seed=seed, config=config, stop=samples):
        x0, y0, x1, y1 = sample["rectangles"].astype(np.int64).T
        area = (x1 - x0) * (y1 - y0)
        upper, lower = np.nonzero(sample["above"])
        pairs += len(upper)
        smaller += int((area[upper] < area[lower]).sum())
    return SizePrior(pairs, smaller)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=3_000, metavar="N", help="how many (3000)")
    given = parser.parse_args()
    for mode in ("certified", "rules"):
        found = measure(given.samples, RdeConfig(mode=mode))
        share = found.smaller / found.pairs
        print(f"{mode}: {found.pairs:,} ordered pairs, the upper one is smaller in {share:.1%}")


if __name__ == "__main__":
    main()
