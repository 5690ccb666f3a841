"""Centered Square: one layer must paint a square around a white pixel, wherever it is.

It asks for translation covariance that can also be seen: a structure needs a place to paint at.
"""

from __future__ import annotations

import statistics
from typing import Final

import torch

from synthprobe_data import CenteredSquareConfig, Config
from synthprobe_models.metrics import Iou
from synthprobe_models.networks.stack import LayerStack
from synthprobe_models.probes.ability import (
    IN_PART,
    NO,
    NOT_LEARNT,
    YES,
    Ability,
    Evidence,
    Outcome,
    agreement,
    too_few,
    with_half,
)
from synthprobe_models.probes.probe import (
    Arrays,
    Normalisation,
    PresetData,
    Probe,
    Sample,
    scaled,
)
from synthprobe_models.seeds.rules import surely_above, surely_below

PAINTED: Final = 0.8
"""Above this test IOU, the square counts as painted."""
LEARNT: Final = 0.9
"""Below this training IOU, it was not even learnt where to paint in training."""
ALIKE: Final = 0.9
"""Above this share of the training IOU, the test IOU counts as alike."""
BY_HEART: Final = 0.5
"""Below this share of the training IOU, the positions count as learnt by heart."""
PIXELS: Final = 2
"""Up to the IOU of so many white pixels, nothing but the white pixel of the input is painted."""


def convert(arrays: Arrays, normalisation: Normalisation) -> Sample:
    """``image`` and ``target`` (n, 1, H, W): 0 for black, 1 for white."""
    return {
        name: scaled(torch.as_tensor(arrays[name]).unsqueeze(1), normalisation[name])
        for name in ("image", "target")
    }


def guess(_train: Sample, _test: Sample, config: Config) -> float:
    """The IOU of painting nothing but the white pixel, which is given."""
    assert isinstance(config, CenteredSquareConfig)
    return 1 / config.square**2


def decide_covariance(found: Evidence) -> Outcome:
    """Whether the square is painted where the pixel never was before."""
    few = too_few(len(found.test))
    if few is not None:
        return few
    if surely_above(found.test, PAINTED):
        return Outcome(YES, f"paints where it was never trained, {agreement(found.test)}")
    if surely_below(found.train, PIXELS * found.guess):
        return Outcome(NO, "paints no more than the white pixel itself, where trained, too")
    shares = [e / t if t else 0.0 for t, e in zip(found.train, found.test, strict=True)]
    train = statistics.fmean(found.train)
    if surely_above(shares, ALIKE):
        return Outcome(IN_PART, f"paints alike everywhere, but only {train:.0%} of it")
    if train < LEARNT:
        return Outcome(NOT_LEARNT, f"where it was trained it paints only {train:.0%}")
    if surely_below(shares, BY_HEART):
        return Outcome(NO, "paints where it was trained, not elsewhere: learnt by heart")
    return Outcome(IN_PART, f"elsewhere neither painted nor left out, {agreement(found.test)}")


PAINTING: Final = Ability(
    name="paints anywhere",
    measure="iou",
    title="IOU",
    guess="the white pixel alone",
    decide=decide_covariance,
    rule=(
        f"One layer must paint a square around a white pixel, which in the test is where "
        f"it never was in training. *yes*: the test IOU is surely above {PAINTED:.0%}. Otherwise "
        f"*no*, if the training IOU is surely below {PIXELS} times that of the white pixel alone; "
        f"*in part*, if the test IOU is surely above {ALIKE:.0%} of the training IOU of the same "
        f"seed; *not learnt*, if the mean training IOU is below {LEARNT:.0%}; *no* (learnt by "
        f"heart), if the test IOU is surely below {BY_HEART:.0%} of the training IOU; *in part*, "
        f"if none of these. So a structure that treats positions as a "
        f"set does not pass, though it is translation covariant, as the check without "
        "training says: it has no place to paint at."
    ),
    measured="{heading} {train} where trained, {test} elsewhere; guess {guess}",
    bars=lambda found: {"where trained": found.train, "elsewhere": found.test},
    brief=lambda found: f"{statistics.fmean(found.train):.0%} / {with_half(found.test)}",
    brief_heading="IOU ↑, where trained / elsewhere ± half of its 95% interval",
)

WINDOWS: Final = {"lambda-local-7": {"window": 3}, "lambda-local-19": {"window": 7}}
"""Of the small presets: windows that suit their sizes."""
_ALIKE: Final = {"optimizer": "adamw", "weight_decay": 0.0}

CENTERED_SQUARE_PROBE: Final = Probe(
    name="centered-square",
    ability=PAINTING,
    inputs=1,
    outputs=1,
    shape=(64, 64),
    width=128,
    build=LayerStack,
    blends=True,
    columns=("image", "target"),
    input="image",
    convert=convert,
    metrics=(Iou,),
    guess=guess,
    inspected=True,  # it is about covariance
    presets={
        "paper": {"epochs": 100, "batch": 32, "queries": 1 / 16, **_ALIKE},
        "mini": {"epochs": 40, "batch": 8, "width": 64, **_ALIKE},
        "quick": {"epochs": 120, "batch": 12, "width": 32, **_ALIKE},
    },
    data={
        "mini": PresetData(config={"height": 24, "width": 24, "square": 9}, options=WINDOWS),
        "quick": PresetData(config={"height": 16, "width": 16, "square": 5}, options=WINDOWS),
    },
)
