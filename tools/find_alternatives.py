"""How many pictures have two readings, proved by a second scene for each; and what the solver says.

Without the certificate, a picture may have two scenes that the rules allow. The second one is
searched for, rendered and compared with the picture to the byte, so the counts are lower bounds.
Three of them are drawn: the picture, and both scenes with their sides dashed and their ranks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from PIL import Image, ImageDraw, ImageFont

from synthprobe_data.rde import RDE, RdeConfig, Scene, read_scene, solve
from synthprobe_data.rde.alternatives import second_scene
from synthprobe_data.rde.geometry import visible_centres
from synthprobe_data.rde.reference import render

BLOCK = 100
TIMES, GAP, TEXT = 2, 10, 13
SHOWN = {"ambiguous": 2, "rules": 1}


def colors_of_second(first: Scene, second: Scene, colors: Any) -> list[int]:
    """The colours of the second scene's rectangles, in its order."""
    first_pixels = [np.argmax(second.label == k + 1) for k in range(len(second.rectangles))]
    return [int(colors[first.label.flat[pixel] - 1]) for pixel in first_pixels]


def examine(config: RdeConfig, sample: dict[str, Any], found: Counter[str]) -> Scene | None:
    """Count what is found about one sample; return the second scene, if there is one."""
    palette = RDE.attributes(config)["palette"]
    reading = solve(sample["image"], palette, blur=config.blur)
    misread = bool((reading.rank != sample["rank"]).any())
    found["reading not unambiguous"] += not reading.unambiguous
    found["reading contradictory"] += reading.contradictory
    found["reading with other ranks than the sample"] += misread
    found["unambiguous reading with other ranks than the sample"] += misread and reading.unambiguous
    rectangles = sample["rectangles"][: sample["n_rectangles"]]
    first = read_scene(rectangles, height=config.height, width=config.width)
    for other_ranks in (True, False):
        second = second_scene(config, rectangles, other_ranks=other_ranks)
        if second is not None:
            colors = colors_of_second(first, second, sample["color"])
            if (render(second.label, colors, palette, config.blur) != sample["image"]).any():
                raise AssertionError("the second scene does not have the pixels of the first.")
            found[f"second scene, {'other ranks' if other_ranks else 'the same ranks'}"] += 1
            return second
    return None


def examine_block(
    config: RdeConfig, seed: int, start: int, count: int, shown: int
) -> tuple[Counter[str], list[Image.Image]]:
    found = Counter[str]()
    strips: list[Image.Image] = []
    block = RDE.generate_block(config, seed, "train", start, count)
    for row in range(count):
        sample = {name: column[row] for name, column in block.items()}
        second = examine(config, sample, found)
        if second is not None and len(strips) < shown:
            strips.append(strip(config, sample, second, f"{config.mode}, train {start + row}"))
    return found, strips


def drawing(scene: Scene, first: Scene, colors: Any) -> Image.Image:
    """The scene, pale, with dashed sides where they are hidden, and the ranks."""
    pale = np.full((len(colors) + 1, 3), 255, np.uint8)
    pale[1:] = 255 - (255 - colors.astype(np.uint16)) * 2 // 5
    image = Image.fromarray(pale[scene.label].repeat(TIMES, 0).repeat(TIMES, 1))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(TEXT)
    for (x0, y0, x1, y1), color in zip(scene.rectangles.tolist(), colors.tolist(), strict=True):
        ink = tuple(value // 2 for value in color)
        right, bottom = x1 * TIMES - 1, y1 * TIMES - 1
        for x in range(x0 * TIMES, right, 6):
            for y in (y0 * TIMES, bottom):
                draw.line((x, y, min(x + 2, right), y), ink)
        for y in range(y0 * TIMES, bottom, 6):
            for x in (x0 * TIMES, right):
                draw.line((x, y, x, min(y + 2, bottom)), ink)
    for k, (across, down) in visible_centres(scene.label).items():
        at = np.argwhere(scene.label == k + 1)[0]
        same = scene.rank[tuple(at)] == first.rank[tuple(at)]
        text, ink = str(int(scene.rectangle_rank[k])), (0, 0, 0) if same else (200, 0, 0)
        draw.text(
            (across * TIMES, down * TIMES),
            text,
            ink,
            font,
            anchor="mm",
            stroke_width=0 if same else 1,
        )
    draw.rectangle((0, 0, image.width - 1, image.height - 1), None, (160, 160, 160))
    return image


def strip(config: RdeConfig, sample: dict[str, Any], second: Scene, title: str) -> Image.Image:
    rectangles, colors = sample["rectangles"][: sample["n_rectangles"]], sample["color"]
    palette = RDE.attributes(config)["palette"]
    first = read_scene(rectangles, height=config.height, width=config.width)
    panels = {
        title: Image.fromarray(sample["image"].repeat(TIMES, 0).repeat(TIMES, 1)),
        "its scene, ranks": drawing(first, first, palette[colors[: len(rectangles)]]),
        "another scene; other ranks in red": drawing(
            second, first, palette[colors_of_second(first, second, colors)]
        ),
    }
    width, height = next(iter(panels.values())).size
    image = Image.new("RGB", (3 * (width + GAP) + GAP, height + 3 * GAP), (255, 255, 255))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(TEXT)
    for i, (text, panel) in enumerate(panels.items()):
        left = GAP + i * (width + GAP)
        draw.text((left, GAP // 2), text, (0, 0, 0), font)
        image.paste(panel, (left, 5 * GAP // 2))
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000, help="of each mode (10000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--figure", type=Path, help="PNG to write")
    given = parser.parse_args()
    strips = []
    for mode, shown in SHOWN.items():
        jobs = (
            delayed(examine_block)(
                RdeConfig(mode=mode), given.seed, start, min(BLOCK, given.samples - start), shown
            )
            for start in range(0, given.samples, BLOCK)
        )
        results = Parallel(given.workers)(jobs)
        print(f"{mode}: of {given.samples} samples")
        for name, times in sum((found for found, _ in results), Counter()).items():
            print(f"  {name}: {times}", flush=True)
        strips += [image for _, images in results for image in images][:shown]
    if given.figure and strips:
        width, height = strips[0].size
        sheet = Image.new("RGB", (width, height * len(strips)), (255, 255, 255))
        for i, image in enumerate(strips):
            sheet.paste(image, (0, i * height))
        sheet.quantize(256).save(given.figure, optimize=True)


if __name__ == "__main__":
    main()
