"""The paper's search for a learning rate: five values, then four between the best two."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from synthprobe_models.data.source import Source
from synthprobe_models.training.run import choice_loss
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import DivergedError

FIRST_RATES: Final = (1e-1, 5e-2, 1e-2, 5e-3, 1e-3)
BETWEEN: Final = 4
RUNS: Final = len(FIRST_RATES) + BETWEEN

Runner = Callable[[TrainSettings, Source, Path], dict[str, Any]]
"""Trains with some settings in a folder and returns the result."""


def sweep(settings: TrainSettings, source: Source, out: Path, run: Runner) -> list[dict[str, Any]]:
    """Train with one learning rate after another; the results, the best first.

    What is best is said by the validation samples, or where there are none by the training samples;
    the test samples are left alone. A rate at which the loss is not a number is the worst of all.

    Parameters
    ----------
    settings
        Of every run, but for the rate.
    source
        The samples.
    out
        Has one folder for each run.
    run
        Trains and evaluates, or takes what is there already.
    """
    source = source.for_choices()
    results = {rate: _at(rate, settings, source, out, run) for rate in FIRST_RATES}
    best, second, *_ = sorted(results, key=lambda rate: choice_loss(results[rate]))
    for rate in rates_between(best, second):
        results[rate] = _at(rate, settings, source, out, run)
    return sorted(results.values(), key=choice_loss)


def rates_between(one: float, other: float, count: int = BETWEEN) -> list[float]:
    """Rates between two, in equal ratios, neither of the two among them."""
    low, high = sorted((one, other))
    return [float(f"{low * (high / low) ** (i / (count + 1)):.3g}") for i in range(1, count + 1)]


def _at(
    rate: float, settings: TrainSettings, source: Source, out: Path, run: Runner
) -> dict[str, Any]:
    at_rate = dataclasses.replace(settings, rate=rate)
    try:
        return run(at_rate, source, out / f"rate-{rate:g}")
    except DivergedError as error:
        failed = {"loss": math.nan}
        return {"settings": at_rate.to_dict(), "train": failed, "failed": str(error)}
