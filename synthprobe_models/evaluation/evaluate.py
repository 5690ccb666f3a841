"""Evaluation: all metrics of a network on a split, and the samples that it does worst on."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from synthprobe_data import SynthprobeError
from synthprobe_models.data.draws import apart
from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset
from synthprobe_models.evaluation.align import align_batch
from synthprobe_models.losses import make_loss
from synthprobe_models.metrics import MeanIou, MeanLoss, Metric, SegmentationAccuracy, SilogRmse
from synthprobe_models.networks.rank_and_color import (
    CLASSES_OF,
    TWO_TASK,
    find_classes,
    for_both,
    loss_of_both,
)
from synthprobe_models.probes import find_probe
from synthprobe_models.probes.probe import Sample

if TYPE_CHECKING:
    from synthprobe_models.evaluation.rde.missed import Explained

BATCH: Final = 32


class OrderScores(Protocol):
    """What the module that a probe names as ``cue_metrics`` finds out.

    Of a probe that can be aligned it also has ``with_steps_of(aligned)``: the same, with what
    depends on the scale taken from the scores of aligned predictions.
    """

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""

    def lines(self) -> list[str]:
        """For people."""


class OrderMetrics(Protocol):
    """What counts it."""

    def update(self, prediction: Tensor, target: Tensor, **extra: Tensor) -> None:
        """Take in a batch."""

    def compute(self) -> OrderScores:
        """The figures of all samples so far."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a network scores on some samples."""

    samples: int
    metrics: dict[str, float]
    """By the names of the metrics; ``loss`` among them."""
    worst: list[tuple[int, float]] = field(default_factory=list)
    """Index and loss of the samples with the highest losses, the highest first."""
    order: OrderScores | None = None
    """What it makes of the cues, if that was asked and its probe can tell."""
    explained: tuple[Explained, ...] = ()
    """The worst samples with the cues that it missed, if that was asked."""
    aligned: str | None = None
    """Why each picture was given a scale and a shift, if it was."""
    confusion: list[list[int]] | None = None
    """Of two tasks: the pixels by true class (rows) and by the class that was found (columns)."""


def evaluate(
    network: nn.Module,
    samples: ShardDataset | StreamDataset,
    *,
    loss: str,
    loss_options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    worst: int = 0,
    order: bool = False,
    aligned: str | None = None,
    batch: int = BATCH,
    device: str | torch.device = "cpu",
) -> Evaluation:
    """Evaluate a network.

    Parameters
    ----------
    network
        As `synthprobe_models.training.trainer.build_network` makes it.
    samples
        One split of a file, or a stream of some length.
    loss
        The name of a loss.
    loss_options
        Its options.
    limit
        Only the first so many samples.
    worst
        How many samples to name that it does worst on.
    order
        Whether to find out which cues it makes use of, where the probe can tell.
    aligned
        If what it gives is on another scale than the samples, why. Each picture is then given the
        scale and the shift that fit best, by `synthprobe_models.evaluation.align`, before anything
        but the order of pairs is measured.
    batch
        Samples at once; the result does not depend on it.
    device
        Where to compute.

    Notes
    -----
    A network that draws random numbers in evaluation, too, draws the same ones each time, and not
    those of a training that goes on.
    """
    probe = find_probe(samples.dataset)
    both = loss == TWO_TASK
    measured: list[Metric] = [make() for make in probe.metrics]
    beside = CLASSES_OF if both else ()
    mean_loss = MeanLoss(make_loss(loss, loss_options))
    by_class = MeanIou()
    if both:
        with_options = partial(loss_of_both, loss=make_loss(loss, loss_options))
        mean_loss = MeanLoss(with_options, extra=("scores", "classes"))
        measured += [SilogRmse(), SegmentationAccuracy(), by_class]
    metrics = [mean_loss, *measured]
    observers: list[Metric | OrderMetrics] = [*metrics]
    by_cue: OrderMetrics | None = None
    as_given: OrderMetrics | None = None
    if order and probe.cue_metrics is not None:
        cues = importlib.import_module(probe.cue_metrics)
        beside = tuple(dict.fromkeys((*cues.SCENE, *beside)))
        by_cue = cues.OrderMetrics.of(samples.normalisation)
        observers.append(by_cue)
        if aligned is not None:
            as_given = cues.OrderMetrics.of(samples.normalisation)
    with apart(device):
        for _, rest, prediction in predictions(
            network,
            samples.beside(beside) if beside else samples,
            dataset=samples.dataset,
            limit=limit,
            batch=batch,
            device=device,
            both=both,
        ):
            target = rest["target"]
            extra = {name: value for name, value in rest.items() if name != "target"}
            if as_given is not None:
                as_given.update(prediction, target, **extra)
            if aligned is not None:
                prediction, _ = align_batch(prediction, target)
                target = target.cpu().double()
            for observer in observers:
                observer.update(prediction, target, **extra)
    losses = [math.nan if value is None else value for value in mean_loss.values]
    # What is not a number is worse than any.
    highest_first = sorted(
        range(len(losses)), key=lambda index: (not math.isnan(losses[index]), -losses[index])
    )
    found = None if by_cue is None else by_cue.compute()
    if found is not None and as_given is not None:
        given: Any = as_given.compute()
        found = given.with_steps_of(found)
    return Evaluation(
        samples=len(losses),
        metrics={metric.name: metric.compute() for metric in metrics},
        worst=[(index, losses[index]) for index in highest_first[:worst]],
        order=found,
        aligned=aligned,
        confusion=by_class.confusion.tolist() if both else None,
    )


def predictions(
    network: nn.Module,
    samples: ShardDataset | StreamDataset | list[Sample],
    *,
    dataset: str,
    limit: int | None = None,
    batch: int = BATCH,
    device: str | torch.device = "cpu",
    both: bool = False,
) -> Iterator[tuple[Tensor, Sample, Tensor]]:
    """For some samples at a time: the input, the other tensors, and what the network gives.

    Of a network for two tasks that is the depth; with ``both``, the ``scores`` of the classes and
    the ``classes`` themselves are among the other tensors.
    """
    name = find_probe(dataset).input
    left = limit
    was_training = network.training
    network.eval()
    try:
        loader: DataLoader[Sample] = DataLoader(
            samples,  # type: ignore[arg-type]
            batch_size=batch,
            # It draws a seed for workers that it does not have; not from what training draws from.
            generator=torch.Generator(),
        )
        for sample in loader:
            if left is not None:
                if left <= 0:
                    break
                sample = {key: value[:left] for key, value in sample.items()}
                left -= len(sample["target"])
            sample = {key: value.to(device) for key, value in sample.items()}
            inputs = sample.pop(name)
            with torch.inference_mode():
                if both:
                    prediction, sample["scores"] = for_both(network).both(inputs)
                    sample["classes"] = find_classes(sample)
                else:
                    prediction = network(inputs)
                prediction = prediction.float()
            if prediction.shape != sample["target"].shape:
                raise SynthprobeError(
                    f"the network gives {tuple(prediction.shape[1:])} for a target of "
                    f"{tuple(sample['target'].shape[1:])}: it was made for other data."
                )
            yield inputs, sample, prediction
    finally:
        network.train(was_training)
