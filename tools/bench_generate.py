"""How fast the generators are; RDE and twins also beside SciPy's blur of their pictures.

Run it on an otherwise idle machine; it prints one table in Markdown. Timings are taken in turn with
``scipy.ndimage.gaussian_filter`` on the same pictures, so that the ratios hold on a shared machine.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from scipy.ndimage import gaussian_filter

from synthprobe_data.generation.file import generate_file, plan
from synthprobe_data.rde import RDE, RdeConfig
from synthprobe_data.rde.generate import (
    KEPT,
    SHORT,
    TALLIED,
    UNDECIDED_SCENES,
    UNREADABLE_SCENES,
    UNSTABLE_SCENES,
    generate_with_tally,
)
from synthprobe_data.shards.digest import row_digests
from synthprobe_data.shards.layout import columns_of
from synthprobe_data.shards.line_deflate import deflate_lines
from synthprobe_data.shards.pack import deflate, pack_block
from synthprobe_data.shards.writer import LIBVER, ShardWriter
from synthprobe_data.twins import TWINS, TwinsConfig

PAPER_SECONDS = 8 * 3600 / 62_500
ROUNDS = 30


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def row(what: str, figure: str, goal: str = "") -> None:
    print(f"| {what} | {figure} | {goal} |", flush=True)


def one_pair(folder: Path) -> None:
    """Every stage of a certified pair, in one process, in turn with SciPy's blur."""
    config = RdeConfig()
    columns = columns_of(RDE, config)
    tasks = list(plan(columns, {"train": 50_000}))[: ROUNDS + 1]
    rounds: list[dict[str, float]] = []
    with h5py.File(folder / "pair.h5", "w", libver=LIBVER) as file:
        writer = ShardWriter(file, columns, sum(task.count for task in tasks))
        for task in tasks:
            block = RDE.generate_block(config, 0, task.split, task.start, task.count)

            def make(task=task):
                return RDE.generate_block(config, 0, task.split, task.start, task.count)

            def everything(task=task):
                writer.write(pack_block(RDE, config, columns, 0, task))

            def blur(pictures=block["image"]):
                for picture in pictures:
                    gaussian_filter(picture, (0.7, 0.7, 0))

            def digest(block=block):
                row_digests(block)

            times = {"all": everything, "blur": blur, "make": make, "digest": digest}
            rounds.append({name: seconds(work) / task.count for name, work in times.items()})
    del rounds[0]  # compiling, warming up
    middle = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
    ratio = statistics.median(r["all"] / r["blur"] for r in rounds)
    row("one certified pair, all of it, one worker", f"{middle['all'] * 1e6:.0f} µs")
    row("- of which: place, certify, render", f"{middle['make'] * 1e6:.0f} µs")
    row("- of which: SHA-256 of the decoded row", f"{middle['digest'] * 1e6:.0f} µs")
    rest = middle["all"] - middle["make"] - middle["digest"]
    row("- of which: deflate and write", f"{rest * 1e6:.0f} µs")
    row("`gaussian_filter` on the same picture (uint8)", f"{middle['blur'] * 1e6:.0f} µs")
    row("one pair against `gaussian_filter`", f"{ratio:.2f}", "at most 0.5, aim 0.3")
    row(
        "against the paper's 0.46 s",
        f"{PAPER_SECONDS / middle['all']:.0f} times faster per core",
        "at least 2,000",
    )


def by_lines() -> None:
    """The encoder of deflate for pictures in turn with the general one, by the time of the core."""
    block = RDE.generate_block(RdeConfig(), 0, "train", 0, 100)
    for name in ("image", "rank", "label"):
        pictures, taken = block[name], []
        packed, _ = deflate_lines(pictures)
        general = sum(len(deflate(picture)) for picture in pictures)
        for _ in range(ROUNDS):
            started = time.process_time()
            deflate_lines(pictures)
            middle = time.process_time()
            for picture in pictures:
                deflate(picture)
            taken.append((middle - started) / (time.process_time() - middle))
        what = f"deflate of `{name}` by lines, against the general encoder"
        row(what, f"{statistics.median(taken):.2f}; {len(packed) / general:.2f} of its bytes")


def other_settings() -> None:
    """Scenes of other numbers and colours beside plain ones, in turn, by the time of the core."""
    plain = RdeConfig()
    kinds = {
        "colours of its own": RdeConfig(palette="random"),
        "3 to 10 rectangles": RdeConfig(min_rectangles=3),
        "both": RdeConfig(palette="random", min_rectangles=3),
    }
    for what, config in kinds.items():
        ratios = []
        for number in range(ROUNDS + 1):
            taken = []
            for settings in (plain, config):
                started = time.process_time()
                RDE.generate_block(settings, 0, "train", 250 * number, 250)
                taken.append(time.process_time() - started)
            ratios.append(taken[1] / taken[0])
        row(f"{what}, against plain RDE", f"{statistics.median(ratios[1:]):.2f}", "at most 1.2")


