"""A run into a folder of shards: workers write their own, and a killed run can be resumed."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data.atomic.files import at_end_of_links, write_text
from synthprobe_data.atomic.folder import (
    MANIFEST,
    check_folder,
    heal,
    held_folder,
    held_part,
    put_in_place,
)
from synthprobe_data.cards.ours import cards_are_right
from synthprobe_data.cards.write import write_cards
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.cluster import WAIT, run_on_cluster
from synthprobe_data.generation.file import (
    RunSummary,
    checked_splits,
    packed_blocks,
    plan,
    say_what_to_expect,
)
from synthprobe_data.generation.resume import digests_if_complete, is_damaged_folder
from synthprobe_data.parallel import check_workers, default_workers, run_pool
from synthprobe_data.progress import progress_bar
from synthprobe_data.random import check_seed
from synthprobe_data.shards.digest import digest_of_rows
from synthprobe_data.shards.guard import trust, validate_files
from synthprobe_data.shards.layout import columns_of, decoded_bytes
from synthprobe_data.shards.manifest import Manifest, ShardEntry, describe_shard
from synthprobe_data.shards.pack import Task, compile_kernels
from synthprobe_data.shards.plan import ShardPlan, plan_shards
from synthprobe_data.shards.writer import ShardWriter, new_file

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
    new: bool
    """Whether this run has made it; otherwise it was there already."""


@dataclass(frozen=True, kw_only=True)
class FolderRun:
    """What is to be made in a folder, and by whom."""

    dataset: Dataset
    config: Config
    seed: int
    splits: dict[str, int]
    plans: list[ShardPlan]
    workers: int
    scheduler: str | None = None
    wait: float = WAIT
    progress: bool = False

    def make(
        self,
        folder: Path,
        *,
        resume: bool,
        damaged: Container[str] = (),
        expected: Mapping[str, str] | None = None,
    ) -> tuple[Manifest, list[MadeShard]]:
        """Make the shards; return the manifest, and those that were not there before.

        Parameters
        ----------
        folder
            Where they are written.
        resume
            Keep those that are there and right.
        damaged
            Names of shards that are not kept in any case.
        expected
            Content digests of shards; `SynthprobeError` if what is made has another one.
        """
        if self.workers > 1 and self.scheduler is None:
            plan_0 = self.plans[0]
            first = Task(split=plan_0.split, start=plan_0.index_start, count=1, row=0)
            columns = columns_of(self.dataset, self.config)
            compile_kernels(self.dataset, self.config, columns, self.seed, first)
        kept = [shard.file for shard in self.plans if resume and shard.file not in damaged]
        validated = validate_files([folder / file for file in kept])  # one child for all
        safe = {path.name for path, refusal in validated if refusal is None}
        jobs = (
            (
                folder.absolute(),
                self.dataset,
                self.config,
                self.seed,
                shard,
                shard.file in safe,
                (expected or {}).get(shard.file),
            )
            for shard in self.plans
        )
        made: dict[str, MadeShard] = {}
        with progress_bar(sum(self.splits.values()), self.progress) as bar:
            for shard in self._made(jobs):
                made[shard.entry.file] = shard
                trust(folder / shard.entry.file)  # a worker has made it
                bar.update(shard.entry.rows)
        in_order = [made[shard_plan.file] for shard_plan in self.plans]
        manifest = Manifest(
            dataset=self.dataset.name,
            version=self.dataset.version,
            config=self.config.to_dict(),
            seed=self.seed,
            splits=self.splits,
            content_digest=digest_of_rows(b"".join(shard.digests for shard in in_order)),
            shards=[shard.entry for shard in in_order],
        )
        return manifest, [shard for shard in in_order if shard.new]

    def _made(self, jobs: Iterator[tuple[Any, ...]]) -> Iterator[MadeShard]:
        """The shards as they are finished: here, in worker processes, or on a Dask cluster."""
        if self.scheduler is not None:
            return run_on_cluster(make_shard, jobs, self.scheduler, self.wait)
        return run_pool(
            make_shard,
            jobs,
            workers=self.workers,
            ordered=False,
            died=": --resume continues from here",
        )


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
    wait: float = WAIT,
    command: str | None = None,
) -> RunSummary:
    """Generate a dataset into a folder of shards, with its cards.

    Parameters
    ----------
    folder
        The folder to write. It appears under this name only when it is complete; until then it
        stands beside it as ``NAME.part``.
    dataset, config, seed, splits, workers, progress, command
        As for `synthprobe_data.generation.file.generate_file`.
    shards
        Number of files, shared out over the splits.
    force
        Replace the dataset in an existing folder.
    resume
        Resume a run that was killed: keep the shards that are complete and right. A folder
        that is complete is left as it is; in one that has shards damaged or missing, or no
        manifest, these are made again.
    scheduler
        Address of a Dask scheduler; its workers make the shards instead of processes of this
        machine, and write them to the same folder.
    wait
        Seconds to wait for a worker of the Dask cluster while it has none.
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
    if not 0 < wait < float("inf"):
        raise SynthprobeError(f"scheduler_wait is {wait}: it must be a number of seconds above 0.")
    plans = plan_shards(splits, shards, dataset.together)
    rows = sum(splits.values())
    default = default_workers(decoded_bytes(columns_of(dataset, config), rows))
    run = FolderRun(
        dataset=dataset,
        config=config,
        seed=seed,
        splits=splits,
        plans=plans,
        workers=min(workers or default, len(plans)),
        scheduler=scheduler,
        wait=wait,
        progress=progress,
    )
    target = at_end_of_links(folder)
    if target.name:
        heal(target)
    if resume and is_damaged_folder(target, dataset, config, seed, plans):
        with held_folder(target):
            manifest, new = run.make(target, resume=True)
            set_manifest_and_cards_right(target, manifest, command)
        seconds = time.perf_counter() - started
    else:
        check_folder(target, force=force)
        say_what_to_expect(dataset, config, splits, progress=progress)
        with held_part(target, new=not (force or resume)) as part, _removed_if_empty(part):
            _clear(part, plans if resume else [])
            manifest, new = run.make(part, resume=resume)
            write_text(part / MANIFEST, manifest.to_json())
            seconds = time.perf_counter() - started
            here = scheduler is None and len(new) == len(plans)  # all of it, on this machine
            write_cards(
                part,
                command=command,
                seconds=seconds if here else None,
                workers=run.workers if here else None,
                force=True,
                made=len(new) == len(plans),
                hashes=manifest.hashes,
            )
            put_in_place(part, target)
    return RunSummary(
        path=folder,
        rows=rows,
        content_digest=manifest.content_digest,
        workers=run.workers,
        seconds=seconds,
    )


