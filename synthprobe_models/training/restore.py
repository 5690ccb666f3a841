"""The network of a checkpoint, and what it can be given."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models.data.torch_datasets import ShardDataset
from synthprobe_models.plugins import load_timm
from synthprobe_models.probes import find_probe
from synthprobe_models.registry import NETWORKS, STRUCTURES
from synthprobe_models.training.checkpoint import Checkpoint, check_fitting, load_weights
from synthprobe_models.training.errors import clear_errors, out_of_memory
from synthprobe_models.training.trainer import build_network

_FIRST_WEIGHTS: Final = ("pretrained", "checkpoint_path")
"""Options of timm that name weights to begin with."""


def check_known(saved: Checkpoint) -> None:
    """Raise `SynthprobeError` that names the file of a structure that is not known here.

    The file is only named: a run folder may come from anybody, and loading a file runs its code.
    """
    name, where = saved.settings.name, saved.made_by.get("load")
    load_timm(name)
    if name in STRUCTURES or name in NETWORKS or not isinstance(where, str):
        return
    if where.endswith(".py") and not Path(where).is_file():
        raise SynthprobeError(
            f"{name!r} was loaded from {where!r}, which is not there: name the file that has it "
            f"with --load."
        )
    raise SynthprobeError(f"{name!r} was loaded from {where!r}: add --load {where!r}.")


def restored(saved: Checkpoint) -> nn.Module:
    """The network of a checkpoint, with its weights, and so without those that it began with."""
    chosen = saved.settings.options.items()
    options = {name: value for name, value in chosen if name not in _FIRST_WEIGHTS}
    settings = dataclasses.replace(saved.settings, options=options)
    check_fitting(saved, lambda: build_network(settings, saved.data))
    with clear_errors():
        network = build_network(settings, saved.data)
    load_weights(network, saved)
    return network


def check_inputs(saved: Checkpoint, samples: ShardDataset, on: str | Path) -> None:
    """Raise `SynthprobeError` if a network cannot be given these samples, whatever their sizes."""
    probe = find_probe(samples.dataset)
    if saved.data.dataset not in (probe.trained_on or (probe.name,)):
        raise SynthprobeError(
            f"{on} is a {samples.dataset} dataset: the network was trained on {saved.data.dataset}."
        )
    if not len(samples):
        raise SynthprobeError(f"{on} has no samples in this split.")
    sample = samples[0]
    for what, here, there in (
        ("inputs", sample[probe.input].shape[0], saved.data.input_shape[0]),
        ("outputs", sample["target"].shape[0], saved.data.outputs),
    ):
        if here != there:
            raise SynthprobeError(
                f"{on} has {what} of {here} channels: the network was trained with {there}."
            )


def other_scale(saved: Checkpoint, samples: ShardDataset) -> str | None:
    """Why what a network gives is on another scale than these samples, if it is."""
    try:
        find_probe(samples.dataset).check_same_scale(saved.data.config, samples.config)
    except SynthprobeError as error:
        return f"the file {error}"
    return None


@contextmanager
def tied_to_positions(saved: Checkpoint, samples: ShardDataset, on: str | Path) -> Iterator[None]:
    """Say in one sentence that a network cannot be given pictures or strips of another size."""
    shape = tuple(samples[0][find_probe(samples.dataset).input].shape)
    try:
        yield
    except Exception as error:  # networks of others say it in any way
        if shape == saved.data.input_shape or out_of_memory(error):
            raise
        there, here = (" x ".join(map(str, s[1:])) for s in (saved.data.input_shape, shape))
        raise SynthprobeError(
            f"{on} has samples of {here} positions: {saved.settings.name} is tied to the {there} "
            f"that it was trained with."
        ) from error
