"""Evaluation: all metrics of a network on a split, and the samples that it does worst on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from synthprobe_data import SynthprobeError
from synthprobe_models.data import Sample, ShardDataset, StreamDataset, find_representation
from synthprobe_models.losses import find_loss
from synthprobe_models.metrics import METRICS_OF, MeanLoss

BATCH: Final = 32


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a network scores on some samples."""

    samples: int
    metrics: dict[str, float]
    """By the names of the metrics; ``loss`` among them."""
    worst: list[tuple[int, float]] = field(default_factory=list)
    """Index and loss of the samples with the highest losses, the highest first."""


def evaluate(
    network: nn.Module,
    samples: ShardDataset | StreamDataset,
    *,
    loss: str,
    limit: int | None = None,
    worst: int = 0,
    batch: int = BATCH,
    device: str | torch.device = "cpu",
) -> Evaluation:
    """Evaluate a network.

    Parameters
    ----------
    network
        As `synthprobe_models.train.build_network` makes it.
    samples
        One split of a file, or a stream of some length.
    loss
        The name of a loss.
    limit
        Only the first so many samples.
    worst
        How many samples to name that it does worst on.
    batch
        Samples at once; the result does not depend on it.
    device
        Where to compute.
    """
    mean_loss = MeanLoss(find_loss(loss))
    metrics = [mean_loss, *(make() for make in METRICS_OF[samples.dataset])]
    for _, rest, prediction in predictions(
        network, samples, dataset=samples.dataset, limit=limit, batch=batch, device=device
    ):
        target = rest["target"]
        extra = {name: value for name, value in rest.items() if name != "target"}
        for metric in metrics:
            metric.update(prediction, target, **extra)
    losses = [math.nan if value is None else value for value in mean_loss.values]
    order = sorted(range(len(losses)), key=lambda index: -losses[index])
    return Evaluation(
        samples=len(losses),
        metrics={metric.name: metric.compute() for metric in metrics},
        worst=[(index, losses[index]) for index in order[:worst]],
    )


def predictions(
    network: nn.Module,
    samples: ShardDataset | StreamDataset | list[Sample],
    *,
    dataset: str,
    limit: int | None = None,
    batch: int = BATCH,
    device: str | torch.device = "cpu",
) -> Iterator[tuple[Tensor, Sample, Tensor]]:
    """For some samples at a time: the input, the other tensors, and what the network gives."""
    name = find_representation(dataset).input
    left = limit
    was_training = network.training
    network.eval()
    try:
        loader: DataLoader[Sample] = DataLoader(samples, batch_size=batch)  # type: ignore[arg-type]
        for sample in loader:
            if left is not None:
                if left <= 0:
                    break
                sample = {key: value[:left] for key, value in sample.items()}
                left -= len(sample["target"])
            sample = {key: value.to(device) for key, value in sample.items()}
            inputs = sample.pop(name)
            with torch.inference_mode():
                prediction = network(inputs).float()
            if prediction.shape != sample["target"].shape:
                raise SynthprobeError(
                    f"the network gives {tuple(prediction.shape[1:])} for a target of "
                    f"{tuple(sample['target'].shape[1:])}: it was made for other data."
                )
            yield inputs, sample, prediction
    finally:
        network.train(was_training)
