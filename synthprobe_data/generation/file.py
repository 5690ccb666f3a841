"""A run: blocks from worker processes, streamed in order to one writer."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from synthprobe_data.atomic.files import check_target, remove_leftovers
from synthprobe_data.cards.facts import file_sha256
from synthprobe_data.cards.ours import cards_are_right
from synthprobe_data.cards.write import write_cards
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.resume import digests_if_complete, is_damaged_file
from synthprobe_data.parallel import check_workers, default_workers, run_pool
from synthprobe_data.progress import progress_bar as progress_bar
from synthprobe_data.random import check_seed
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.digest import digest_of_rows
from synthprobe_data.shards.layout import Column, columns_of, decoded_bytes, rows_per_block
from synthprobe_data.shards.pack import PackedBlock, Task, compile_kernels, pack_block
from synthprobe_data.shards.writer import ShardWriter, new_file
from synthprobe_data.voice import note

MAX_SAMPLES: Final = 100_000_000
BLOCKS_PER_JOB: Final = 4
"""Blocks that a worker makes before it hands them over, as each time costs the writer 1 ms."""
BLOCKS_PER_WAVE: Final = 256
"""Blocks given out before the writer must have caught up with them; bounds the memory of a run."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What a run made."""

    path: Path
    rows: int
    content_digest: str
    workers: int
    seconds: float


def generate_file(
    path: str | Path,
    dataset: Dataset,
    config: Config | None = None,
    *,
    seed: int = 0,
    splits: Mapping[str, int] | None = None,
    workers: int | None = None,
    force: bool = False,
    resume: bool = False,
    progress: bool = False,
    block_rows: int | None = None,
    command: str | None = None,
    cards: bool = True,
    look_ahead: bool = True,
    alone: bool = True,
) -> RunSummary:
    """Generate a dataset into one HDF5 file, with its cards beside it.

    Parameters
    ----------
    path
        The file to write. It appears under this name only when it is complete.
    dataset
        What to generate.
    config
        Its settings; the canonical ones by default.
    seed
        Any whole number from 0 to 2**64 - 1.
    splits
        The number of samples of each split; the canonical ones by default.
    workers
        Worker processes; by default all cores, or one for a short run. The file has the same rows
        for any number.
    force
        Replace an existing file.
    resume
        Keep an existing file if it is complete and has just these samples; make it again if it says
        that it has, but is damaged.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    block_rows
        Samples that a worker makes in one go; the file has the same rows for any number.
    command
        The command of the run, for the card.
    cards
        Write the cards.
    look_ahead
        Say first if samples will fall short of what was asked for, and refuse what is pointless.
    alone
        Refuse to write where another run is writing; not for a part of a run that holds the folder.
    """
    started = time.perf_counter()
    path = Path(path)
    config = dataset.config() if config is None else config
    splits = checked_splits(dataset, config, splits)
    check_seed(seed)
    if not dataset.drawn:
        seed = 0  # so that the file is the same for every seed
    if workers is not None:
        check_workers(workers)
    starts = np.cumsum([0, *splits.values()]).tolist()
    where: dict[str, Any] = {
        "seed": seed,
        "splits": {name: (a, a + splits[name]) for name, a in zip(splits, starts, strict=False)},
        "index_start": dict.fromkeys(splits, 0),
    }
    rows = starts[-1]
    for target in (path, *card_paths(path, folder=False).all()):
        remove_leftovers(target)
    again = False
    if resume and path.exists():
        kept = digests_if_complete(path, dataset, config, **where)
        if kept is not None:
            digest = digest_of_rows(kept)
            if cards:
                _set_cards_right(path, digest, command, force=force)
            return RunSummary(
                path=path,
                rows=rows,
                content_digest=digest,
                workers=1,
                seconds=time.perf_counter() - started,
            )
        again = is_damaged_file(path, dataset, config, **where)
    check_target(path, force=force or again)
    if cards and not again:
        for target in card_paths(path, folder=False).all():
            check_target(target, force=force)
    if look_ahead:
        say_what_to_expect(dataset, config, splits, progress=progress)
    columns = columns_of(dataset, config)
    tasks = list(plan(columns, splits, block_rows))
    workers = min(workers or default_workers(decoded_bytes(columns, rows)), len(tasks))
    with new_file(path, force=force or again, alone=alone) as file:
        writer = ShardWriter(file, columns, rows)
        with progress_bar(rows, progress) as bar:
            for block in packed_blocks(dataset, config, columns, seed, tasks, workers):
                writer.write(block)
                bar.update(block.task.count)
        digest = writer.finish(dataset, config, **where)
    seconds = time.perf_counter() - started
    if cards:
        write_cards(
            path, command=command, seconds=seconds, workers=workers, force=force, keep=again
        )
    return RunSummary(
        path=path,
        rows=rows,
        content_digest=digest,
        workers=workers,
        seconds=seconds,
    )


