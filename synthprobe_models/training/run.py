"""Whole runs: train, evaluate, and keep all of it in one folder."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from synthprobe_data import SynthprobeError, describe_machine
from synthprobe_models.data.draws import apart
from synthprobe_models.data.source import VALIDATION, Source
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset
from synthprobe_models.evaluation.evaluate import Evaluation, evaluate, predictions
from synthprobe_models.evaluation.pictures import write_predictions
from synthprobe_models.evaluation.rde.missed import check_explainable, explain_samples
from synthprobe_models.files import FolderError, make_folder
from synthprobe_models.metrics import GAP, directions, generalisation_gap
from synthprobe_models.networks.counting import count_parameters
from synthprobe_models.networks.rank_and_color import TWO_TASK, check_same_classes
from synthprobe_models.probes import find_probe
from synthprobe_models.training.checkpoint import Checkpoint
from synthprobe_models.training.errors import clear_errors, explained
from synthprobe_models.training.exported import load_trained
from synthprobe_models.training.loggers import Audience, RunLogger
from synthprobe_models.training.progress import say
from synthprobe_models.training.provenance import commit as commit  # others import it from here
from synthprobe_models.training.provenance import edited_since
from synthprobe_models.training.restore import (
    check_inputs,
    check_known,
    other_scale,
    restored,
    tied_to_positions,
)
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.run_key import KEY, outdated_run, remove_key, write_key
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import Machine, Trainer

PICTURED: Final = 8
"""Samples on a picture of predictions."""
TRAIN_SEEN: Final = 2_000
"""Training samples that a run is evaluated on, if it is on no others."""


def train_run(
    settings: TrainSettings,
    source: Source,
    out: str | Path,
    *,
    machine: Machine | None = None,
    picture_every: int = 10,
    resume: bool = False,
    force: bool = False,
    command: str | None = None,
    loggers: Sequence[RunLogger] = (),
) -> dict[str, Any]:
    """Train a network to the end, evaluate it, and return what its ``result.json`` says.

    Parameters
    ----------
    settings
        All that the weights depend on.
    source
        The samples, by `open_source`.
    out
        The folder of the run.
    machine
        Where and how to compute.
    picture_every
        Epochs between pictures of predictions; 0 for none.
    resume
        Go on with the run that is in the folder, if there is one.
    force
        Begin anew in a folder that has a run.
    command
        What the result says it came from.
    loggers
        Who is told the figures of every epoch, and those of the end; by the first of several
        processes alone.
    """
    machine = Machine() if machine is None else machine
    folder = RunFolder(out)
    with clear_errors():
        trainer = Trainer(settings, source, folder, machine)
        if resume:
            trainer.take_up()
        # Whatever is wrong with the settings or the checkpoint has been said by now.
        if machine.share.rank == 0:
            resumed = resume and folder.checkpoint.exists()
            folder.begin(settings.to_dict(), resume=resume, force=force)
            key = _note_key(folder, settings, resumed=resumed, said=machine.progress)
        if machine.share.world > 1:
            torch.distributed.barrier()
        audience = Audience(loggers if machine.share.rank == 0 else ())
        with audience.hearing(folder.path, _told(trainer), trainer.done):
            trainer.after_epoch = _observer(trainer, folder, picture_every, audience)
            trainer.run(resume=resume)
            if machine.share.world > 1:
                torch.distributed.barrier()  # nobody leaves while others wait for its gradients
            if machine.share.rank != 0:
                return {}
            result = _result(trainer, command)
            audience.log(trainer.done, _scored(result))
    result[KEY] = key
    folder.finish(result)
    return result


def _told(trainer: Trainer) -> dict[str, Any]:
    """What loggers are told when a run begins."""
    made_by = {name: trainer.made_by[name] for name in ("version", "commit")}
    return {**trainer.settings.to_dict(), "content": trainer.source.facts.content, **made_by}


def _scored(result: Mapping[str, Any]) -> dict[str, float]:
    """What loggers are told when a run is complete."""
    return {
        f"{split}/{name}": value
        for split in ("train", VALIDATION, "test")
        for name, value in result.get(split, {}).items()
    }


def _note_key(
    folder: RunFolder, settings: TrainSettings, *, resumed: bool, said: bool
) -> dict[str, Any] | None:
    """Say in a folder what its run is made from, unless that is several things."""
    outdated = outdated_run(settings, folder.path) if resumed else None
    if outdated is None:
        return write_key(folder, settings)
    remove_key(folder)
    if said:
        say(f"{folder.path}: {outdated}; the run goes on with the weights that it has")
    return None


def finished_run(
    settings: TrainSettings,
    source: Source,
    out: Path,
    *,
    machine: Machine | None = None,
    picture_every: int = 10,
    command: str | None = None,
) -> dict[str, Any]:
    """The result of a run that may be complete, begun, or not yet begun.

    A run that was made from another source of the structure, or by another version of synthprobe,
    is set aside, and the run is begun anew. `FolderError` if there is a run with other settings or
    on other data in its folder.

    Parameters
    ----------
    settings, source, out, machine, picture_every, command
        As for `train_run`.
    """
    check_kept(settings, source, out)
    folder = RunFolder(out)
    if outdated_run(settings, out) is not None:
        folder.set_aside()
    done = folder.read_result()
    if done is not None and _answers(done, source):
        return done
    return train_run(
        settings,
        source,
        out,
        machine=machine,
        picture_every=picture_every,
        resume=True,
        command=command,
    )


def _answers(done: Mapping[str, Any], source: Source) -> bool:
    """Whether a result has the figures that are asked for; if not, the weights are still there."""
    if source.choosing:
        return source.validation is None or bool(done.get(VALIDATION))
    return bool(done["test"])


def check_kept(settings: TrainSettings, source: Source, out: Path) -> None:
    """Raise `FolderError` if a folder has another run, which would be lost.

    Parameters
    ----------
    settings, source
        Those of the run that is wanted.
    out
        Its folder.
    """
    folder = RunFolder(out)
    done = folder.read_result()
    begun = folder.read_settings() if done is None else done["settings"]
    same_data = done is None or done["data"] == source.facts.to_dict()
    if (begun is None or settings.same_as(begun)) and same_data:
        return
    what = "with other settings" if same_data else "on other data"
    raise FolderError(f"{out} has a run {what}: remove it, or take another folder.")


def evaluate_checkpoint(
    path: str | Path,
    on: str | Path,
    *,
    split: str = "test",
    worst: int = 0,
    device: str = "cpu",
    pictures: Path | None = None,
    explain: Path | None = None,
) -> tuple[Checkpoint, Evaluation]:
    """Evaluate the network of a checkpoint on a split of a file.

    Parameters
    ----------
    path
        The checkpoint, the folder of its run, or what was exported from it.
    on
        A file or a folder of shards of the kind that it was trained on; its settings may be
        others, as far as the network can be given such samples.
    split
        Which split.
    worst
        How many of the worst samples to name.
    device
        Where to compute.
    pictures
        A PNG file to write with the worst samples.
    explain
        A folder to write a figure of each of the worst samples into, with the cues that the network
        missed; of RDE only.
    """
    saved = load_trained(path, device)
    check_known(saved)
    if (edited := edited_since(saved.settings.name, saved.made_by)) is not None:
        say(edited)
    samples = ShardDataset(on, split)
    network = restored(saved).to(device)
    check_inputs(saved, samples, on)
    aligned = other_scale(saved, samples)
    if aligned is not None and not find_probe(samples.dataset).alignable:
        raise SynthprobeError(f"{on}: {aligned}")
    if saved.settings.loss == TWO_TASK:
        try:
            check_same_classes(saved.data.config, samples.config)
        except SynthprobeError as error:
            raise SynthprobeError(f"{on} {error}") from error
    if pictures is not None:
        make_folder(pictures.parent)
    if explain is not None:
        check_explainable(samples, explain)
    with clear_errors(), tied_to_positions(saved, samples, on):
        scores = evaluate(
            network,
            samples,
            loss=saved.settings.loss,
            loss_options=saved.settings.loss_options,
            worst=worst,
            order=True,
            aligned=aligned,
            device=device,
        )
    indices = [index for index, _ in scores.worst]
    if pictures is not None and indices:
        write_picture(network, samples, indices, pictures, device)
    if explain is not None:
        found = explain_samples(
            network,
            samples,
            on,
            split,
            indices,
            explain,
            aligned=aligned is not None,
            device=device,
        )
        scores = dataclasses.replace(scores, explained=found)
    return saved, scores


def write_picture(
    network: nn.Module,
    samples: ShardDataset | StreamDataset,
    indices: Sequence[int],
    path: Path,
    device: str | torch.device = "cpu",
) -> None:
    """Draw what a network makes of some samples."""
    chosen = (
        samples.at(indices) if isinstance(samples, StreamDataset) else samples.__getitems__(indices)
    )
    with apart(device):
        inputs, rest, prediction = next(
            predictions(network, chosen, dataset=samples.dataset, batch=len(chosen), device=device)
        )
    write_predictions(path, inputs, rest["target"], prediction)


def _observer(
    trainer: Trainer, folder: RunFolder, picture_every: int, audience: Audience
) -> Callable[[Mapping[str, float]], None]:
    """What is done after an epoch: pictures, and figures for loggers."""

    def observe(row: Mapping[str, float]) -> None:
        epoch = int(row["epoch"])
        if picture_every and (epoch % picture_every == 0 or epoch == trainer.settings.epochs):
            path = folder.pictures / f"epoch-{epoch:05d}.png"
            shown, samples = range(PICTURED), _held_out(trainer.source)
            if isinstance(samples, ShardDataset):
                shown = shown[: len(samples)]
            write_picture(trainer.network, samples, shown, path, trainer.device)
        figures = {name: value for name, value in row.items() if name != "step"}
        audience.log(int(row["step"]), figures)

    return observe


def _held_out(source: Source) -> ShardDataset | StreamDataset:
    """The samples that a run may look at that it was not trained on; if there are none, others."""
    if not source.choosing:
        return source.test
    return source.train if source.validation is None else source.validation


def _result(trainer: Trainer, command: str | None) -> dict[str, Any]:
    """The figures of a run that is complete."""
    settings, source = trainer.settings, trainer.source
    network = trainer.network
    given: dict[str, Any] = {
        "loss": settings.loss,
        "loss_options": settings.loss_options,
        "device": trainer.device,
    }
    validation = test = None
    if source.validation is not None:
        validation = evaluate(network, source.validation, **given)
    if not source.choosing:  # the test samples are seen once, at the end
        test = evaluate(network, source.test, order=True, **given)
    further = {title: _elsewhere(trainer, samples) for title, samples in source.further.items()}
    held_out = validation if test is None else test
    seen = TRAIN_SEEN if held_out is None else held_out.samples
    train = evaluate(network, source.train, limit=min(trainer.feed.samples, seen), **given)
    return {
        "name": settings.name,
        "probe": settings.probe,
        "parameters": count_parameters(trainer.network),
        "settings": settings.to_dict(),
        "data": source.facts.to_dict(),
        "trained_samples": trainer.feed.samples,
        **({} if validation is None else _on_validation(validation)),
        "test_samples": 0 if test is None else test.samples,
        "test": {} if test is None else test.metrics,
        **({} if test is None else _beside_metrics(test)),
        **({"further": further} if further else {}),
        "train_samples": train.samples,
        "train": train.metrics,
        "gap": 0.0
        if held_out is None
        else generalisation_gap(train.metrics["loss"], held_out.metrics["loss"]),
        **directions([*train.metrics, GAP]),
        "seconds": trainer.seconds,
        "machine": describe_machine(),
        "torch": torch.__version__,
        **trainer.made_by,
        "command": command,
    }


def _beside_metrics(test: Evaluation) -> dict[str, Any]:
    """What is known of the test samples besides their metrics."""
    return {
        **({} if test.order is None else {"order": test.order.to_dict()}),
        **({} if test.confusion is None else {"confusion": test.confusion}),
    }


def _on_validation(found: Evaluation) -> dict[str, Any]:
    return {"validation_samples": found.samples, VALIDATION: found.metrics}


def choice_loss(result: Mapping[str, Any]) -> float:
    """The loss that runs are chosen by: on validation samples, or if there are none, on training.

    Never that on test samples. What is not a number is the worst.
    """
    loss = float(result[choice_split(result)]["loss"])
    return math.inf if math.isnan(loss) else loss


def choice_split(result: Mapping[str, Any]) -> str:
    """The split whose loss `choice_loss` gives."""
    return VALIDATION if VALIDATION in result else "train"


def _elsewhere(trainer: Trainer, samples: ShardDataset) -> dict[str, Any]:
    """The figures on test samples with other settings, or why there are none."""
    try:
        with explained(trainer.settings.name):
            found = evaluate(
                trainer.network,
                samples,
                loss=trainer.settings.loss,
                loss_options=trainer.settings.loss_options,
                order=True,
                device=trainer.device,
            )
    except (SynthprobeError, RuntimeError) as error:  # a structure that is tied to one size
        return {"cannot": str(error).split("\n")[0]}
    return {
        "samples": found.samples,
        "test": found.metrics,
        **({} if found.order is None else {"order": found.order.to_dict()}),
    }
