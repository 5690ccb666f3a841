"""The search for a learning rate."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from synthprobe_models.training.sweep import FIRST_RATES, rates_between, sweep
from synthprobe_models.training.trainer import DivergedError
from tests.models.small_runs import small_settings


class NoSamples:
    """In the place of a source: it is only asked for samples to choose by."""

    def for_choices(self) -> NoSamples:
        return self


def fake(best: float, seen: list[float]):
    def run(settings, source, out):
        seen.append(settings.rate)
        assert out == Path("out") / f"rate-{settings.rate:g}"
        if settings.rate > 0.05:
            raise DivergedError("the loss is nan at step 3")
        loss = abs(math.log(settings.rate / best))
        # Of what was trained on and of the test samples, which must not count.
        others = {"train": {"loss": -loss}, "test": {"loss": -loss}}
        return {"settings": settings.to_dict(), "validation": {"loss": loss}, **others}

    return run


def test_five_rates_then_four_between_the_best_two() -> None:
    seen: list[float] = []
    results = sweep(small_settings(), NoSamples(), Path("out"), fake(7e-3, seen))
    assert seen[:5] == list(FIRST_RATES)
    assert len(seen) == 9
    assert all(5e-3 < rate < 1e-2 for rate in seen[5:])
    losses = [r["validation"]["loss"] for r in results if "validation" in r]
    assert losses == sorted(losses)
    assert len(losses) == 8
    assert math.isnan(results[-1]["train"]["loss"])
    assert results[-1]["settings"]["rate"] == 0.1
    assert results[0]["settings"]["rate"] == min(seen, key=lambda rate: abs(math.log(rate / 7e-3)))


@given(st.floats(1e-5, 1.0), st.floats(1.1, 100.0))
def test_rates_between_are_in_equal_ratios(low: float, ratio: float) -> None:
    rates = rates_between(low * ratio, low)
    steps = [b / a for a, b in zip([low, *rates], [*rates, low * ratio], strict=True)]
    assert len(rates) == 4
    assert all(math.isclose(step, ratio**0.2, rel_tol=0.02) for step in steps)
