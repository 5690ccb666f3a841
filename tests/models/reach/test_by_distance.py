"""Accuracy by distance, against plain loops, and the theorem that it rests on."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra.numpy import arrays  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.reach.by_distance import (  # noqa: E402
    BINS,
    FarAccuracy,
    NearAccuracy,
    OrderMetrics,
    ScoredMetrics,
    bin_title,
)

PAIRS, HEIGHT, WIDTH = 5, 2, 9
SHAPE = (PAIRS, HEIGHT, WIDTH)
RANKS = st.sampled_from([1 / 3, 2 / 3, 1.0])
GIVEN = st.sampled_from([0.0, 0.5, 0.7, 5 / 6, 0.9, 1.0, math.nan])


@st.composite
def twins(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Predictions, targets and distances of some pairs, twin by twin."""
    rank = draw(arrays(np.float64, (*SHAPE, 2), elements=RANKS))
    prediction = draw(arrays(np.float64, (*SHAPE, 2), elements=GIVEN))
    distance = draw(arrays(np.int32, SHAPE, elements=st.integers(0, 120)))
    distance[rank[..., 0] == rank[..., 1]] = 0
    of_samples = [
        torch.from_numpy(np.moveaxis(both, -1, 1).reshape(2 * PAIRS, 1, HEIGHT, WIDTH).copy())
        for both in (prediction, rank)
    ]
    return of_samples[0], of_samples[1], torch.from_numpy(np.repeat(distance, 2, axis=0))


def plain(
    prediction: torch.Tensor, target: torch.Tensor, distance: torch.Tensor, low: int, high: int
) -> tuple[Fraction, int]:
    """How many are right of how many, pixel by pixel."""
    right, of = Fraction(0), 0
    for sample in range(2 * PAIRS):
        twin = sample + 1 if sample % 2 == 0 else sample - 1
        for y in range(HEIGHT):
            for x in range(WIDTH):
                if not low <= int(distance[sample, y, x]) <= high:
                    continue
                of += 1
                mine, other = float(target[sample, 0, y, x]), float(target[twin, 0, y, x])
                said, middle = float(prediction[sample, 0, y, x]), (mine + other) / 2
                if said == middle:
                    right += Fraction(1, 2)
                elif not math.isnan(said) and (said > middle) == (mine > other):
                    right += 1
    return right, of


@given(twins(), st.integers(1, 2 * PAIRS))
def test_counts_are_those_of_plain_loops_whatever_the_batches(
    drawn: tuple[torch.Tensor, torch.Tensor, torch.Tensor], batch: int
) -> None:
    counted, near, far = OrderMetrics.of({}), NearAccuracy(), FarAccuracy()
    for first in range(0, 2 * PAIRS, batch):
        prediction, target, distance = (part[first : first + batch] for part in drawn)
        for metric in (counted, near, far):
            metric.update(prediction, target, distance=distance)
    found = counted.compute()
    for bounds in BINS:
        right, of = plain(*drawn, bounds[0], bounds[1] or 10**6)
        count = found.by_distance[bin_title(bounds)]
        assert (count.right, count.of) == (float(right), of)
    for metric, count, low, high in (
        (near, found.near, 1, 4),
        (far, found.far, 17, 10**6),
    ):
        right, of = plain(*drawn, low, high)
        assert (count.right, count.of) == (float(right), of)
        assert metric.compute() == (
            float(right) / of if of else pytest.approx(math.nan, nan_ok=True)
        )


@given(twins(), st.integers(0, 2**32 - 1))
def test_whatever_gives_both_twins_the_same_is_right_in_exactly_half(
    drawn: tuple[torch.Tensor, torch.Tensor, torch.Tensor], seed: int
) -> None:
    _, target, distance = drawn
    one = torch.rand(PAIRS, 1, HEIGHT, WIDTH, generator=torch.Generator().manual_seed(seed))
    metrics = OrderMetrics.of({})
    metrics.update(one.repeat_interleave(2, 0), target, distance=distance)
    for count in metrics.compute().by_distance.values():
        assert 2 * count.right == count.of


def test_reach_ends_with_the_first_bin_that_is_not_reached() -> None:
    distance = torch.tensor([1, 5, 10, 17, 25]).reshape(1, 1, 5).repeat(2, 1, 1)
    target = torch.tensor([[2 / 3] * 5, [1.0] * 5]).reshape(2, 1, 1, 5)
    prediction = target.clone()
    prediction[:, :, :, 2] = 0  # right in one of the two
    metrics = OrderMetrics.of({})
    metrics.update(prediction, target, distance=distance)
    found = metrics.compute()
    assert found.reach == 9
    assert [found.by_distance[title].share for title in ("5 to 9", "10 to 16", "17 to 24")] == [
        1.0,
        0.5,
        1.0,
    ]
    assert found.by_distance["97 or more"].share is None
    text = "\n".join(found.lines())
    assert "reach, the last bin above 75%" in text
    assert found.to_dict()["reach"] == 9


def test_samples_that_are_no_twins_are_refused() -> None:
    distance = torch.tensor([[[1]], [[2]]])
    target = torch.ones(2, 1, 1, 1)
    with pytest.raises(SynthprobeError, match="the samples are no twins"):
        OrderMetrics.of({}).update(target, target, distance=distance)


@given(twins(), st.floats(0.1, 10), st.floats(-5, 5))
def test_compared_twins_need_no_scale(
    drawn: tuple[torch.Tensor, torch.Tensor, torch.Tensor], scale: float, shift: float
) -> None:
    prediction, target, distance = drawn
    right, of = 0.0, 0
    for sample in range(2 * PAIRS):
        twin = sample + 1 if sample % 2 == 0 else sample - 1
        for y in range(HEIGHT):
            for x in range(WIDTH):
                if int(distance[sample, y, x]) < 17:
                    continue
                of += 1
                said, other = float(prediction[sample, 0, y, x]), float(prediction[twin, 0, y, x])
                above = float(target[sample, 0, y, x]) > float(target[twin, 0, y, x])
                if said == other:
                    right += 0.5
                elif not math.isnan(said - other) and (said > other) == above:
                    right += 1
    for given_ in (prediction, torch.exp(prediction), scale * prediction + shift):
        metrics = ScoredMetrics.of({})
        metrics.update(given_, target, distance=distance)
        found = metrics.compute()
        assert (found.far.right, found.far.of) == (right, of)
        assert found.with_steps_of(found) is found
