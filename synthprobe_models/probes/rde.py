"""Rectangle Depth Estimation: a U-Net with a structure at each scale must rank the rectangles.

It asks for linking local cues to distant inferences: what a T-junction says of two rectangles must
reach all of their pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch

from synthprobe_data import Config, RdeConfig, SynthprobeError
from synthprobe_models.metrics import Delta, Ord, Rmse
from synthprobe_models.networks.counting import count_unet
from synthprobe_models.networks.unet import UNet
from synthprobe_models.probes.probe import (
    Arrays,
    Normalisation,
    PresetData,
    Probe,
    Sample,
    as_float,
    scaled,
)
from synthprobe_models.registry import Structure

BASELINE_PARAMETERS: Final = 871_729
"""Of the U-Net without non-local layers; the paper chose the widths of the others to match it."""


def convert(arrays: Arrays, normalisation: Normalisation) -> Sample:
    """``image`` (n, 3, H, W) in [0, 1], and ``target`` (n, 1, H, W), the ranks in (0, 1]."""
    image = torch.as_tensor(arrays["image"]).permute(0, 3, 1, 2)
    rank = torch.as_tensor(arrays["rank"]).unsqueeze(1)
    return {"image": as_float(image).div_(255), "target": scaled(rank, normalisation["rank"])}


def guess(train: Sample, test: Sample, _config: Config) -> float:
    """The RMSE of knowing the background, and giving the mean rank to every rectangle."""
    background = train["target"].min()
    middle = train["target"][train["target"] > background].mean()
    metric = Rmse()
    metric.update(torch.where(test["target"] > background, middle, background), test["target"])
    return metric.compute()


def check_same_scale(trained: Config, config: Config) -> None:
    """Raise `SynthprobeError` if ranks are on another scale than those of the training."""
    assert isinstance(trained, RdeConfig)
    assert isinstance(config, RdeConfig)
    if config.n_rectangles != trained.n_rectangles:
        raise SynthprobeError(
            f"has up to {config.n_rectangles} rectangles: the network was trained with "
            f"{trained.n_rectangles}, so that its ranks are on another scale."
        )


def small_options(structure: Structure) -> Mapping[str, Any]:
    """For U-Nets of 12 channels: two heads of 6, and 16 keys for each, as published."""
    halved = {"heads": 2, "keys": 32}
    published = structure.options.get("rde", {})
    return {name: value for name, value in halved.items() if name in published}


_SMALL: Final = {
    "batch": 8,
    "optimizer": "adamw",
    "loss": "scale-invariant",
    "width": 12,
    "down_samplings": 1,
    "head_bias": 0.5,
}
SMALL_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "lambda-local-7": {"window": 3},
    "lambda-local-19": {"window": 7},
    "deformable": {"size": 3},
}

RDE_PROBE: Final = Probe(
    name="rde",
    inputs=3,
    outputs=1,
    shape=(128, 128),
    width=48,
    build=UNet,
    baseline="unet",
    count_quickly=count_unet,
    parameters=BASELINE_PARAMETERS,
    columns=("image", "rank"),
    input="image",
    convert=convert,
    metrics=(Ord, Delta, Rmse),
    cue_metrics="synthprobe_models.evaluation.rde.order",
    ordinal=True,
    order_metrics="synthprobe_models.evaluation.rde.by_order",
    missed_cues="synthprobe_models.evaluation.rde.missed",
    check_same_scale=check_same_scale,
    guess=guess,
    presets={
        "paper": {"epochs": 50, "batch": 32, "loss": "scale-invariant"},
        "mini": {"epochs": 2, **_SMALL},
        "midi": {"epochs": 1, **_SMALL, "width": 16, "down_samplings": 3},
        "quick": {"epochs": 1, "weight_decay": 0.0, **_SMALL},
    },
    data={
        "mini": PresetData(
            # A strip: for its pixels, cues have far to go, and with one down-sampling the baseline
            # sees about 24 pixels to each side. Two rectangles: what a T-junction means is soon
            # learnt.
            config={
                "height": 12,
                "width": 96,
                "n_rectangles": 2,
                "n_vis": 3,
                "n_gap": 3,
                "n_par": 3,
                "min_size": 0.3,
            },
            sizes={"train": 12_000, "test": 2_000},
            options=SMALL_OPTIONS,
        ),
        "midi": PresetData(
            # Scenes in two dimensions, in which the field of the baseline covers the picture: with
            # three down-samplings every pixel sees all others, as in the paper.
            config={
                "height": 48,
                "width": 48,
                "n_rectangles": 4,
                "n_vis": 3,
                "n_gap": 3,
                "n_par": 3,
                "min_size": 0.2,
            },
            sizes={"train": 40_000, "validation": 1_000, "test": 2_000},
            options=SMALL_OPTIONS,
        ),
    },
    small_options=small_options,
)
