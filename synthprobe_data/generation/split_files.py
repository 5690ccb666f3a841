"""A run into one file for each split: what other programs read rightly.

For Hugging Face ``datasets``, and for most others, a file belongs to one split. A file with two is
taken for one split as a whole, with the test rows among those of the training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from synthprobe_data.atomic.files import check_target
from synthprobe_data.cards.facts import SPLIT_NAME
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.file import (
    RunSummary,
    checked_splits,
    generate_file,
    say_what_to_expect,
)
from synthprobe_data.shards.card_paths import card_paths

_SUFFIXES: Final = (".h5", ".hdf5")


def split_path(path: str | Path, split: str) -> Path:
    """The file of one split: ``rde.train.h5`` for ``rde.h5``, or for ``rde``."""
    path = Path(path)
    if not SPLIT_NAME.fullmatch(split):  # files may be untrusted, and it goes into a path
        raise SynthprobeError(f"the split {split[:40]!r} cannot be part of the name of a file.")
    card_paths(path, folder=False)  # refuses what is no name of a file
    if path.suffix in _SUFFIXES:
        return path.with_name(f"{path.stem}.{split}{path.suffix}")
    return path.with_name(f"{path.name}.{split}{_SUFFIXES[0]}")


def check_targets(path: str | Path, splits: Iterable[str], *, force: bool) -> None:
    """Raise `SynthprobeError` if one of the files, or of their cards, cannot be written."""
    for split in splits:
        file = split_path(path, split)
        for target in (file, *card_paths(file, folder=False).all()):
            check_target(target, force=force)


def generate_split_files(
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
    command: str | None = None,
) -> list[RunSummary]:
    """Generate a dataset into one HDF5 file for each split, each with its cards.

    The samples are those of one file with all splits.

    Parameters
    ----------
    path
        The name without a split: for ``rde.h5`` this writes ``rde.train.h5`` and ``rde.test.h5``.
        Each appears under its name only when it is complete.
    dataset, config, seed, splits, workers, progress, command
        As for `synthprobe_data.generation.file.generate_file`.
    force
        Replace existing files. Without it, nothing is made if one of them exists.
    resume
        Keep those files that are complete and have just these samples.
    """
    config = dataset.config() if config is None else config
    splits = checked_splits(dataset, config, splits)
    if not resume:
        check_targets(path, splits, force=force)
    if not resume or not all(split_path(path, split).exists() for split in splits):
        say_what_to_expect(dataset, config, splits, progress=progress)
    return [
        generate_file(
            split_path(path, split),
            dataset,
            config,
            seed=seed,
            splits={split: size},
            workers=workers,
            force=force,
            resume=resume,
            progress=progress,
            command=command,
            look_ahead=False,
        )
        for split, size in splits.items()
    ]
