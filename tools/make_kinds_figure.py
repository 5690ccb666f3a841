"""Draw one certified sample of each kind of RDE side by side, into ``data_cards/rde_kinds.png``."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from synthprobe_data.pictures import side_by_side
from synthprobe_data.rde import RDE, RdeConfig

TIMES = 2
TEXT = 20
GAP = 8
GREYS = tuple((level, level, level) for level in range(255, 47, -40))
KINDS = {
    "canonical": RdeConfig(),
    "--n-rectangles 3..10": RdeConfig(min_rectangles=3),
    "--palette random": RdeConfig(palette="random"),
    "both": RdeConfig(palette="random", min_rectangles=3),
    "--level easy": RdeConfig(**RDE.levels["easy"].settings({})),
    "--level hard": RdeConfig(**RDE.levels["hard"].settings({})),
    "--min-depth 8": RdeConfig(min_depth=8),
    "--palette FILE (greys)": RdeConfig(palette=GREYS, n_rectangles=len(GREYS)),
}


def panel(title: str, config: RdeConfig, index: int) -> Image.Image:
    """A test sample: its title, its picture, its ranks."""
    block = RDE.generate_block(config, 0, "test", index, 1)
    rank = block["rank"][0].astype(np.uint16)
    grey = (rank * 255 // max(1, int(rank.max()))).astype(np.uint8)
    shown = [Image.fromarray(block["image"][0]), Image.fromarray(grey).convert("RGB")]
    height, width = TIMES * config.height, TIMES * config.width
    whole = Image.new("RGB", (width, TEXT + 2 * height + GAP), (255, 255, 255))
    draw = ImageDraw.Draw(whole)
    draw.text((width // 2, TEXT // 2), title, (0, 0, 0), ImageFont.load_default(14), anchor="mm")
    for place, picture in enumerate(shown):
        large = picture.resize((width, height), Image.Resampling.NEAREST)
        whole.paste(large, (0, TEXT + place * (height + GAP)))
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data_cards/rde_kinds.png"))
    given = parser.parse_args()
    panels = [panel(title, config, 3 * k) for k, (title, config) in enumerate(KINDS.items())]
    side_by_side(panels).save(given.out)


if __name__ == "__main__":
    main()
