"""Where the samples of a run come from: a file, a folder of shards, or an endless stream."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data import DATASETS, Config, SynthprobeError, open_dataset
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset, representation

STREAM: Final = "stream"
TEST_OF_STREAM: Final = 2_000
"""A run on a stream is tested on so many samples of the split ``test``."""
VALIDATION: Final = "validation"
VALIDATION_OF_STREAM: Final = 1_000
"""Choices are made by so many samples of the split ``validation``, if they are drawn for it."""
_MOST_POSITIONS: Final = 2**40
"""More than any network can be given."""


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """What a run was trained on."""

    dataset: str
    config: Config
    content: str
    """What decides the samples: the digest of the file, or how the stream is drawn."""
    input_shape: tuple[int, ...]
    """Channels and positions that a network is given."""
    outputs: int
    """Channels that it must find."""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        facts = dataclasses.asdict(self)
        return {**facts, "config": self.config.to_dict(), "input_shape": list(self.input_shape)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> DataFacts:
        """The inverse of `to_dict`."""
        config = DATASETS[facts["dataset"]].config.from_dict(facts["config"])
        shape = tuple(facts["input_shape"])
        for count in (*shape, facts["outputs"]):
            if not isinstance(count, int) or not 0 < count <= _MOST_POSITIONS:
                raise ValueError(f"{count!r} where a count should be")
        return cls(**{**facts, "config": config, "input_shape": shape})


@dataclass(frozen=True, kw_only=True)
class Source:
    """The training and the test samples of a run."""

    facts: DataFacts
    train: ShardDataset | StreamDataset
    test: ShardDataset | StreamDataset
    further: Mapping[str, ShardDataset] = dataclasses.field(default_factory=dict)
    """By a title: test samples with other settings, which the network may be unable to take."""
    validation: ShardDataset | StreamDataset | None = None
    """What choices are made by, so that the test samples stay unseen until the end."""
    choosing: bool = False
    """Whether a run is one of several to choose from: the test samples are then left alone."""

    def for_choices(self) -> Source:
        """The same samples for runs to choose from.

        A file without a split ``validation`` gets one from the stream that it was drawn from. Where
        nothing is drawn there is none, and choices are made by the training samples.
        """
        validation = self.validation
        if validation is None and DATASETS[self.facts.dataset].drawn:
            validation = StreamDataset(
                self.facts.dataset,
                split=VALIDATION,
                seed=self.test.seed,
                config=self.facts.config,
                length=VALIDATION_OF_STREAM,
            )
        return dataclasses.replace(self, validation=validation, choosing=True, further={})


def open_source(
    on: str | Path, *, probe: str | None = None, config: Config | None = None, seed: int = 0
) -> Source:
    """Open what a run is to be trained on.

    Parameters
    ----------
    on
        A file or a folder of shards with the splits ``train`` and ``test``, or ``"stream"``.
    probe
        The dataset that it must be; a stream needs it.
    config, seed
        Of a stream.
    """
    train: ShardDataset | StreamDataset
    test: ShardDataset | StreamDataset
    validation: ShardDataset | StreamDataset | None = None
    if str(on) == STREAM:
        if probe is None:
            raise SynthprobeError(
                f"a stream needs the name of a dataset, --probe: take one of "
                f"{', '.join(name for name, dataset in DATASETS.items() if dataset.drawn)}."
            )
        if probe in DATASETS and not DATASETS[probe].drawn:
            raise SynthprobeError(
                f"{probe} is finite, so there is no stream of it: generate a file and name that."
            )
        train = StreamDataset(probe, seed=seed, config=config)
        test = StreamDataset(probe, split="test", seed=seed, config=config, length=TEST_OF_STREAM)
        validation = StreamDataset(
            probe, split=VALIDATION, seed=seed, config=config, length=VALIDATION_OF_STREAM
        )
        content, example = f"stream with seed {seed}", train.at([0])[0]
    else:
        train, test = ShardDataset(on, "train"), ShardDataset(on, "test")
        if probe is not None and train.dataset != probe:
            raise SynthprobeError(f"{on} is a {train.dataset} dataset, not a {probe} one.")
        with open_dataset(on) as data:
            if not all(data.splits.values()):
                raise SynthprobeError(f"{on} has an empty split: train and test need samples.")
            if VALIDATION in data.splits:
                validation = ShardDataset(on, VALIDATION)
            content, example = data.content_digest, train[0]
    facts = DataFacts(
        dataset=train.dataset,
        config=train.config,
        content=content,
        input_shape=tuple(example[representation(train.dataset).input].shape),
        outputs=int(example["target"].shape[0]),
    )
    return Source(facts=facts, train=train, test=test, validation=validation)
