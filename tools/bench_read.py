"""How fast shuffled batches come from shards and from the stream, beside a plain memory map.

Run it on an otherwise idle machine; it prints one table in Markdown. The memory map has the decoded
pictures and ranks in two NumPy files, which the system keeps in memory; it goes through the same
conversion, collation and loader. "Bytes" are the arrays of the file, converted after the loader
has given them. The sources take turns, so that the ratios hold on a shared machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from synthprobe_data import RdeConfig, make_file, open_dataset
from synthprobe_models import ShardDataset, StreamDataset, to_network
from synthprobe_models.data.torch_datasets import normalisation_of

BATCH = 32
GOAL = 1 / 3
COLUMNS = ("image", "rank")


class MemoryMapDataset(Dataset[dict[str, Tensor]]):
    """The decoded arrays, mapped into memory: the least that reading can cost."""

    def __init__(self, folder: Path, *, raw: bool) -> None:
        self.arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in COLUMNS}
        self.raw = raw
        self.normalisation = normalisation_of("rde", RdeConfig())

    def __len__(self) -> int:
        return len(self.arrays["image"])

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Tensor]]:
        arrays = {name: np.asarray(array[indices]) for name, array in self.arrays.items()}
        if self.raw:
            block = {name: torch.from_numpy(array) for name, array in arrays.items()}
        else:
            block = to_network("rde", arrays, self.normalisation)
        return [{name: column[i] for name, column in block.items()} for i in range(len(indices))]


def write_memory_map(shard: Path, folder: Path) -> None:
    split = open_dataset(shard)["train"]
    shapes = {name: array.shape[1:] for name, array in split.read([], COLUMNS).items()}
    maps = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.uint8, (len(split), *s))
        for name, s in shapes.items()
    }
    for start in range(0, len(split), 500):
        rows = range(start, min(start + 500, len(split)))
        for name, block in split.read(rows, COLUMNS).items():
            maps[name][rows.start : rows.stop] = block


def rate(loader: DataLoader[dict[str, Tensor]]) -> float:
    """Pictures per second, of one pass over all batches, as networks see them."""
    normalisation = normalisation_of("rde", RdeConfig())
    started, pictures = time.perf_counter(), 0
    for batch in loader:
        seen = batch if "target" in batch else to_network("rde", batch, normalisation)
        pictures += len(seen["image"])
    return pictures / (time.perf_counter() - started)


def rates(
    sources: dict[str, Dataset[dict[str, Tensor]]], workers: int, rounds: int
) -> dict[str, list[float]]:
    """The rates of all sources in turn; the first pass of each, with its start, does not count."""
    loaders = {
        name: DataLoader(
            source,
            batch_size=BATCH,
            shuffle=not isinstance(source, IterableDataset),
            num_workers=workers,
            persistent_workers=workers > 0,
        )
        for name, source in sources.items()
    }
    found: dict[str, list[float]] = {name: [] for name in loaders}
    for turn in range(rounds + 1):
        for name, loader in loaders.items():
            measured = rate(loader)
            if turn:
                found[name].append(measured)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4,000 samples instead of 20,000")
    parser.add_argument("--rounds", type=int, default=5, help="passes that count (default 5)")
    options = parser.parse_args()
    samples = 4_000 if options.quick else 20_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shard = folder / "rde.h5"
        make_file("rde", shard, train=samples, test=0, cards=False)
        write_memory_map(shard, folder)
        sources: dict[str, Dataset[dict[str, Tensor]]] = {
            "memory map": MemoryMapDataset(folder, raw=False),
            "shards": ShardDataset(shard),
            "stream": StreamDataset(length=samples),
            "memory map, bytes": MemoryMapDataset(folder, raw=True),
            "shards, bytes": ShardDataset(shard, columns=COLUMNS),
        }
        print(f"{samples} samples, batches of {BATCH}, {os.cpu_count()} cores\n")
        print("| source | workers | images per second | of the memory map | goal |")
        print("|---|---|---|---|---|")
        for workers in (0, 1, 2):
            found = rates(sources, workers, options.rounds)
            for name, measured in found.items():
                base = found["memory map, bytes" if "bytes" in name else "memory map"]
                ratio = statistics.median(a / b for a, b in zip(measured, base, strict=True))
                goal = f"at least {GOAL:.2f}" if (name, workers) == ("shards", 2) else ""
                figure = f"{statistics.median(measured):,.0f}"
                print(f"| {name} | {workers} | {figure} | {ratio:.2f} | {goal} |", flush=True)


if __name__ == "__main__":
    main()
