"""The metrics by order of RDE, against plain loops, and under increasing maps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, iter_samples  # noqa: E402
from synthprobe_models.evaluation.rde.by_order import (  # noqa: E402
    ORDER,
    SCENE,
    OcclusionF1,
    PairsInOrder,
    Whdr,
)

CONFIG = RdeConfig(height=32, width=32, n_rectangles=5, n_vis=3, n_gap=3, n_par=3)
SAMPLES = list(iter_samples("rde", config=CONFIG, stop=20))  # one of them without any pair


def batch(seed: int, noise: float) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """Predictions that are right, and less so with noise for each rectangle."""
    random = np.random.default_rng(seed)
    rank = np.stack([sample["rank"] for sample in SAMPLES]).astype(np.float64)
    label = np.stack([sample["label"] for sample in SAMPLES])
    off = random.normal(0, noise, (len(SAMPLES), CONFIG.n_rectangles + 1))
    predicted = rank + np.stack([off[i][label[i]] for i in range(len(SAMPLES))])
    predicted += random.normal(0, 0.05, predicted.shape)
    scene = {name: torch.from_numpy(np.stack([s[name] for s in SAMPLES])) for name in SCENE}
    return torch.from_numpy(predicted)[:, None], torch.from_numpy(rank)[:, None], scene


def measured(metric, predicted, target, scene):
    metric.update(predicted, target, **scene)
    return metric.values


def plain_ranks(predicted: np.ndarray, label: np.ndarray) -> dict[int, float]:
    ranks = {}
    for k in range(1, int(label.max()) + 1):
        values = sorted(
            float(predicted[i, j])
            for i in range(label.shape[0])
            for j in range(label.shape[1])
            if label[i, j] == k
        )
        if values:
            ranks[k] = values[(len(values) - 1) // 2]
    return ranks


def two_of(ranks: dict[int, float]) -> Iterator[tuple[int, int]]:
    return ((a, b) for a in ranks for b in ranks if a != b)


def plain_pairs_in_order(ranks, true, above, label) -> float | None:
    pairs = [(a, b) for a, b in two_of(ranks) if above[a - 1][b - 1]]
    return sum(ranks[a] > ranks[b] for a, b in pairs) / len(pairs) if pairs else None


def plain_whdr(ranks, true, above, label) -> float | None:
    pairs = [(a, b) for a, b in two_of(ranks) if true[a - 1] > true[b - 1]]
    return sum(not ranks[a] > ranks[b] for a, b in pairs) / len(pairs) if pairs else None


def plain_f1(ranks, true, above, label) -> float | None:
    def reach(k: int, axis: int) -> tuple[int, int]:
        places = [int(place[axis]) for place in np.argwhere(label == k)]
        return min(places), max(places) + 1

    def meet(a: int, b: int) -> bool:
        return all(
            reach(a, axis)[0] <= reach(b, axis)[1] and reach(b, axis)[0] <= reach(a, axis)[1]
            for axis in (0, 1)
        )

    said = {(a, b) for a, b in two_of(ranks) if ranks[a] > ranks[b] and meet(a, b)}
    true_pairs = {(a, b) for a, b in two_of(ranks) if above[a - 1][b - 1]}
    if not said and not true_pairs:
        return None
    precision = len(said & true_pairs) / len(said) if said else 0.0
    recall = len(said & true_pairs) / len(true_pairs) if true_pairs else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


TWINS = [(PairsInOrder, plain_pairs_in_order), (Whdr, plain_whdr), (OcclusionF1, plain_f1)]


@pytest.mark.parametrize(("make", "plain"), TWINS)
@pytest.mark.parametrize("seed", [1, 2])
def test_metric_is_its_plain_twin_in_every_picture(make, plain, seed) -> None:
    predicted, target, scene = batch(seed, 1.0)
    expected = [
        plain(
            plain_ranks(predicted[i, 0].numpy(), sample["label"]),
            sample["rectangle_rank"].tolist(),
            sample["above"].tolist(),
            sample["label"],
        )
        for i, sample in enumerate(SAMPLES)
    ]
    found = measured(make(), predicted, target, scene)
    assert [value is None for value in found] == [value is None for value in expected]
    told = [value for value in found if value is not None]
    assert told == pytest.approx([value for value in expected if value is not None], rel=1e-12)
    assert len({round(value, 6) for value in told}) > 2  # or nothing was compared


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_increasing_maps_change_nothing(seed) -> None:
    predicted, target, scene = batch(seed, 1.0)
    for make in ORDER:
        plain = measured(make(), predicted, target, scene)
        for change in (torch.exp, torch.atan, lambda values: 3 * values**3 - 100):
            assert measured(make(), change(predicted), target, scene) == plain


def test_the_ground_truth_is_in_order_and_its_opposite_is_not() -> None:
    _, target, scene = batch(0, 0.0)
    for make, best in ((PairsInOrder, 1), (Whdr, 0)):
        assert set(measured(make(), target, target, scene)) == {best, None}
        assert set(measured(make(), -target, target, scene)) == {1 - best, None}
    assert set(measured(OcclusionF1(), -target, target, scene)) == {0, None}
    # Nor is a constant any order.
    assert set(measured(PairsInOrder(), 0 * target, target, scene)) == {0, None}


def test_a_pair_that_lies_apart_is_not_said_to_occlude() -> None:
    label = torch.zeros(1, 6, 6, dtype=torch.uint8)
    label[0, :2, :2], label[0, 4:, 4:] = 1, 2
    above = torch.zeros(1, 2, 2, dtype=torch.uint8)
    scene = {"label": label, "above": above, "rectangle_rank": torch.tensor([[1, 1]])}
    metric = OcclusionF1()
    metric.update(label[:, None].double(), label[:, None].double(), **scene)
    assert metric.values == [None]
    label[0, :5, :5] = 1  # now they touch, and what is said is false
    metric.update(label[:, None].double(), label[:, None].double(), **scene)
    assert metric.values == [None, 0]
