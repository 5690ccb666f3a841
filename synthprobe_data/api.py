"""Samples and files from Python: the same as from the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray

from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.file import RunSummary, generate_file
from synthprobe_data.random import check_seed
from synthprobe_data.registry import find_dataset

Sample = dict[str, NDArray[Any]]
"""One row of a file: the arrays by name."""

_ROWS_AT_ONCE: Final = 32


def make_sample(
    dataset: str, *, index: int, split: str = "train", seed: int = 0, config: Config | None = None
) -> Sample:
    """One sample: a function of dataset, config, seed, split and index, and of nothing else.

    Parameters
    ----------
    dataset
        A name in `synthprobe_data.DATASETS`.
    index
        Which sample of the split, from 0.
    split
        Any name; the files have ``"train"``, ``"test"`` and, if asked for, ``"validation"``;
        Centered Square has the first two only.
    seed
        Any whole number from 0 to 2**64 - 1.
    config
        The settings; the canonical ones by default.

    Returns
    -------
    dict
        The arrays by name, as in a row of the file.
    """
    return next(
        iter_samples(dataset, split=split, seed=seed, config=config, start=index, stop=index + 1)
    )


def iter_samples(
    dataset: str,
    *,
    split: str = "train",
    seed: int = 0,
    config: Config | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Iterator[Sample]:
    """The samples of a split from ``start`` up to ``stop``, or to the end, if there is one."""
    source = find_dataset(dataset)
    settings = source.config() if config is None else config
    _check_config(source, settings)
    source.check_new(settings)
    for name, value in (("index", start), ("stop", start if stop is None else stop)):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise SynthprobeError(f"{name} is {value!r}: it must be a whole number from 0.")
    check_seed(seed)
    end = source.end(settings, split)
    if end is not None:
        stop = max(start, end) if stop is None else stop
        if max(start, stop) > end:
            raise SynthprobeError(
                f"{split} of {dataset} ends after {end} samples with these settings: there is none "
                f"at {max(start, stop - 1)}."
            )
    return _iterate(source, settings, split, seed, start, stop)


def _iterate(
    source: Dataset, config: Config, split: str, seed: int, start: int, stop: int | None
) -> Iterator[Sample]:
    while stop is None or start < stop:
        count = _ROWS_AT_ONCE if stop is None else min(_ROWS_AT_ONCE, stop - start)
        block = source.generate_block(config, seed, split, start, count)
        for row in range(count):
            yield {name: column[row] for name, column in block.items()}
        start += count


def make_file(
    dataset: str,
    path: str | Path,
    *,
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
    splits: Mapping[str, int] | None = None,
    seed: int = 0,
    config: Config | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: bool = False,
    cards: bool = True,
) -> RunSummary:
    """Generate a dataset into one HDF5 file, with its cards beside it.

    Parameters
    ----------
    dataset
        A name in `synthprobe_data.DATASETS`.
    path
        The file to write. It appears under this name only when it is complete.
    train, validation, test
        Number of samples; the canonical ones by default. Every dataset that is drawn can have a
        validation split, which canonical files of most have not.
    splits
        The same for any splits that the dataset has, by name.
    seed
        Any whole number from 0 to 2**64 - 1.
    config
        The settings; the canonical ones by default.
    workers
        Worker processes; all cores by default.
    force
        Replace an existing file.
    progress
        Show a progress bar, or lines now and then where there is no terminal.
    cards
        Write the cards: ``NAME.md``, ``NAME.croissant.json`` and ``NAME.png``.
    """
    source = find_dataset(dataset)
    if config is not None:
        _check_config(source, config)
    sizes = source.split_sizes(source.config() if config is None else config)
    given = {"train": train, "validation": validation, "test": test, **(splits or {})}
    asked = {split: size for split, size in given.items() if size is not None}
    for split in asked.keys() - sizes.keys():
        raise SynthprobeError(f"{dataset} has no split {split!r}: it has {' and '.join(sizes)}.")
    return generate_file(
        path,
        source,
        config,
        seed=seed,
        splits={**sizes, **asked},
        workers=workers,
        force=force,
        progress=progress,
        cards=cards,
    )


def _check_config(source: Dataset, config: Config) -> None:
    if not isinstance(config, source.config):
        raise SynthprobeError(
            f"config is a {type(config).__name__}: the dataset {source.name} takes a "
            f"{source.config.__name__}."
        )
