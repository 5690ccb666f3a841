"""Samples for PyTorch: from a file or a folder of shards, or freshly generated without end."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Self

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from synthprobe_data import (
    DATASETS,
    Config,
    SynthprobeError,
    iter_samples,
    make_sample,
    open_dataset,
)
from synthprobe_models.probes import PROBES
from synthprobe_models.probes.probe import Arrays, Normalisation, Probe, Sample

BLOCK: Final = 32
"""So many consecutive indices of a stream are made by the same worker."""
_END: Final = 2**63 - 1  # one past the last index


def representation(dataset: str) -> Probe:
    """The probe that says how networks see a dataset; `SynthprobeError` if there is none."""
    if dataset not in PROBES:
        raise SynthprobeError(
            f"how networks see the dataset {dataset!r} is not known: take one of "
            f"{', '.join(PROBES)}, or name the columns to read."
        )
    return PROBES[dataset]


def normalisation_of(dataset: str, config: Config) -> Normalisation:
    """What the files of a dataset with this config say in their attribute ``normalisation``."""
    return DATASETS[dataset].normalisation(config)


def to_network(dataset: str, arrays: Arrays, normalisation: Normalisation) -> Sample:
    """Some samples as networks see them.

    The batches of a `DataLoader` over named columns may be given, too, after they are on the device
    where they are needed: workers then send a quarter of the bytes, and converting is done there.

    Parameters
    ----------
    dataset
        A name in `synthprobe_models.probes.PROBES`.
    arrays
        The arrays or tensors by name, with one row for each sample, as a file has them.
    normalisation
        As `normalisation_of` gives it, and the attribute of the datasets below.

    Returns
    -------
    dict
        The tensors by name, with one row for each sample, float32 but for ``masked``. For RDE,
        ``image`` is (n, 3, H, W) in [0, 1], and ``target`` (n, 1, H, W) is
        ``(rank + offset) / divisor``. For Centered Square, ``image`` and ``target`` are
        (n, 1, H, W), 0 or 1. For Color Code, ``input`` is (n, 3 + b, N): red, green and blue in
        [-1, 1], then the bits of the code, -1 or 1 and 0 where they are masked; ``target`` is
        (n, b, N), the bits at every position; ``masked`` is bool (n, N): where to find them.
    """
    return representation(dataset).convert(arrays, normalisation)


class ShardDataset(Dataset[Sample]):  # type: ignore[misc, unused-ignore]
    """The samples of one split of a file, or of a folder of shards.

    It may be given to the workers of a `DataLoader`, forked or spawned: each process opens the
    files for itself.

    Parameters
    ----------
    path
        The file or the folder.
    split
        One of the splits that it has.
    columns
        The arrays to give as they stand in the file, under their names. By default a sample is what
        networks see, by `to_network`.
    transform
        Called with each sample; what it returns is given instead.
    trusted
        As for `synthprobe_data.open_dataset`.
    """

    def __init__(
        self,
        path: str | Path,
        split: str = "train",
        columns: Sequence[str] | None = None,
        transform: Callable[[Sample], Sample] | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        data = open_dataset(path, trusted=trusted)
        self.dataset: str = data.dataset.name
        self.config: Config = data.config
        self.seed: int = data.seed
        self.columns = None if columns is None else _checked_columns(columns)
        self._beside: tuple[str, ...] = ()
        self.transform = transform
        self._data = data
        self._process = os.getpid()
        self._split = data[split]
        self.normalisation = normalisation_of(self.dataset, data.config)
        self._names = self.columns or representation(self.dataset).columns
        self._split.read([], self._names)  # a name that is wrong is said here, not in a worker
        data.close()  # so that a worker that is forked now inherits nothing

    def beside(self, names: Sequence[str]) -> Self:
        """The same samples, with these arrays beside what else they have, as the file has them."""
        other = copy.copy(self)
        other._beside = _checked_columns(names)
        other._split.read([], other._beside)
        other._data.close()
        return other

    def __len__(self) -> int:
        return len(self._split)

    def all(self) -> Sample:
        """Every sample of the split at once, with one row for each."""
        rows = self.__getitems__(range(len(self)))
        return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}

    def __getitem__(self, index: int) -> Sample:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """Several samples at once, for which a `DataLoader` asks."""
        if self._process != os.getpid():
            # HDF5 would go on with a handle that came through a fork, as it knows the file.
            self._data.close()
            self._process = os.getpid()
        numbers = [int(index) for index in indices]
        arrays = self._split.read(numbers, (*self._names, *self._beside))
        as_they_stand = self.columns or self._beside
        tensors = {name: torch.from_numpy(arrays[name]) for name in as_they_stand}
        if self.columns is None:
            tensors |= to_network(self.dataset, arrays, self.normalisation)
        samples = _rows(tensors)
        return samples if self.transform is None else [self.transform(s) for s in samples]


class StreamDataset(IterableDataset[Sample]):  # type: ignore[misc, unused-ignore]
    """Fresh samples, as networks see them, made while they are asked for.

    The same arguments give the same samples, those of `synthprobe_data.iter_samples`, from the
    start whenever it is iterated. With n workers, each makes every n-th block of `BLOCK`
    indices; together they give each index once, and with batches of `BLOCK` in the order of the
    indices. The processes of a distributed run take seeds of their own.

    Parameters
    ----------
    dataset
        A name in `synthprobe_data.DATASETS`.
    split
        Any name; one that no file has, such as the default, shares no sample with any file. Of
        Centered Square there are ``"train"`` and ``"test"`` only.
    seed
        Any whole number from 0 to 2**64 - 1.
    config
        The settings; the canonical ones by default.
    start
        Index of the first sample.
    length
        How many samples; by default without end, or to the end of the split if it has one.
    """

    def __init__(
        self,
        dataset: str = "rde",
        split: str = "stream",
        seed: int = 0,
        config: Config | None = None,
        start: int = 0,
        length: int | None = None,
    ) -> None:
        if not isinstance(split, str):
            raise SynthprobeError(f"split is {split!r}: it must be a name.")
        _check_whole("start", start, _END - 1)
        _check_whole("length", 0 if length is None else length, _END - start)
        # Made here, so that whatever is wrong is said here and not in a worker.
        make_sample(dataset, index=start, split=split, seed=seed, config=config)
        self.dataset = dataset
        self.split = split
        self.seed = seed
        self.config: Config = DATASETS[dataset].config() if config is None else config
        self.start = start
        end = DATASETS[dataset].end(self.config, split)
        if end is not None:
            length = end - start if length is None else length
            _check_whole("length", length, end - start)
        self.length = length
        self._names = representation(dataset).columns
        self._beside: tuple[str, ...] = ()
        self.normalisation = normalisation_of(dataset, self.config)

    def beside(self, names: Sequence[str]) -> Self:
        """The same samples, with these arrays beside what networks see, as files have them."""
        other = copy.copy(self)
        other._beside = _checked_columns(names)
        return other

    def __iter__(self) -> Iterator[Sample]:
        worker = get_worker_info()
        turn, turns = (0, 1) if worker is None else (worker.id, worker.num_workers)
        end = _END if self.length is None else self.start + self.length
        for first in range(self.start + turn * BLOCK, end, turns * BLOCK):
            yield from self._block(first, min(first + BLOCK, end))

    def at(self, indices: Sequence[int]) -> list[Sample]:
        """The samples with these indices, in any order."""
        return [sample for index in indices for sample in self._block(index, index + 1)]

    def _block(self, start: int, stop: int) -> list[Sample]:
        samples = list(
            iter_samples(
                self.dataset,
                split=self.split,
                seed=self.seed,
                config=self.config,
                start=start,
                stop=stop,
            )
        )
        names = (*self._names, *self._beside)
        arrays = {name: np.stack([sample[name] for sample in samples]) for name in names}
        beside = {name: torch.from_numpy(arrays[name]) for name in self._beside}
        return _rows(beside | to_network(self.dataset, arrays, self.normalisation))


def _rows(tensors: Sample) -> list[Sample]:
    """The samples of a block, one by one."""
    columns = (tensor.unbind() for tensor in tensors.values())
    return [dict(zip(tensors, row, strict=True)) for row in zip(*columns, strict=True)]


def _checked_columns(columns: Sequence[str]) -> tuple[str, ...]:
    if isinstance(columns, str) or not columns:
        raise SynthprobeError(f"columns is {columns!r}: it must be a list of names of arrays.")
    return tuple(columns)


def _check_whole(name: str, value: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= high:
        raise SynthprobeError(f"{name} is {value!r}: it must be a whole number from 0 to {high}.")
