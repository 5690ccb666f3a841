"""The settings of a training run, and the names of the presets that they may start from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from synthprobe_data import Config, SynthprobeError, option

PRESET_NAMES: Final = ("quick", "mini", "paper")
TABLE_PRESETS: Final = ("mini", "midi", "paper")
"""Those that the tables of the paper are made with."""
PROFILE_PRESETS: Final = ("quick", "mini")
"""Those that profiles are made with."""
PRECISIONS: Final = ("float32", "bfloat16")

_NAMES: Final = ("name", "probe", "optimizer", "schedule", "loss")
_DECIDED: Final[Mapping[str, Mapping[str, str]]] = {
    "options": {},
    "optimizer_options": {
        "lr": "it is the setting rate",
        "weight_decay": "it is a setting of its own",
        "name": "it is the setting optimizer",
        "parameters": "they are those of the network",
        "params": "they are those of the network",
    },
    "schedule_options": {
        "steps": "the data and the epochs decide",
        "name": "it is the setting schedule",
        "optimizer": "it is a setting of its own",
    },
    "loss_options": {},
    "augmentation": {},
}
"""By the settings that are options of something: names that they cannot have, and why."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings(Config):
    """All that the weights at the end of a run depend on.

    Parameters
    ----------
    name
        The structure or the network.
    probe
        The probe that it is trained on.
    epochs, batch, rate
        Passes over the training samples, samples in a step, and the highest learning rate.
    optimizer, schedule, loss
        By their names.
    weight_decay
        Decoupled from the gradient for ``paper``, ``ranger21``, ``adamw`` and ``notes-adamw``, and
        added to it by the other optimisers.
    width
        Channels of the network; the probe's own by default.
    frame
        What the structure is put into, of those that the probe has; its own by default.
    down_samplings
        How many times a U-Net halves the picture.
    added_hidden
        Hidden channels that each scale of a U-Net has more than by its width, or fewer, so that its
        parameters match those of another network.
    head_bias
        The bias of the last layer before training, for U-Nets and stacks; drawn like the weights
        by default. Losses that take a logarithm say little of predictions about 0, with which
        networks begin otherwise.
    queries
        The share of positions, drawn anew for every step, at which the loss is computed; for
        structures whose queries do not depend on one another. Keys and values see all positions.
    samples
        How many training samples; all by default. With a stream, the samples of an epoch.
    seed
        Of the initial weights, the order of the samples and all other draws.
    precision
        Of the forward pass.
    options
        Options of the structure.
    stochastic_depth
        In training, the probability that a sample skips the last residual branch with a LayerScale;
        that of the branches before it grows evenly from 0.
    augmentation
        What is done to the samples, as far as their answers stay right.
    optimizer_options, schedule_options, loss_options
        Options of the optimiser, such as the parts of ``paper``, of the schedule, and of the loss,
        such as ``weight`` of ``two-task``, the part of the depth.
    """

    name: str
    probe: str
    epochs: int = option(50, 1, 100_000, "passes over the training samples")
    batch: int = option(32, 1, 65_536, "samples in a step")
    rate: float = option(5e-3, 1e-9, 100.0, "highest learning rate")
    optimizer: str = "paper"
    schedule: str = "ranger21"
    loss: str = "mse"
    frame: str | None = None
    weight_decay: float = option(5e-4, 0.0, 10.0, "weight decay")
    width: int | None = option(None, 1, 4096, "channels of the network")
    down_samplings: int | None = option(None, 0, 10, "how many times a U-Net halves the picture")
    added_hidden: int = option(0, -4096, 65_536, "hidden channels added to each scale of a U-Net")
    head_bias: float | None = option(None, -1e3, 1e3, "bias of the last layer before training")
    queries: float = option(1.0, 1e-4, 1.0, "share of positions at which the loss is computed")
    samples: int | None = option(None, 1, 2**40, "training samples to use (all)")
    seed: int = option(0, 0, 2**63 - 1, "seed of weights, order and all other draws (0)")
    stochastic_depth: float = option(0.0, 0.0, 0.99, "probability of skipping the last branch")
    precision: str = "float32"
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    optimizer_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    schedule_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    loss_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    augmentation: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def validate(self) -> None:
        """Raise `SynthprobeError` for the first setting that is wrong."""
        super().validate()
        for name in _NAMES:
            if not isinstance(getattr(self, name), str):
                raise SynthprobeError(f"{name} is {getattr(self, name)!r}: it must be a name.")
        if not isinstance(self.frame, str | None):
            raise SynthprobeError(f"frame is {self.frame!r}: it must be a name.")
        if self.precision not in PRECISIONS:
            raise SynthprobeError(
                f"precision is {self.precision!r}: it must be one of {', '.join(PRECISIONS)}."
            )
        for name, decided in _DECIDED.items():
            given = getattr(self, name)
            if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
                raise SynthprobeError(f"{name} is {given!r}: it must be names with values.")
            for key in decided:
                if key in given:
                    raise SynthprobeError(f"{key} is not one of the {name}: {decided[key]}.")

    def same_as(self, saved: Mapping[str, Any] | None) -> bool:
        """Whether these are the settings that a run has saved.

        A setting that was not there yet when the run was begun has its default.
        """
        if not isinstance(saved, Mapping):
            return False
        mine = json.loads(json.dumps(self.to_dict()))
        defaults = TrainSettings(name=self.name, probe=self.probe).to_dict()
        return mine == {**defaults, **saved}