def _set_cards_right(path: Path, digest: str, command: str | None, *, force: bool) -> None:
    """Write the cards that a killed run did not write, also where those of a file before stand."""
    hashes = {path.name: file_sha256(path)}
    if not cards_are_right(path, digest, hashes):
        write_cards(path, command=command, force=force, keep=not force, hashes=hashes)


def plan(
    columns: list[Column],
    splits: Mapping[str, int],
    block_rows: int | None = None,
    index_start: int = 0,
) -> Iterator[Task]:
    """The tasks that fill a file, in the order of its rows.

    Each split starts with the sample at ``index_start``.
    """
    if block_rows is None:
        block_rows = rows_per_block(columns)
    row = 0
    for split, size in splits.items():
        for start in range(0, size, block_rows):
            count = min(block_rows, size - start)
            yield Task(split=split, start=index_start + start, count=count, row=row)
            row += count


def packed_blocks(
    dataset: Dataset,
    config: Config,
    columns: list[Column],
    seed: int,
    tasks: list[Task],
    workers: int,
) -> Iterator[PackedBlock]:
    """The blocks of all tasks, in their order, from this process or from worker processes."""
    if workers > 1:
        compile_kernels(dataset, config, columns, seed, tasks[0])
    # A few jobs for each worker are left at the end, so that none waits long for another.
    together = max(1, min(BLOCKS_PER_JOB, len(tasks) // (4 * workers))) if workers > 1 else 1
    jobs = (
        (dataset, config, columns, seed, tasks[first : first + together])
        for first in range(0, len(tasks), together)
    )
    packed = run_pool(
        _pack_blocks,
        jobs,
        workers=workers,
        died=": nothing was written",
        wave=max(BLOCKS_PER_WAVE // together, 4 * workers),
    )
    with contextlib.closing(packed):
        for blocks in packed:
            yield from blocks


def _pack_blocks(
    dataset: Dataset, config: Config, columns: list[Column], seed: int, tasks: list[Task]
) -> list[PackedBlock]:
    return [pack_block(dataset, config, columns, seed, task) for task in tasks]


def checked_splits(
    dataset: Dataset, config: Config, splits: Mapping[str, int] | None
) -> dict[str, int]:
    """The splits that have samples, the canonical ones by default.

    `SynthprobeError` if a size is wrong, if none has any, if there cannot be so many, or if no
    new ones are made of these settings.
    """
    dataset.check_new(config)
    if splits is None:
        splits = dataset.sizes(config)
    for name, size in splits.items():
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= MAX_SAMPLES:
            raise SynthprobeError(
                f"{name} is {size!r}: it must be a whole number of samples from 0 to {MAX_SAMPLES}."
            )
    if not any(splits.values()):
        raise SynthprobeError(f"there is nothing to generate: {' and '.join(splits)} are all 0.")
    dataset.check_sizes(config, splits)
    return {name: size for name, size in splits.items() if size}


def say_what_to_expect(
    dataset: Dataset, config: Config, splits: Mapping[str, int], *, progress: bool
) -> None:
    """Say if samples will fall short of what was asked for; `SynthprobeError` if far too much.

    It is a line on the error output where progress is shown, and a Python warning elsewhere.
    """
    sentence = dataset.check_expected(config, splits)
    if sentence is None:
        return
    if progress:
        note(f"{dataset.name}: {sentence}")
    else:
        warnings.warn(f"{dataset.name}: {sentence}", stacklevel=3)
