"""Checkpoints: written under a temporary name and renamed, and read without running any code."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import torch
from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models.data.source import DataFacts
from synthprobe_models.files import FolderError, replaced
from synthprobe_models.training.checkpoint_guard import (
    check_options,
    check_parts,
    check_shapes,
    check_stored,
)
from synthprobe_models.training.settings import TrainSettings

FORMAT: Final = 1
_TAKEN_OVER: Final = "assign_to_params_buffers"
"""What lets PyTorch take the tensors of a file, and not their values."""
MOST: Final = 2**40
"""More epochs, steps of an epoch or seconds than any run has."""
_KEYS: Final = {
    "synthprobe_checkpoint": int,
    "settings": str,
    "data": str,
    "epoch": int,
    "step": int,
    "loss_sum": float,
    "seconds": float,
    "model": dict,
    "optimizer": dict,
    "schedule": dict,
    "random": dict,
}


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A run, all of it, between two steps."""

    settings: TrainSettings
    data: DataFacts
    epoch: int
    step: int
    """Steps of the epoch that are done."""
    loss_sum: float
    """The losses of these steps."""
    seconds: float
    """Time spent on the run so far."""
    model: Mapping[str, Any]
    optimizer: Mapping[str, Any]
    schedule: Mapping[str, Any]
    random: Mapping[str, torch.Tensor]
    """The states of the random generators, by device and process."""
    made_by: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """As `synthprobe_models.training.provenance.provenance` says; older checkpoints do not."""

    def save(self, path: Path) -> None:
        """Write it; an older checkpoint stays until the new one is complete."""
        content = {
            "synthprobe_checkpoint": FORMAT,
            "settings": json.dumps(self.settings.to_dict()),
            "data": json.dumps(self.data.to_dict()),
            "made_by": json.dumps(dict(self.made_by)),
            **{
                field.name: getattr(self, field.name)
                for field in dataclasses.fields(self)
                if field.name not in ("settings", "data", "made_by")
            },
        }
        with replaced(path) as part, open(part, "wb") as file:
            output = _Output(file)
            torch.save(content, cast(BinaryIO, output))
            output.check()


class _Output:
    """A file for `torch.save`, which can end the process where it meets a full disk.

    What goes wrong is kept until all is said to be written.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._failure: OSError | None = None

    def write(self, content: bytes | memoryview) -> int:
        """Write, unless something has gone wrong already."""
        if self._failure is None:
            try:
                self._file.write(content)
            except OSError as error:
                self._failure = error
        return len(content)

    def flush(self) -> None:
        """What PyTorch calls at the end; `check` says how that went."""

    def check(self) -> None:
        """Raise the `OSError` that was met."""
        if self._failure is not None:
            raise self._failure
        self._file.flush()


UNREADABLE: Final = (
    RuntimeError,
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    LookupError,
    zipfile.BadZipFile,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
    AssertionError,
)
"""What torch raises for files that are no checkpoints."""


def load_checkpoint(path: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """Read a checkpoint; `SynthprobeError` for any other file."""
    path = Path(path)
    if not path.is_file():
        raise FolderError(f"there is no file {path}.")
    foreign = FolderError(f"{path} is not a checkpoint of synthprobe, or it is damaged.")
    try:
        check_stored(path)
        content = torch.load(path, map_location=device, weights_only=True)
        check_parts(content)
    except OSError as error:
        raise FolderError(f"{path} could not be read: {error.strerror}.") from error
    except UNREADABLE as error:
        raise foreign from error
    if not isinstance(content, dict) or any(
        not isinstance(content.get(key), kind) for key, kind in _KEYS.items()
    ):
        raise foreign
    if not (0 <= content["epoch"] <= MOST and 0 <= content["step"] <= MOST):
        raise foreign
    if not (0 <= content["seconds"] <= MOST and math.isfinite(content["loss_sum"])):
        raise foreign
    if content.pop("synthprobe_checkpoint") != FORMAT:
        raise FolderError(f"{path} is a checkpoint of another version of synthprobe.")
    try:
        content["settings"] = TrainSettings.from_dict(json.loads(content["settings"]))
        content["made_by"] = _mapping(json.loads(content.get("made_by", "{}")))
        content["data"] = DataFacts.from_dict(json.loads(content["data"]))
        return Checkpoint(**content)
    except (*UNREADABLE, SynthprobeError) as error:
        raise foreign from error


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{type(value).__name__} where names with values should be")
    return value


def check_fitting(saved: Checkpoint, build: Callable[[], nn.Module]) -> None:
    """Raise `FolderError` if weights are not those of the network that settings describe.

    Built from the settings of somebody else, a network could take all memory: so it is first built
    without any.

    Parameters
    ----------
    saved
        The checkpoint.
    build
        Builds its network.
    """
    with fitting_checkpoint(saved.settings.name):
        check_options(saved.settings.options, saved.model)
    try:
        with torch.device("meta"):
            network = build()
    except (SynthprobeError, NotImplementedError):
        return  # it looks at numbers while it is built, or cannot be built: that is said later
    with fitting_checkpoint(saved.settings.name):
        check_shapes(network, saved.model)


def load_weights(network: nn.Module, saved: Checkpoint) -> None:
    """Give a network the weights of a checkpoint; `SynthprobeError` if they are of another one."""
    with fitting_checkpoint(saved.settings.name):
        check_shapes(network, saved.model)
        network.load_state_dict(_copied(saved.model))


def _copied(model: Mapping[str, Any]) -> dict[str, Any]:
    """Weights that are copied into a network, whatever the file says of them."""
    state = OrderedDict(model)
    facts = getattr(model, "_metadata", {})
    versions = {
        name: {key: value for key, value in of_module.items() if key != _TAKEN_OVER}
        for name, of_module in facts.items()
    }
    # PyTorch looks for it here.
    state._metadata = versions  # type: ignore[attr-defined]
    return state


@contextlib.contextmanager
def fitting_checkpoint(name: str) -> Iterator[None]:
    """Say in one sentence that a checkpoint is of another network."""
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise
    except UNREADABLE as error:
        raise FolderError(f"the checkpoint does not fit {name} as it is built now.") from error
