"""A run into a suite: test splits of several settings in one folder, with one manifest and card."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthprobe_data.atomic.files import at_end_of_links, write_bytes, write_text
from synthprobe_data.atomic.folder import (
    MANIFEST,
    check_folder,
    heal,
    held_folder,
    held_part,
    put_in_place,
)
from synthprobe_data.cards.facts import file_sha256
from synthprobe_data.cards.suite import render_suite_card, suite_picture
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset, Member
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.file import checked_splits, generate_file, say_what_to_expect
from synthprobe_data.random import check_seed
from synthprobe_data.shards.suite import SuiteEntry, SuiteManifest, is_suite

SPLIT = "test"


@dataclass(frozen=True, kw_only=True)
class SuiteSummary:
    """What a run made."""

    path: Path
    manifest: SuiteManifest
    seconds: float


def generate_suite(
    folder: str | Path,
    dataset: Dataset,
    config: Config | None = None,
    *,
    samples: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    force: bool = False,
    resume: bool = False,
    progress: bool = False,
    command: str | None = None,
) -> SuiteSummary:
    """Generate the test splits of a suite into one folder.

    Parameters
    ----------
    folder
        The folder to write. It appears under this name only when it is complete; until then it
        stands beside it as ``NAME.part``.
    dataset
        One that declares a suite.
    config
        The settings that a network was trained with; the canonical ones by default. The other
        members follow from them.
    samples
        Of each member.
    seed, workers, progress, command
        As for `synthprobe_data.generation.file.generate_file`.
    force
        Replace the dataset in an existing folder.
    resume
        Resume a run that was killed, or make again what is damaged or missing in its result.
    """
    started = time.perf_counter()
    if dataset.suite is None:
        raise SynthprobeError(f"{dataset.name} has no suite.")
    config = dataset.config() if config is None else config
    members = dataset.suite.members(config)
    splits = {SPLIT: dataset.suite.samples if samples is None else samples}
    check_seed(seed)
    target = at_end_of_links(Path(folder))
    if target.name:
        heal(target)
    common: dict[str, Any] = {
        "seed": seed,
        "splits": splits,
        "workers": workers,
        "progress": progress,
        "cards": False,
        "look_ahead": False,
        "alone": False,  # this run holds the folder
        "resume": resume,
        "force": resume,  # what is there of a suite is its own: kept if it is right, or made again
    }

    def fill(where: Path) -> SuiteManifest:
        entries = []
        for name, member in members.items():
            path = where / f"{name}.h5"
            run = generate_file(path, dataset, member.config, **common)
            entries.append(_entry(name, member, path, run.rows, run.content_digest))
        manifest = SuiteManifest(
            dataset=dataset.name,
            version=dataset.version,
            seed=seed,
            split=SPLIT,
            members=entries,
        )
        write_text(where / MANIFEST, manifest.to_json())
        write_bytes(where / "samples.png", suite_picture(where, manifest))
        write_text(where / "README.md", render_suite_card(where, manifest, dataset, command))
        return manifest

    if resume and target.is_dir() and is_suite(target):
        with held_folder(target):
            manifest = fill(target)
    else:
        check_folder(target, force=force)
        for member in members.values():
            checked_splits(dataset, member.config, splits)
            say_what_to_expect(dataset, member.config, splits, progress=progress)
        with held_part(target, new=not (force or resume)) as part:
            expected = {f"{name}.h5" for name in members} if resume else set()
            for left in part.iterdir():
                if left.name not in expected and left.is_file():
                    left.unlink()
            manifest = fill(part)
            put_in_place(part, target)
    return SuiteSummary(path=Path(folder), manifest=manifest, seconds=time.perf_counter() - started)


def _entry(name: str, member: Member, path: Path, rows: int, digest: str) -> SuiteEntry:
    return SuiteEntry(
        name=name,
        meaning=member.meaning,
        config=member.config.to_dict(),
        rows=rows,
        bytes=path.stat().st_size,
        sha256=file_sha256(path),
        content_digest=digest,
    )
