"""How fast pictures are read, beside SciPy's blur of the same pictures, in turn.

It prints one table in Markdown. The ratios hold on a shared machine, as each round times all of
them one after the other; the figures are the medians of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from scipy.ndimage import gaussian_filter

from synthprobe_data.rde import RDE, RdeConfig, solve

SIZES = {64: 5, 128: 10, 256: 15, 1024: 20}
GOAL = 3


def microseconds(work: Callable[..., object], *arguments: object) -> float:
    started = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - started) * 1e6


def compare(size: int, n: int, rounds: int) -> None:
    config = RdeConfig(height=size, width=size, n_rectangles=n)
    palette = RDE.attributes(config)["palette"]
    block = RDE.generate_block(config, 0, "bench", 0, rounds + 1)
    times: list[tuple[float, float, float]] = []
    for picture in block["image"]:
        with_palette = microseconds(solve, picture, palette)
        without = microseconds(solve, picture)
        blur = microseconds(gaussian_filter, picture, (0.7, 0.7, 0))
        times.append((blur, with_palette, without))
    del times[0]  # compiling, warming up
    blur, *solved = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = (statistics.median(t[i] / t[0] for t in times) for i in (1, 2))
    cells = [f"{t:.0f} µs, {ratio:.2f}" for t, ratio in zip(solved, ratios, strict=True)]
    print(f"| {size} | {n} | {blur:.0f} µs | {' | '.join(cells)} | at most {GOAL} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="pictures of each size (300)")
    rounds = parser.parse_args().rounds
    print(
        "| pixels | rectangles | `gaussian_filter` | `solve`, palette given | without | ratio |\n"
        "|---|---|---|---|---|---|"
    )
    for size, n in SIZES.items():
        compare(size, n, rounds if size < 1024 else max(rounds // 15, 1))


if __name__ == "__main__":
    main()
