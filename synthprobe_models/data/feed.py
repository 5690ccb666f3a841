"""The batches of a training run, in an order that its seed decides and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from synthprobe_data import DATASETS, SynthprobeError
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset
from synthprobe_models.probes.probe import Sample

_ORDER: Final = 0x6F72646572  # "order": no other draw of a run uses this stream
_READERS: Final = 0x72656164  # "read": nor this one


@dataclass(frozen=True)
class RunStep:
    """Where a run stands: the epoch, and the steps of it that are done."""

    epoch: int = 0
    step: int = 0


@dataclass(frozen=True)
class BatchShare:
    """Which part of each batch a process is given: its number, and how many processes there are."""

    rank: int = 0
    world: int = 1


def stream(seed: int, purpose: int, at: RunStep) -> np.random.Generator:
    """The draws of a run for one purpose at one step, whatever was drawn before."""
    counter = [0, 0, at.step, at.epoch]
    return np.random.Generator(np.random.Philox(key=[seed, purpose], counter=counter))


class Feed:
    """The training samples, epoch after epoch.

    Parameters
    ----------
    source
        The samples of a file, or an endless stream.
    samples
        How many samples an epoch has; all of a file by default.
    batch
        Samples in a step, over all processes together.
    seed
        Decides the order.
    workers
        Processes that read or generate ahead.
    share
        Which part of each batch this process is given.
    """

    def __init__(
        self,
        source: ShardDataset | StreamDataset,
        *,
        samples: int | None,
        batch: int,
        seed: int,
        workers: int = 0,
        share: BatchShare | None = None,
    ) -> None:
        self.share = BatchShare() if share is None else share
        self._endless = isinstance(source, StreamDataset)
        self._together = DATASETS[source.dataset].together
        self._data: Dataset[Sample] = (
            _Fresh(source) if isinstance(source, StreamDataset) else source
        )
        self.samples = _checked_samples(source, samples)
        self.batch = batch
        self.seed = seed
        self.workers = workers

    @property
    def steps(self) -> int:
        """The steps of an epoch."""
        return -(-self.samples // self.batch)

    def epoch(self, at: RunStep) -> Iterator[tuple[Sample, int]]:
        """The batches of an epoch that are left, each with its size over all processes."""
        order = self._order(at.epoch)
        batches = [
            order[first : first + self.batch]
            for first in range(at.step * self.batch, self.samples, self.batch)
        ]
        mine = [batch[self.share.rank :: self.share.world] for batch in batches]
        loader = DataLoader(
            self._data,
            batch_sampler=mine,
            num_workers=self.workers,
            collate_fn=_stack,
            generator=self._generator(at),
        )
        for batch, whole in zip(loader, batches, strict=True):
            yield batch, len(whole)

    def _generator(self, at: RunStep) -> torch.Generator:
        """What the loader seeds its workers from.

        It draws, workers or not, each time that it is begun. From torch's own generator it would
        shift the draws of a network by one wherever a run is resumed.
        """
        drawn = stream(self.seed, _READERS, at).integers(2**63)
        return torch.Generator().manual_seed(int(drawn))

    def _order(self, epoch: int) -> list[int]:
        if self._endless:
            return list(range(epoch * self.samples, (epoch + 1) * self.samples))
        # Samples that belong together, as twins do, stay side by side.
        groups = len(self._data) // self._together  # type: ignore[arg-type]
        drawn = stream(self.seed, _ORDER, RunStep(epoch)).permutation(groups)
        order = drawn[:, None] * self._together + np.arange(self._together)
        return order.ravel()[: self.samples].tolist()


class _Fresh(Dataset[Sample]):  # type: ignore[misc, unused-ignore]
    """A stream, of which any sample can be asked for."""

    def __init__(self, stream: StreamDataset) -> None:
        self.stream = stream

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """The samples with these indices, for which a `DataLoader` asks."""
        return self.stream.at(indices)


def _stack(samples: list[Sample]) -> Sample:
    """One batch; of no samples, an empty one."""
    if not samples:
        return {}
    return {name: torch.stack([sample[name] for sample in samples]) for name in samples[0]}


def _checked_samples(source: ShardDataset | StreamDataset, samples: int | None) -> int:
    if isinstance(source, StreamDataset):
        if samples is None:
            raise SynthprobeError("a stream has no end: say how many samples an epoch has.")
        return samples
    if len(source) == 0:
        raise SynthprobeError("the training split is empty.")
    if samples is not None and samples > len(source):
        raise SynthprobeError(f"samples is {samples}: the training split has {len(source)}.")
    return len(source) if samples is None else samples
