"""Trained weights as others keep them: ``model.safetensors``, ``config.json`` and a model card.

Neither file can hold code. `load_exported` gives the network that was trained.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.data.source import VALIDATION, DataFacts
from synthprobe_models.files import FolderError, make_folder, plain_json, replaced, write_text
from synthprobe_models.networks.counting import count_parameters
from synthprobe_models.training.checkpoint import (
    MOST,
    UNREADABLE,
    Checkpoint,
    load_checkpoint,
)
from synthprobe_models.training.model_card import check_license, model_card
from synthprobe_models.training.restore import check_known, restored
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.settings import TrainSettings

WEIGHTS: Final = "model.safetensors"
CONFIG: Final = "config.json"
CARD: Final = "README.md"
VERSION: Final = 1
_MARK: Final = "synthprobe_export"
_MOST_BYTES: Final = 1_000_000
_KEYS: Final = {
    _MARK: int,
    "settings": dict,
    "data": dict,
    "epoch": int,
    "seconds": int | float,
    "weights_sha256": str,
    "made_by": dict,
}
_FIGURES: Final = (
    "parameters",
    "test_samples",
    "test",
    f"{VALIDATION}_samples",
    VALIDATION,
    "train_samples",
    "train",
    "torch",
    "machine",
)
"""Of a result: what goes with the weights. Commands stay behind: they have paths of a machine."""


def weights_file(path: str | Path) -> Path:
    """The file with the weights.

    Parameters
    ----------
    path
        That file, the folder of a run, or one that `export_run` wrote.
    """
    path = Path(path)
    if not path.is_dir():
        return path
    return path / WEIGHTS if is_exported(path) else RunFolder(path).checkpoint


def is_exported(folder: Path) -> bool:
    """Whether a folder looks like one that `export_run` wrote; it may be damaged."""
    return (folder / WEIGHTS).is_file() and _read_config(folder) is not None


def load_trained(path: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """Read a checkpoint or what was exported from one; `SynthprobeError` for anything else.

    Parameters
    ----------
    path
        As for `weights_file`.
    device
        Where the weights are put.
    """
    file = weights_file(path)
    if file.name == WEIGHTS:
        return _read_exported(file.parent, device)
    return load_checkpoint(file, device)


def load_exported(folder: str | Path, device: str | torch.device = "cpu") -> nn.Module:
    """The trained network of a folder that ``export`` or ``train --export`` wrote.

    No code of the folder is run. A structure of one's own must be known: import it first.

    Parameters
    ----------
    folder
        The folder.
    device
        Where the network computes.

    Returns
    -------
    torch.nn.Module
        In evaluation mode. It takes samples as `ShardDataset` and `to_network` give them, in
        batches.
    """
    saved = _read_exported(Path(folder), device)
    check_known(saved)
    return restored(saved).to(device).eval()


def export_run(
    path: str | Path, out: str | Path, *, force: bool = False, license_name: str = "mit"
) -> Path:
    """Write the weights of a run for others: ``model.safetensors``, ``config.json``, a model card.

    Parameters
    ----------
    path
        The folder of the run, or a checkpoint.
    out
        The folder to write.
    force
        Replace what was exported into it before.
    license_name
        The licence of the weights, as the Hub names it.

    Returns
    -------
    Path
        The folder.
    """
    tensors = _safetensors()
    check_license(license_name)
    file, out = weights_file(path), Path(out)
    if file.name == WEIGHTS:
        raise SynthprobeError(f"{file.parent} is exported already: copy the folder.")
    saved = load_checkpoint(file)
    check_known(saved)
    network = restored(saved)  # what nobody can load is not exported
    content = tensors.save(_plain(saved), metadata={"format": "pt"})
    facts = {
        _MARK: VERSION,
        "name": saved.settings.name,
        "settings": saved.settings.to_dict(),
        "data": saved.data.to_dict(),
        "epoch": saved.epoch,
        "seconds": saved.seconds,
        "weights_sha256": hashlib.sha256(content).hexdigest(),
        "made_by": _without_folders(saved.made_by),
        "result": _figures(file.parent, saved),
    }
    _make_room(out, force=force)
    with replaced(out / WEIGHTS) as part:
        part.write_bytes(content)
    text = model_card(saved, facts, parameters=count_parameters(network), license_name=license_name)
    write_text(out / CARD, text)
    # The last one: without it the folder is none.
    write_text(out / CONFIG, plain_json(facts, indent=2) + "\n")
    return out


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError as error:
        raise SynthprobeError(
            "weights are exported and read by safetensors: pip install safetensors."
        ) from error
    return safetensors.torch


def _plain(saved: Checkpoint) -> dict[str, Tensor]:
    """The weights, each with memory of its own, as the format asks for."""
    for name, value in saved.model.items():
        if not isinstance(value, Tensor):
            raise SynthprobeError(
                f"{saved.settings.name} keeps {name!r}, which is no tensor: it cannot be exported."
            )
    return {name: value.detach().cpu().clone().contiguous() for name, value in saved.model.items()}


def _without_folders(made_by: Mapping[str, Any]) -> dict[str, Any]:
    """What weights were made by, without the folders of a machine."""
    found = dict(made_by)
    if isinstance(found.get("load"), str):
        found["load"] = Path(found["load"]).name
    if isinstance(found.get("files"), Mapping):
        found["files"] = {Path(str(name)).name: value for name, value in found["files"].items()}
    return found


def _figures(folder: Path, saved: Checkpoint) -> dict[str, Any] | None:
    """What the run scored, if it is complete and these are its last weights."""
    result = RunFolder(folder).read_result()
    if result is None or not saved.settings.same_as(result["settings"]):
        return None
    if result["data"] != saved.data.to_dict() or saved.epoch != saved.settings.epochs:
        return None
    return {name: result[name] for name in _FIGURES if name in result}


def _make_room(out: Path, *, force: bool) -> None:
    """Have an empty folder, or with ``force`` one in which an export may be replaced."""
    if out.exists() and not out.is_dir():
        raise FolderError(f"{out} is a file: name a folder.")
    make_folder(out)
    if not any(out.iterdir()):
        return
    if not is_exported(out):
        raise FolderError(f"{out} is not empty and no export: take another folder.")
    if not force:
        raise FolderError(f"{out} exists and is left as it is: --force replaces it.")
    try:
        (out / CONFIG).unlink()
    except OSError as error:
        raise FolderError(f"{out} could not be replaced: {error.strerror}.") from error


def _read_config(folder: Path) -> dict[str, Any] | None:
    """The config of an export; ``None`` if there is none."""
    try:
        with open(folder / CONFIG, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
        facts = json.loads(text) if len(text) <= _MOST_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) and _MARK in facts else None


def _read_exported(folder: Path, device: str | torch.device) -> Checkpoint:
    """What an export has, as the checkpoint that it came from, without the state of training."""
    if not (folder / WEIGHTS).is_file():
        raise FolderError(f"there is no file {folder / WEIGHTS}.")
    facts = _read_config(folder)
    if facts is None or any(not isinstance(facts.get(key), kind) for key, kind in _KEYS.items()):
        raise FolderError(f"{folder} has no {CONFIG} of synthprobe, or it is damaged.")
    if facts[_MARK] != VERSION:
        raise FolderError(f"{folder} was exported by another version of synthprobe.")
    tensors = _safetensors()
    try:
        content = (folder / WEIGHTS).read_bytes()
    except OSError as error:
        raise FolderError(f"{folder / WEIGHTS} could not be read: {error.strerror}.") from error
    if hashlib.sha256(content).hexdigest() != facts["weights_sha256"]:
        raise FolderError(f"{folder / WEIGHTS} is damaged, or not that of the {CONFIG} beside it.")
    try:
        model = {name: value.to(device) for name, value in tensors.load(content).items()}
    except (*UNREADABLE, _damaged()) as error:
        raise FolderError(f"{folder / WEIGHTS} is no file of weights, or damaged.") from error
    try:
        if not (0 <= facts["epoch"] <= MOST and 0 <= facts["seconds"] <= MOST):
            raise ValueError("more than any run has")
        return Checkpoint(
            settings=TrainSettings.from_dict(facts["settings"]),
            data=DataFacts.from_dict(facts["data"]),
            epoch=facts["epoch"],
            step=0,
            loss_sum=0.0,
            seconds=float(facts["seconds"]),
            model=model,
            optimizer={},
            schedule={},
            random={},
            made_by=facts["made_by"],
        )
    except (*UNREADABLE, SynthprobeError) as error:
        raise FolderError(f"{folder} has no {CONFIG} of synthprobe, or it is damaged.") from error


def _damaged() -> type[Exception]:
    from safetensors import SafetensorError

    return SafetensorError
