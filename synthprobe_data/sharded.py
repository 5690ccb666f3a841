"""A run into a folder of shards: workers write their own shards, and a killed run can go on."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.cards.write import write_cards
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.random import check_seed
from synthprobe_data.run import (
    RunSummary,
    check_workers,
    checked_splits,
    default_workers,
    packed_blocks,
    plan,
    progress_bar,
)
from synthprobe_data.settings import Config
from synthprobe_data.shards.digest import digest_of_rows
from synthprobe_data.shards.folder import check_folder, heal, part_of, put_in_place
from synthprobe_data.shards.guard import trust
from synthprobe_data.shards.kept import digests_if_complete, folder_digest_if_complete
from synthprobe_data.shards.layout import columns_of
from synthprobe_data.shards.manifest import MANIFEST, Manifest, ShardEntry, describe_shard
from synthprobe_data.shards.plan import ShardPlan, plan_shards
from synthprobe_data.shards.writer import ShardWriter, new_file, write_text
from synthprobe_data.workers import ended_by_dead_workers, run_in_worker

_OF_A_RUN: Final = re.compile(
    r"([\w.-]+-\d{5}-of-\d{5}\.h5|manifest\.json|README\.md|croissant\.json|samples\.png)"
    r"(\.[\w-]+\.part)?$"
)
"""What a run writes into its folder, complete or not."""


@dataclass(frozen=True)
class MadeShard:
    """A shard that is complete."""

    entry: ShardEntry
    digests: bytes
    """The digests of its rows."""
    tally: NDArray[np.int64] | None
    """What was drawn for it; ``None`` if it was there already."""


def generate_folder(
    folder: str | Path,
    dataset: Dataset,
    config: Config | None = None,
    *,
    shards: int,
    seed: int = 0,
    splits: Mapping[str, int] | None = None,
    workers: int | None = None,
    force: bool = False,
    resume: bool = False,
    progress: bool = False,
    scheduler: str | None = None,
    command: str | None = None,
) -> RunSummary:
    """Generate a dataset into a folder of shards, with its cards.

    Parameters
    ----------
    folder
        The folder to write. It appears under this name only when it is complete; until then it
        stands beside it as ``NAME.part``.
    dataset, config, seed, splits, workers, progress, command
        As for `synthprobe_data.run.generate_file`.
    shards
        Number of files, shared out over the splits.
    force
        Replace the dataset in an existing folder.
    resume
        Go on with a run that was killed: keep the shards that are complete and right. A folder
        that is complete is left as it is.
    scheduler
        Address of a Dask scheduler; its workers make the shards instead of processes of this
        machine, and write them to the same folder.
    """
    started = time.perf_counter()
    folder = Path(folder)
    config = dataset.config() if config is None else config
    splits = checked_splits(dataset, config, splits)
    check_seed(seed)
    if not dataset.drawn:
        seed = 0  # so that the file is the same for every seed
    if workers is not None:
        check_workers(workers)
    plans = plan_shards(splits, shards)
    rows = sum(splits.values())
    if folder.name:
        heal(folder)
    digest = folder_digest_if_complete(folder, dataset, config, seed, plans) if resume else None
    if digest is not None:
        return RunSummary(
            path=folder,
            rows=rows,
            content_digest=digest,
            tally=np.zeros(0, np.int64),
            workers=1,
            seconds=time.perf_counter() - started,
        )
    check_folder(folder, force=force)
    part = _prepare_part(folder, plans, force=force, resume=resume)
    workers = min(workers or default_workers(columns_of(dataset, config), rows), len(plans))
    if workers > 1 and scheduler is None:
        # Compile the kernels once, before the workers do so side by side.
        dataset.generate_block(config, seed, plans[0].split, 0, 1)
    made: dict[str, MadeShard] = {}
    with _removed_if_empty(part), progress_bar(rows, progress) as bar:
        jobs = ((part.absolute(), dataset, config, seed, shard, resume) for shard in plans)
        for shard in _run(jobs, workers, scheduler):
            made[shard.entry.file] = shard
            trust(part / shard.entry.file)  # a worker has made it, or looked it over
            bar.update(shard.entry.rows)
    digests = b"".join(made[shard_plan.file].digests for shard_plan in plans)
    manifest = Manifest(
        dataset=dataset.name,
        version=dataset.version,
        config=config.to_dict(),
        seed=seed,
        splits=splits,
        content_digest=digest_of_rows(digests),
        shards=[made[shard_plan.file].entry for shard_plan in plans],
    )
    write_text(part / MANIFEST, manifest.to_json())
    tallies = [shard.tally for shard in made.values() if shard.tally is not None]
    seconds = time.perf_counter() - started
    here = scheduler is None and len(tallies) == len(plans)  # all of it, and on this machine
    write_cards(
        part,
        command=command,
        seconds=seconds if here else None,
        workers=workers if here else None,
        force=True,
    )
    put_in_place(part, folder)
    return RunSummary(
        path=folder,
        rows=rows,
        content_digest=manifest.content_digest,
        tally=np.sum(tallies, axis=0) if tallies else np.zeros(0, np.int64),
        workers=workers,
        seconds=seconds,
    )


def make_shard(
    folder: Path, dataset: Dataset, config: Config, seed: int, shard: ShardPlan, resume: bool
) -> MadeShard:
    """Make one shard, or keep it if a run before has made it."""
    path = folder / shard.file
    if resume:
        kept = digests_if_complete(path, dataset, config, seed=seed, **shard.place)
        if kept is not None:
            return MadeShard(_entry(path, shard, kept), kept, None)
    columns = columns_of(dataset, config)
    tasks = list(plan(columns, {shard.split: shard.rows}, index_start=shard.index_start))
    parts, tally = [], np.zeros(0, np.int64)
    with new_file(path, force=True) as file:
        writer = ShardWriter(file, columns, shard.rows)
        for block in packed_blocks(dataset, config, columns, seed, tasks, workers=1):
            writer.write(block)
            parts.append(block.digests)
            tally = block.tally + (tally if len(tally) else 0)
        writer.finish(dataset, config, seed=seed, **shard.place)
    digests = b"".join(parts)
    return MadeShard(_entry(path, shard, digests), digests, tally)


def _entry(path: Path, shard: ShardPlan, digests: bytes) -> ShardEntry:
    return describe_shard(
        path,
        split=shard.split,
        index_start=shard.index_start,
        rows=shard.rows,
        content_digest=digest_of_rows(digests),
    )


def _prepare_part(folder: Path, plans: list[ShardPlan], *, force: bool, resume: bool) -> Path:
    """Make the folder for the shards; of what a killed run left, keep what can be of use."""
    part = part_of(folder)
    if part.exists() and not (force or resume):
        raise SynthprobeError(
            f"{part} is left from a run that was killed: --resume goes on, --force starts anew."
        )
    kept = {shard.file for shard in plans} if resume else set()
    try:
        part.mkdir(exist_ok=True)
        found = list(part.iterdir())
        for path in found:
            if path.is_dir() or not _OF_A_RUN.match(path.name):
                raise SynthprobeError(f"{part} is in the way: {path.name} in it is of no run.")
        for path in found:
            if path.name not in kept:
                path.unlink()
    except OSError as error:
        raise SynthprobeError(f"{part} cannot be written to: {error.strerror}.") from error
    return part


@contextlib.contextmanager
def _removed_if_empty(part: Path) -> Iterator[None]:
    """Leave no empty folder behind when a run fails before its first shard."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            part.rmdir()
        raise


