"""Twins: one structure between local blocks must tell which of two rectangles is in front.

It asks for linking local cues to distant inferences. Two twins differ in nothing but the order of
two rectangles, so that a network without reach is right in exactly one of the two.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import torch

from synthprobe_data import Config, RdeConfig, SynthprobeError, TwinsConfig
from synthprobe_models.networks.single_scale import SingleScale
from synthprobe_models.networks.unet import UNet
from synthprobe_models.probes import rde
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
from synthprobe_models.probes.probe import Arrays, Normalisation, PresetData, Probe, Sample
from synthprobe_models.reach.by_distance import (
    FAR,
    NEAR,
    FarAccuracy,
    NearAccuracy,
)
from synthprobe_models.reach.curve import draw_results
from synthprobe_models.reach.report import brief_reach, reach_rows
from synthprobe_models.seeds.interval import interval_of
from synthprobe_models.seeds.rules import surely_above, surely_below

LEARNT: Final = 0.8
"""Below this accuracy near the difference, the cue itself was not learnt."""
REACHES: Final = 0.9
REACHES_NOT: Final = 0.55
"""The accuracy far from the difference is surely above the one, or below the other."""


def convert(arrays: Arrays, normalisation: Normalisation) -> Sample:
    """As for RDE, and ``distance`` (n, H, W), 0 where a pixel does not count."""
    distance = torch.as_tensor(arrays["distance"]).to(torch.int32)
    return {**rde.convert(arrays, normalisation), "distance": distance}


def guess(_train: Sample, _test: Sample, _config: Config) -> float:
    """One half: what is blind to the difference is right in exactly one of two twins."""
    return 0.5


def check_same_scale(trained: Config, config: Config) -> None:
    """Raise `SynthprobeError` if ranks are on another scale than those of the training."""
    assert isinstance(trained, RdeConfig | TwinsConfig)
    assert isinstance(config, TwinsConfig)
    if config.n_rectangles != trained.n_rectangles:
        raise SynthprobeError(
            f"has {config.n_rectangles} rectangles in a band: the network was trained with "
            f"{trained.n_rectangles}, so that its ranks are on another scale."
        )


def decide_reach(found: Evidence) -> Outcome:
    """Whether what a cue says is known far away from it."""
    few = too_few(len(found.test))
    if few is not None:
        return few
    near = statistics.fmean(found.more[NearAccuracy.name])
    low, high = interval_of(found.test)
    span = f"95% interval {max(low, 0):.1%} to {min(high, 1):.1%}"
    if near < LEARNT:
        return Outcome(NOT_LEARNT, f"near the difference only {near:.1%} are right")
    if surely_above(found.test, REACHES):
        return Outcome(YES, f"knows the order far from the cue, {span}")
    if surely_below(found.test, REACHES_NOT):
        return Outcome(NO, f"no better than a coin far from the cue, {span}")
    said = f"far from the cue neither known nor unknown, {span}, {agreement(found.test)}"
    return Outcome(IN_PART, said)


def _brief(found: Evidence) -> str:
    near = statistics.fmean(found.more[NearAccuracy.name])
    return f"{near:.0%} / {with_half(found.test)}"


def _bars(found: Evidence) -> Mapping[str, Sequence[float]]:
    return {f"near ({NEAR})": found.more[NearAccuracy.name], f"far ({FAR})": found.test}


LINKING: Final = Ability(
    name="linking local cues to distant inferences",
    measure=FarAccuracy.name,
    more=(NearAccuracy.name,),
    title="accuracy far from the difference",
    guess="blind to the difference, so right in exactly one of two twins",
    decide=decide_reach,
    rule=(
        f"One layer of the structure stands between local blocks, which see 9 pixels to each side. "
        f"Two twins differ only in which of two rectangles is in front; what does not see the "
        f"difference is right in exactly half of the cases. *Near* is the accuracy {NEAR} pixels "
        f"from the difference, *far* {FAR}. *not learnt*: near, on average over seeds, below "
        f"{LEARNT:.0%}. *yes*: far is surely above {REACHES:.0%}. *no*: it is surely below "
        f"{REACHES_NOT:.0%}. *in part*: anything else."
    ),
    measured="{heading} {test}; near {near_accuracy}; guess {guess}",
    bars=_bars,
    brief=_brief,
    brief_heading="near / far accuracy ↑ ± half of its 95% interval",
    draw=draw_results,
    details=reach_rows,
    brief_details={"reach by length ↑": brief_reach},
)

_TRAINING: Final = {
    "batch": 16,
    "optimizer": "adamw",
    "weight_decay": 0.0,
    "loss": "rank-cross-entropy",
    "width": 12,
    "head_bias": 5 / 6,
}
_LENGTHS: Final = {
    "8 x 96": {"width": 96},
    "8 x 128": {"width": 128},
}

_HALVED: Final = 3
"""The down-samplings of a U-Net: as many as a height of 8 allows. Its field covers a strip."""

TWINS_PROBE: Final = Probe(
    name="twins",
    like="rde",
    ability=LINKING,
    inputs=3,
    outputs=1,
    shape=(8, 64),
    width=12,
    build=SingleScale,
    frames={
        "single-scale": SingleScale,
        **{f"single-scale-{layers}": partial(SingleScale, layers=layers) for layers in (2, 3, 4)},
        "unet": partial(UNet, down_samplings=_HALVED),
    },
    network_options={"unet": {"width": 12, "down_samplings": _HALVED}},
    columns=("image", "rank", "distance"),
    input="image",
    convert=convert,
    metrics=(NearAccuracy, FarAccuracy),
    cue_metrics="synthprobe_models.reach.by_distance",
    order_metrics="synthprobe_models.reach.by_distance",
    check_same_scale=check_same_scale,
    trained_on=("rde", "twins"),
    together=2,
    alignable=False,  # a fit to each picture would tell twins apart
    guess=guess,
    presets={
        "paper": {"epochs": 1, **_TRAINING},
        "mini": {"epochs": 1, **_TRAINING},
        "quick": {"epochs": 1, **_TRAINING},
    },
    data={
        "mini": PresetData(
            sizes={"train": 16_000, "validation": 0, "test": 1_000},
            options=rde.SMALL_OPTIONS,
            further=_LENGTHS,
        ),
        "quick": PresetData(
            sizes={"train": 8_000, "validation": 0, "test": 1_000},
            options=rde.SMALL_OPTIONS,
            further=_LENGTHS,
        ),
    },
    small_options=rde.small_options,
)
