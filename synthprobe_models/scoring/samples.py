"""The samples that predictions are for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthprobe_data import Config, SynthprobeError, open_dataset
from synthprobe_models.data.torch_datasets import ShardDataset
from synthprobe_models.probes import find_probe
from synthprobe_models.probes.probe import Probe


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One split of a file or a folder of shards, and what it says about itself."""

    path: Path
    split: str
    samples: ShardDataset
    probe: Probe
    version: str
    digest: str
    seed: int
    start: int
    """The index, within the whole split, of the first sample that is here."""

    @property
    def config(self) -> Config:
        """The settings of the samples."""
        return self.samples.config

    def facts(self) -> dict[str, Any]:
        """What decides these samples, as plain JSON values."""
        return {
            "dataset": self.samples.dataset,
            "version": self.version,
            "config": self.config.to_dict(),
            "seed": self.seed,
            "split": self.split,
            "content_digest": self.digest,
        }


def open_scored(on: str | Path, split: str) -> Scored:
    """Open a split to score predictions on; `SynthprobeError` if it has no samples."""
    samples = ShardDataset(on, split)
    if not len(samples):
        raise SynthprobeError(f"{on} has no samples in this split.")
    with open_dataset(on) as data:
        return Scored(
            path=Path(on),
            split=split,
            samples=samples,
            probe=find_probe(samples.dataset),
            version=data.version,
            digest=data.content_digest,
            seed=data.seed,
            start=data[split].index_start,
        )


def target_shape(samples: ShardDataset) -> tuple[int, ...]:
    """The shape of what a network must find for one sample: channels and positions."""
    return tuple(samples[0]["target"].shape)


def row_shape(samples: ShardDataset) -> tuple[int, ...]:
    """The shape of a row of predictions: positions, after the channels if there are several."""
    channels, *positions = target_shape(samples)
    return tuple(positions) if channels == 1 else (channels, *positions)
