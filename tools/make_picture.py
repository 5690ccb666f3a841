"""Draw the picture of RDE samples in the README: above the input, below the ranks to find."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from synthprobe_data import iter_samples

GAP = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data_cards/rde-samples.png"))
    parser.add_argument("--samples", type=int, default=6)
    given = parser.parse_args()
    samples = list(iter_samples("rde", split="test", stop=given.samples))
    height, width = samples[0]["rank"].shape
    sheet = np.full((2 * height + 3 * GAP, given.samples * (width + GAP) + GAP, 3), 255, np.uint8)
    highest = max(sample["rank"].max() for sample in samples)
    for i, sample in enumerate(samples):
        left = GAP + i * (width + GAP)
        grey = sample["rank"].astype(np.uint16) * 255 // highest
        sheet[GAP : GAP + height, left : left + width] = sample["image"]
        sheet[2 * GAP + height : 2 * (GAP + height), left : left + width] = grey[..., None]
    Image.fromarray(sheet).save(given.out, optimize=True)


if __name__ == "__main__":
    main()