def twin_pairs() -> None:
    """Pairs of twins in one process, in turn with SciPy's blur of their pictures."""
    config, pairs = TwinsConfig(), 500
    rounds: list[dict[str, float]] = []
    for number in range(ROUNDS + 1):
        start = 2 * pairs * number
        block = TWINS.generate_block(config, 0, "train", start, 2 * pairs)

        def make(start=start):
            TWINS.generate_block(config, 0, "train", start, 2 * pairs)

        def blur(pictures=block["image"]):
            for picture in pictures:
                gaussian_filter(picture, (0.7, 0.7, 0))

        started = time.process_time()
        make()
        own = time.process_time() - started
        times = {"make": seconds(make), "blur": seconds(blur), "own": own}
        rounds.append({name: taken / pairs for name, taken in times.items()})
    del rounds[0]  # compiling, warming up
    middle = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
    ratio = statistics.median(r["make"] / r["blur"] for r in rounds)
    row(
        "one pair of twins: draw, exchange, certify, render, measure",
        f"{middle['own'] * 1e6:.0f} µs of a core",
    )
    row("- pairs a second and core", f"{1 / middle['own']:,.0f}", "at least 5,000")
    row("- against `gaussian_filter` on both pictures", f"{ratio:.2f}")


def two_workers(folder: Path, samples: int) -> None:
    """Throughput of two workers against one, both warm."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(4):
        for workers in times:
            size = samples if turn else samples // 10
            run = generate_file(
                folder / "workers.h5",
                RDE,
                splits={"train": size},
                workers=workers,
                force=True,
                cards=False,
            )
            if turn:
                times[workers].append(run.seconds)
    ratio = statistics.median(a / b for a, b in zip(times[1], times[2], strict=True))
    row(f"2 workers against 1 ({samples} pairs, warm)", f"{ratio:.2f} times", "at least 1.8")


def peak_memory(arguments: list[str]) -> tuple[float, list[float], str]:
    """Seconds, peak megabytes of each process, and what a run of the command says."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "synthprobe_data.cli.gen", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    peaks: dict[int, float] = {}

    def watch() -> None:
        while process.poll() is None:
            for pid in _family(process.pid):
                peaks[pid] = max(peaks.get(pid, 0.0), _resident_peak(pid))
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said, _ = process.communicate()
    watcher.join()
    return time.perf_counter() - started, sorted(peaks.values(), reverse=True), said.strip()


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(c for child in children for c in _family(int(child)))]


def _resident_peak(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(kilobytes[0]) / 1024 if kilobytes else 0.0


def whole_dataset(folder: Path) -> None:
    path = folder / "rde.h5"
    took, peaks, said = peak_memory(["rde", "--out", str(path)])
    size = path.stat().st_size / 1e6
    row("62,500 pairs, default options, the command from start to end", f"{took:.1f} s")
    row("- file", f"{size:.0f} MB", "about 220 MB")
    row("- peak memory of each process", ", ".join(f"{p:.0f} MB" for p in peaks), "under 400 MB")
    _, few, _ = peak_memory(
        ["rde", "--out", str(folder / "few.h5"), "--train", "6250", "--test", "0"]
    )
    row("- the same for 6,250 pairs", ", ".join(f"{p:.0f} MB" for p in few), "flat")
    print(f"\n`{said.replace(str(path), 'rde.h5')}`\n")


def start_up(folder: Path) -> None:
    arguments = ["rde", "--train", "10", "--test", "0", "--force", "--out", str(folder / "t.h5")]
    times = [peak_memory(arguments)[0] for _ in range(5)]
    row("start-up: 10 pairs, kernel cache warm", f"{statistics.median(times):.1f} s", "under 2 s")


def other_datasets(folder: Path) -> None:
    """The whole of the smaller datasets, by the command from start to end, kernel cache warm."""
    for name, samples, goal in (
        ("centered-square", "1,936", ""),
        ("color-code", "30,000", "at most 3 s"),
        ("twins", "48,000", ""),
    ):
        path = folder / f"{name}.h5"
        runs = [peak_memory([name, "--force", "--out", str(path)]) for _ in range(6)][1:]
        took = statistics.median(seconds for seconds, _, _ in runs)
        row(f"{samples} samples of {name}, from start to end", f"{took:.1f} s", goal)
        row("- file", f"{path.stat().st_size / 1e6:.1f} MB")


def scenes(count: int) -> None:
    """What the rules and the certificate reject."""

    def tally(mode: str) -> np.ndarray:
        config, step = RdeConfig(mode=mode), 500
        blocks = (
            generate_with_tally(config, 1, "bench", s, step)[1] for s in range(0, count, step)
        )
        return sum(blocks, np.zeros(TALLIED, np.int64))

    rules = tally("rules")
    row(
        f"scenes short of 10 rectangles (rules only, of {count})",
        f"{rules[SHORT] / count:.2%}, one in {count / max(rules[SHORT], 1):.0f}",
        "paper: about one in 500",
    )
    found = tally("certified")
    drawn = found[[KEPT, UNREADABLE_SCENES, UNDECIDED_SCENES, UNSTABLE_SCENES]].sum()
    row("scenes rejected by the certificate", f"{1 - found[KEPT] / drawn:.2%} of {drawn}")
    for name, place in (
        ("unreadable", UNREADABLE_SCENES),
        ("undecided", UNDECIDED_SCENES),
        ("unstable", UNSTABLE_SCENES),
    ):
        row(f"- {name} first", f"{found[place] / drawn:.3%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples, no whole dataset")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| what | measured | goal |\n|---|---|---|")
        one_pair(folder)
        by_lines()
        other_settings()
        twin_pairs()
        two_workers(folder, 4_000 if quick else 20_000)
        start_up(folder)
        other_datasets(folder)
        scenes(10_000 if quick else 100_000)
        if not quick:
            whole_dataset(folder)


if __name__ == "__main__":
    main()
