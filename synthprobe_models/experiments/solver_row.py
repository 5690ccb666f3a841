"""The reference solver as a row of Table 1: it reads pictures, and is scored as networks are."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from synthprobe_data import RdeConfig, __version__, describe_machine, solve
from synthprobe_models.data.source import Source
from synthprobe_models.data.torch_datasets import normalisation_of
from synthprobe_models.evaluation.evaluate import evaluate
from synthprobe_models.experiments.table import Row
from synthprobe_models.metrics import GAP, directions, generalisation_gap
from synthprobe_models.training.run import commit
from synthprobe_models.training.settings import TrainSettings

SOLVER: Final = Row(
    table=1,
    title="Reference solver",
    name="solver",
    probe="rde",
    width=0,
    parameters=0,
    trainable=0,
    published={},
    note="Not of the paper, and not trained: it deduces the ranks from the pixels alone.",
)


class SolverNetwork(nn.Module):
    """What `synthprobe_data.rde.solve` reads off pictures, in the place of a network.

    Parameters
    ----------
    config
        That of the pictures: how much they are blurred, and how networks see ranks.
    """

    def __init__(self, config: RdeConfig) -> None:
        super().__init__()
        self.blur = config.blur
        self.scale = normalisation_of("rde", config)["rank"]

    def forward(self, x: Tensor) -> Tensor:
        """From pictures in [0, 1], (batch, 3, H, W), to ranks in (0, 1], (batch, 1, H, W)."""
        pictures = (x * 255).round().byte().permute(0, 2, 3, 1).cpu().numpy()
        ranks = np.stack([solve(picture, blur=self.blur).rank for picture in pictures])
        scaled = torch.from_numpy(ranks).float().add(self.scale["offset"])
        return scaled.div(self.scale["divisor"]).unsqueeze(1).to(x.device)


def solver_result(
    source: Source, settings: Mapping[str, Any], command: str | None = None
) -> dict[str, Any]:
    """Let the solver read the test samples, and as many for training: a result as of a run.

    Parameters
    ----------
    source
        Samples of RDE.
    settings
        Those that the other rows are trained with.
    command
        What the result says it came from.
    """
    config = source.facts.config
    assert isinstance(config, RdeConfig)
    return untrained_result(SOLVER, SolverNetwork(config), source, settings, command)


def untrained_result(
    row: Row,
    network: nn.Module,
    source: Source,
    settings: Mapping[str, Any],
    command: str | None,
) -> dict[str, Any]:
    """The result of what is no network, as of a run.

    Parameters
    ----------
    row
        Its row.
    network
        What gives its answers, in the place of a network.
    source, settings, command
        As for `solver_result`.
    """
    loss = settings.get("loss", TrainSettings.loss)
    started = time.perf_counter()
    test = evaluate(network, source.test, loss=loss, order=True)
    assert test.order is not None
    train = evaluate(network, source.train, loss=loss, limit=test.samples)
    return {
        "name": row.name,
        "probe": row.probe,
        "parameters": 0,
        "settings": {"name": row.name, "options": {}, "epochs": 0, "seed": 0},
        "data": source.facts.to_dict(),
        "test_samples": test.samples,
        "test": test.metrics,
        "order": test.order.to_dict(),
        "train_samples": train.samples,
        "train": train.metrics,
        "gap": generalisation_gap(train.metrics["loss"], test.metrics["loss"]),
        **directions([*test.metrics, GAP]),
        "seconds": time.perf_counter() - started,
        "machine": describe_machine(),
        "torch": torch.__version__,
        "version": __version__,
        "commit": commit(),
        "command": command,
    }