def _run(
    jobs: Iterator[tuple[Any, ...]], workers: int, scheduler: str | None
) -> Iterator[MadeShard]:
    """The shards, in any order, from this process, from worker processes or from a Dask cluster."""
    if workers == 1 and scheduler is None:
        for job in jobs:
            yield make_shard(*job)
        return
    from joblib import Parallel, delayed

    try:
        with _backend(scheduler):
            pool = Parallel(
                n_jobs=-1 if scheduler else workers, return_as="generator_unordered", batch_size=1
            )
            # The workers of a cluster are not started by a run, and do not end with it.
            make = delayed(
                make_shard if scheduler else partial(run_in_worker, os.getpid(), make_shard)
            )
            with ended_by_dead_workers(pool):
                yield from pool(make(*job) for job in jobs)
    except BrokenProcessPool as error:
        raise SynthprobeError(
            "a worker process died (killed, or out of memory): --resume goes on from here."
        ) from error


@contextlib.contextmanager
def _backend(scheduler: str | None) -> Iterator[None]:
    """Joblib's own processes, or the workers of a Dask cluster."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
        from joblib import parallel_config
    except ImportError:
        raise SynthprobeError(
            "--backend dask needs the extra dask: pip install 'synthprobe[dask]'."
        ) from None
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise SynthprobeError(f"no Dask scheduler answers at {scheduler}: {error}.") from error
    with client, parallel_config(backend="dask"):
        yield