def set_manifest_and_cards_right(folder: Path, manifest: Manifest, command: str | None) -> None:
    """Write the manifest and the cards of a folder, unless they say just this."""
    path, text = folder / MANIFEST, manifest.to_json()
    if not path.is_file() or path.read_bytes() != text.encode():
        write_text(path, text)
    if not cards_are_right(folder, manifest.content_digest, manifest.hashes):
        write_cards(folder, command=command, keep=True, hashes=manifest.hashes)


def make_shard(
    folder: Path,
    dataset: Dataset,
    config: Config,
    seed: int,
    shard: ShardPlan,
    resume: bool,
    expected: str | None = None,
) -> MadeShard:
    """Make one shard, or keep it if a run before has made it: ``resume`` if it is safe to open.

    `SynthprobeError` if its content digest is not the ``expected`` one; then what was there
    before stays.
    """
    path = folder / shard.file
    if resume:
        trust(path)  # who asks for it has validated it
        kept = digests_if_complete(path, dataset, config, seed=seed, **shard.span)
        if kept is not None and expected in (None, digest_of_rows(kept)):
            return MadeShard(_entry(path, shard, kept), kept, new=False)
    columns = columns_of(dataset, config)
    tasks = list(plan(columns, {shard.split: shard.rows}, index_start=shard.index_start))
    parts = []
    # Another worker may still be at it, if a cluster has taken that one for lost.
    with new_file(path, force=True, alone=False) as file:
        writer = ShardWriter(file, columns, shard.rows)
        for block in packed_blocks(dataset, config, columns, seed, tasks, workers=1):
            writer.write(block)
            parts.append(block.digests)
        found = writer.finish(dataset, config, seed=seed, **shard.span)
        if expected not in (None, found):
            raise SynthprobeError(
                f"{path} cannot be made again: with the settings that are stated its content "
                f"digest is {found}, not {expected}."
            )
    digests = b"".join(parts)
    return MadeShard(_entry(path, shard, digests), digests, new=True)


def _entry(path: Path, shard: ShardPlan, digests: bytes) -> ShardEntry:
    return describe_shard(
        path,
        split=shard.split,
        index_start=shard.index_start,
        rows=shard.rows,
        content_digest=digest_of_rows(digests),
    )


def _clear(part: Path, plans: list[ShardPlan]) -> None:
    """Remove what a killed run has left, but for the shards that are planned."""
    kept = {shard.file for shard in plans}
    try:
        found = list(part.iterdir())
        for path in found:
            if path.is_dir() or not _OF_A_RUN.match(path.name):
                raise SynthprobeError(f"{part} is in the way: {path.name} in it is of no run.")
        for path in found:
            if path.name not in kept:
                path.unlink()
    except OSError as error:
        raise SynthprobeError(f"{part} cannot be written to: {error.strerror}.") from error


@contextlib.contextmanager
def _removed_if_empty(part: Path) -> Iterator[None]:
    """Leave no empty folder behind when a run fails before its first shard."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            part.rmdir()
        raise
