"""Training and evaluation on two tasks of Rectangle Depth Estimation: the rank, and the colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import Config, RdeConfig, SynthprobeError
from synthprobe_models.losses import Loss, two_task
from synthprobe_models.networks.heads import TwoTaskNetwork, color_classes
from synthprobe_models.registry import NETWORKS

TWO_TASK: Final = "two-task"
"""The name of the loss."""
CLASSES_OF: Final = ("label", "color")
"""The arrays of a file that tell the class of each pixel, beside what networks see."""


class BothTasks(nn.Module):
    """A network for two tasks, called for both.

    Parameters
    ----------
    network
        Its parameters and buffers are those of this module.
    """

    def __init__(self, network: TwoTaskNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        """From pictures to what `two_task` takes: the score of each class, then the depth."""
        depth, scores = self.network.both(x)
        return torch.cat([scores, depth], 1)


def with_classes(name: str, options: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """The options of a network for two tasks, with as many classes as the samples have."""
    build = NETWORKS[name].build if name in NETWORKS else None
    if not isinstance(config, RdeConfig) or not _has_both(build):
        raise _one_task(name)
    if config.random_palette:
        raise SynthprobeError(
            "each picture draws its own colours (palette random), so there are no colours to tell: "
            "train for the depth alone."
        )
    classes = config.palette_size + 1
    given = options.get("classes", classes)
    if not isinstance(given, int) or given < classes:
        raise SynthprobeError(f"classes is {given!r}: the samples have {classes}.")
    return {**options, "classes": given}


def check_same_classes(trained: Config, config: Config) -> None:
    """Raise `SynthprobeError` if samples have other classes than those of the training.

    The sentence goes on from the name of the samples.
    """
    assert isinstance(trained, RdeConfig)
    assert isinstance(config, RdeConfig)
    if config.palette != trained.palette:
        raise SynthprobeError("has other colours than those that the network was trained to tell.")
    if config.palette_size != trained.palette_size:
        raise SynthprobeError(
            f"has {config.palette_size} colours: the network was trained to tell "
            f"{trained.palette_size}."
        )


def for_both(network: nn.Module) -> TwoTaskNetwork:
    """The network, which must have two tasks; `SynthprobeError` for others."""
    if not isinstance(network, TwoTaskNetwork):
        raise _one_task(type(network).__name__)
    return network


def find_classes(batch: Mapping[str, Tensor]) -> Tensor:
    """The class of each pixel, (n, H, W), of samples with the arrays of `CLASSES_OF`."""
    return color_classes(*(batch[name] for name in CLASSES_OF))


def loss_of_both(
    depth: Tensor, target: Tensor, *, scores: Tensor, classes: Tensor, loss: Loss = two_task
) -> Tensor:
    """`two_task`, or this with options, of a depth and of scores that are given one by one."""
    return loss(torch.cat([scores, depth], 1), target, classes=classes)


def _has_both(build: object) -> bool:
    return isinstance(build, type) and issubclass(build, TwoTaskNetwork)


def _one_task(name: str) -> SynthprobeError:
    others = [network.name for network in NETWORKS.values() if _has_both(network.build)]
    return SynthprobeError(
        f"{name} has one task, so it cannot be trained with the loss {TWO_TASK}: take "
        f"{', '.join(others[:-1])} or {others[-1]}, on rde, or another loss."
    )
