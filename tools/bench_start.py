"""How long a newcomer waits: the first run with cold kernels, and the first `verify` after it.

Each round starts with an empty folder for kernels. Seconds are those of the processor, of the
command and its children; on a busy machine they are more than on an idle one, so the same commands
with the kernels of the round before are timed beside them. With ``--package``, another checkout is
measured in turn with this one, and the ratio of the two holds on a shared machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def processor_seconds(package: Path, kernels: Path, *arguments: str) -> float:
    """What a command of this checkout takes of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=package,
        env={
            **os.environ,
            "PYTHONPATH": str(package),
            "NUMBA_CACHE_DIR": str(kernels),
            "OMP_NUM_THREADS": "1",
        },
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def one_round(package: Path) -> dict[str, float]:
    """The first run and the first `verify`, with cold kernels and then with warm ones."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, out = folder / "kernels", str(folder / "few.h5")
        size = ["--train", "10", "--test", "0"]
        generate = ["synthprobe_data.cli.gen", "rde", *size, "--force", "--out", out]
        verify = ["synthprobe_data.cli.shards", "verify", out]
        work: dict[str, Callable[[], float]] = {
            "first `synthprobe-gen rde`, 10 samples": lambda: processor_seconds(
                package, made, *generate
            ),
            "first `verify` after it": lambda: processor_seconds(package, made, *verify),
            "the same `synthprobe-gen`, warm": lambda: processor_seconds(package, made, *generate),
            "the same `verify`, warm": lambda: processor_seconds(package, made, *verify),
        }
        return {what: measure() for what, measure in work.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--package", type=Path, help="another checkout, for the ratio to it")
    given = parser.parse_args()
    packages = [HERE, *([given.package.resolve()] if given.package else [])]
    rounds = [[one_round(package) for package in packages] for _ in range(given.rounds)]
    print("| what | processor seconds, the least | there | here against there |")
    print("|---|---|---|---|")
    for what in rounds[0][0]:
        least = [min(turn[i][what] for turn in rounds) for i in range(len(packages))]
        there = f"{least[1]:.1f} s" if given.package else ""
        ratios = [turn[0][what] / turn[-1][what] for turn in rounds]
        against = f"{statistics.median(ratios):.2f}" if given.package else ""
        print(f"| {what} | {least[0]:.1f} s | {there} | {against} |")


if __name__ == "__main__":
    main()
