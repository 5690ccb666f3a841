"""Color Code: three layers must find masked codes, which are shown elsewhere beside their colour.

It asks for grouping: a position must look up what others of its colour show.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Final

import torch

from synthprobe_data import Config
from synthprobe_models.metrics import MaskedCodeAccuracy, ShownCodeAccuracy
from synthprobe_models.networks.stack import LayerStack
from synthprobe_models.probes.ability import (
    IN_PART,
    NO,
    NOT_LEARNT,
    NOT_TRIED,
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

GROUPED: Final = 0.9
"""From this share of the way from guessing to all codes on, colours count as grouped."""
BEYOND_GUESSING: Final = 0.1
"""Below this share of the way, it counts as guessing."""
LEARNT: Final = 0.9
"""Below this share of the codes that are shown, not even these were learnt to be repeated."""


def convert(arrays: Arrays, normalisation: Normalisation) -> Sample:
    """``input`` (n, 3 + b, N), ``target`` (n, b, N) and ``masked`` (n, N).

    The paper gives no scale. Here colours and bits are from -1 to 1, so that a code that is masked,
    which the paper sets to 0, differs from every code that is shown.
    """
    color, code = (
        scaled(torch.as_tensor(arrays[name]).permute(0, 2, 1), normalisation[name])
        for name in ("color", "code")
    )
    revealed = torch.as_tensor(arrays["revealed"])
    shown = code * revealed.unsqueeze(1)
    return {"input": torch.cat([color, shown], 1), "target": code, "masked": revealed == 0}


def guess(_train: Sample, test: Sample, _config: Config) -> float:
    """The accuracy of the code that a sample shows most often, without colours.

    Of several, it is the one that comes first when codes are read as binary numbers.
    """
    bits, masked = test["target"], test["masked"]
    weights = 2 ** torch.arange(bits.shape[1])
    codes = ((bits > 0) * weights[:, None]).sum(1)
    counts = torch.zeros(len(codes), 2 ** bits.shape[1], dtype=torch.int64)
    counts.scatter_add_(1, codes, (~masked).long())
    common = counts.argmax(1)
    found = (common[:, None] // weights % 2 * 2 - 1)[:, :, None].expand_as(bits)
    metric = MaskedCodeAccuracy()
    metric.update(found, bits, masked=masked)
    return metric.compute()


def ways_to_all(found: Evidence) -> list[float] | None:
    """How much of the way from guessing to all codes each seed has gone.

    ``None`` if there is none to go.
    """
    if found.guess == 1:
        return None
    return [(value - found.guess) / (1 - found.guess) for value in found.test]


def decide_grouping(found: Evidence) -> Outcome:
    """Whether a masked code is looked up by its colour."""
    ways = ways_to_all(found)
    if ways is None:
        return Outcome(NOT_TRIED, "guessing finds every code of these samples")
    few = too_few(len(ways))
    if few is not None:
        return few
    if surely_above(ways, GROUPED):
        return Outcome(YES, f"finds masked codes by their colours, {agreement(found.test)}")
    shown = statistics.fmean(found.more[ShownCodeAccuracy.name])
    if shown < LEARNT:
        return Outcome(NOT_LEARNT, f"only {shown:.0%} of the codes that are shown are right")
    if surely_below(ways, BEYOND_GUESSING):
        return Outcome(NO, "no better than guessing without colours")
    way = statistics.fmean(ways)
    return Outcome(
        IN_PART, f"{way:.0%} of the way from guessing to all codes, {agreement(found.test)}"
    )


def _brief(found: Evidence) -> str:
    ways = ways_to_all(found)
    test = f"{statistics.fmean(found.test):.0%}"
    return test if ways is None else f"{test}, {with_half(ways)}"


GROUPING: Final = Ability(
    name="grouping",
    measure=MaskedCodeAccuracy.name,
    more=(ShownCodeAccuracy.name,),
    title="accuracy of masked codes",
    guess="the code shown most often, whatever its colour",
    decide=decide_grouping,
    rule=(
        f"Three layers must find masked codes, which are shown elsewhere beside the same "
        f"colour; all of them can be found. What counts is the share of the way from the "
        f"guess to 100%. *yes*: it is surely above {GROUPED:.0%}. Otherwise *not learnt*, if the "
        f"network repeats fewer than {LEARNT:.0%} of the codes that are shown, on average over "
        f"seeds; *no*, if the share is surely below {BEYOND_GUESSING:.0%}; *in part*, if none of "
        f"these."
    ),
    measured="{heading} {test}; of the codes shown {shown_code_accuracy}; guess {guess}",
    brief=_brief,
    brief_heading=(
        "masked codes found ↑, and of the way from guessing to all ± half of its 95% interval"
    ),
)

COLOR_CODE_PROBE: Final = Probe(
    name="color-code",
    ability=GROUPING,
    inputs=6,
    outputs=3,
    shape=(128,),
    width=256,
    build=partial(LayerStack, layers=3),
    columns=("color", "code", "revealed"),
    input="input",
    convert=convert,
    metrics=(MaskedCodeAccuracy, ShownCodeAccuracy),
    guess=guess,
    presets={
        "paper": {"epochs": 50, "batch": 256},
        "mini": {"epochs": 3, "batch": 32, "optimizer": "adamw", "width": 32},
        "quick": {
            "epochs": 8,
            "batch": 64,
            "optimizer": "adamw",
            "weight_decay": 0.0,
            "width": 32,
        },
    },
    data={
        "mini": PresetData(
            # As many positions for a colour as published, and parts of a quarter of the positions.
            config={"positions": 48, "colors": 4},
            sizes={"train": 16_000, "test": 2_000},
            options={
                "transformer": {"heads": 4},
                "nystromformer": {"heads": 4, "landmarks": 12},
                "linformer": {"heads": 4, "projected": 12},
                "reformer": {"heads": 4, "bucket": 12, "rounds": 1},
                "lambda": {"heads": 4},
                "lambda-tt": {"heads": 4},
            },
        ),
        "quick": PresetData(
            config={"positions": 32, "colors": 5}, sizes={"train": 3_200, "test": 500}
        ),
    },
)
