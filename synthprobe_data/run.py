"""A run: blocks from worker processes, streamed in order to one writer."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.cards.facts import file_sha256
from synthprobe_data.cards.ours import cards_are_right
from synthprobe_data.cards.paths import card_paths
from synthprobe_data.cards.write import write_cards
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.progress import progress_bar as progress_bar
from synthprobe_data.random import check_seed
from synthprobe_data.settings import Config
from synthprobe_data.shards.digest import digest_of_rows
from synthprobe_data.shards.kept import digests_if_complete, is_damaged_file
from synthprobe_data.shards.layout import Column, columns_of, rows_per_block
from synthprobe_data.shards.pack import PackedBlock, Task, pack_block
from synthprobe_data.shards.writer import ShardWriter, check_target, new_file, remove_leftovers
from synthprobe_data.workers import ended_by_dead_workers, run_in_worker

MAX_SAMPLES: Final = 100_000_000
SHORT_RUN_BYTES: Final = 64 * 2**20
"""One process is done with so much, decoded, before others have started, which takes a second."""
BLOCKS_PER_WAVE: Final = 256
"""Blocks given out before the writer must have caught up with them; bounds the memory of a run."""

MIN_MOST_WORKERS: Final = 32
WORKERS_PER_CORE: Final = 4
"""How many workers may be asked for: so many for each core, or the number above."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What a run made."""

    path: Path
    rows: int
    content_digest: str
    tally: NDArray[np.int64]
    """The sum of what the dataset counted while drawing."""
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
                tally=np.zeros(0, np.int64),
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
    workers = min(workers or default_workers(columns, rows), len(tasks))
    tally = np.zeros(0, np.int64)
    with new_file(path, force=force or again) as file:
        writer = ShardWriter(file, columns, rows)
        with progress_bar(rows, progress) as bar:
            for block in packed_blocks(dataset, config, columns, seed, tasks, workers):
                writer.write(block)
                tally = block.tally + (tally if len(tally) else 0)
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
        tally=tally,
        workers=workers,
        seconds=seconds,
    )


def _set_cards_right(path: Path, digest: str, command: str | None, *, force: bool) -> None:
    """Write the cards that a killed run did not write, also where those of a file before stand."""
    if not cards_are_right(path, digest, {path.name: file_sha256(path)}):
        write_cards(path, command=command, force=force, keep=not force)


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
    if workers == 1:
        for task in tasks:
            yield pack_block(dataset, config, columns, seed, task)
        return
    from joblib import Parallel, delayed  # here, because one worker does without it

    # Compile the kernels once, before the workers do so side by side.
    dataset.generate_block(config, seed, tasks[0].split, tasks[0].start, 1)
    make = delayed(partial(run_in_worker, os.getpid(), pack_block))
    # When the writer fails, joblib would complain about blocks that nobody takes any more.
    warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning, module="joblib.parallel")
    try:
        pool = Parallel(n_jobs=workers, return_as="generator", batch_size=1)
        with ended_by_dead_workers(pool), pool:
            wave_length = max(BLOCKS_PER_WAVE, 4 * workers)
            for start in range(0, len(tasks), wave_length):
                wave = tasks[start : start + wave_length]
                yield from pool(make(dataset, config, columns, seed, task) for task in wave)
    except BrokenProcessPool as error:
        raise SynthprobeError(
            "a worker process died (killed, or out of memory): nothing was written."
        ) from error


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
        print(f"{dataset.name}: {sentence}", file=sys.stderr, flush=True)
    else:
        warnings.warn(f"{dataset.name}: {sentence}", stacklevel=3)


def check_workers(workers: int) -> None:
    """Raise `SynthprobeError` if this is not a number of workers that this machine can bear.

    Each takes some 200 MB; more than a few for each core only wait for one another.
    """
    most = max(MIN_MOST_WORKERS, WORKERS_PER_CORE * cores())
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= most:
        raise SynthprobeError(
            f"workers is {workers!r}: it must be a whole number from 1 to {most} on this machine."
        )


def default_workers(columns: list[Column], rows: int) -> int:
    """How many worker processes are worth starting to make, or to check, so many rows."""
    short = rows * sum(column.row_bytes for column in columns) <= SHORT_RUN_BYTES
    return 1 if short else cores()


def cores() -> int:
    """The number of cores that this process may use."""
    from joblib import cpu_count  # knows the limits of containers, too

    return int(cpu_count())
