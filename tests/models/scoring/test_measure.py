"""The measure as a whole: which figures there are, and what alignment does to which of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, iter_samples  # noqa: E402
from synthprobe_models.data.torch_datasets import normalisation_of, to_network  # noqa: E402
from synthprobe_models.evaluation.rde.order import OrderMetrics  # noqa: E402
from synthprobe_models.metrics import Rmse  # noqa: E402
from synthprobe_models.probes import PROBES, find_probe  # noqa: E402
from synthprobe_models.scoring.measure import Measure, interval  # noqa: E402

CONFIG = RdeConfig(height=24, width=24, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)
SAMPLES = list(iter_samples("rde", config=CONFIG, stop=6))
SCALES = normalisation_of("rde", CONFIG)
ORDER = ("pairs_in_order", "whdr", "occlusion_f1")
SCALED = ("ord", "delta", "rmse")


def batch(seed: int = 0):
    arrays = {name: np.stack([s[name] for s in SAMPLES]) for name in SAMPLES[0]}
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    tensors |= to_network("rde", arrays, SCALES)
    noise = np.random.default_rng(seed).normal(0, 0.1, tensors["target"].shape)
    return tensors["target"] + torch.from_numpy(noise), tensors


def measure(prediction, tensors, **options):
    meter = Measure(find_probe("rde"), SCALES, **options)
    scene = {name: tensors[name] for name in meter.scene}
    meter.update(prediction, tensors["target"], **scene)
    return meter.compute()


def test_order_metrics_come_first_and_need_no_scale() -> None:
    found = measure(*batch(), align="scale-shift")
    assert tuple(found.figures) == ORDER + SCALED
    assert [figure.needs_scale for figure in found.figures.values()] == [False] * 3 + [True] * 3
    assert not found.left_out
    assert all(len(figure.values) == len(SAMPLES) for figure in found.figures.values())


def test_after_scale_and_shift_another_scale_gives_the_same_figures() -> None:
    prediction, tensors = batch()
    found = measure(prediction, tensors, align="scale-shift")
    other = measure(70 * prediction - 11, tensors, align="scale-shift")
    for name in ORDER + SCALED:
        assert other.figures[name].value == pytest.approx(found.figures[name].value, rel=1e-9)
    assert other.order == found.order
    raw = measure(70 * prediction - 11, tensors, align="none")
    assert raw.figures["rmse"].value > 5 * found.figures["rmse"].value
    assert raw.figures["whdr"] == found.figures["whdr"]


def test_without_alignment_figures_are_those_of_the_metrics() -> None:
    prediction, tensors = batch()
    found, metric, cues = (
        measure(prediction, tensors, align="none"),
        Rmse(),
        OrderMetrics.of(SCALES),
    )
    metric.update(prediction, tensors["target"])
    cues.update(prediction, **tensors)
    assert found.figures["rmse"].value == metric.compute()
    assert found.order == cues.compute().to_dict()


def test_by_order_alone_nothing_that_needs_a_scale_is_said() -> None:
    found = measure(*batch(), align="order")
    assert tuple(found.figures) == ORDER
    assert set(found.left_out) == set(SCALED)
    assert found.order["consistent"] is None
    assert found.order["pairs"]["of"] > 0


def test_on_another_scale_only_an_alignment_gives_figures_that_need_one() -> None:
    prediction, tensors = batch()
    reason = "the network was trained with 10 ranks"
    left = measure(prediction, tensors, align="none", other_scale=reason)
    assert all(reason in why for why in left.left_out.values())
    assert set(left.left_out) == set(SCALED)
    assert not measure(prediction, tensors, align="scale-shift", other_scale=reason).left_out


def test_an_inverted_prediction_is_counted_and_out_of_order() -> None:
    prediction, tensors = batch()
    found = measure(-prediction, tensors, align="scale-shift")
    assert found.inverted == len(SAMPLES)
    right = measure(prediction, tensors, align="scale-shift")
    assert found.order["pairs"]["right"] < right.order["pairs"]["right"]
    assert found.figures["rmse"].value == pytest.approx(right.figures["rmse"].value)


def test_intervals_are_those_of_student() -> None:
    values = [0.1, 0.4, None, 0.35, 0.2]
    known = [value for value in values if value is not None]
    expected = stats.t.interval(0.95, len(known) - 1, loc=np.mean(known), scale=stats.sem(known))
    assert interval(values) == pytest.approx(expected)
    assert interval([0.3, None]) == (None, None)
    assert interval([0.3, math.nan, 0.2]) == (None, None)


def test_samples_that_belong_together_count_once_in_an_interval() -> None:
    """As twins do: what is right in one is known from the other."""
    pairs = [0.1, 0.6, 0.35, 0.2]
    doubled = [value for value in pairs for _ in range(2)]
    assert interval(doubled, together=2) == pytest.approx(interval(pairs))
    opposite = [value for pair in pairs for value in (pair, 1 - pair)]
    assert interval(opposite, together=2) == pytest.approx((0.5, 0.5))


def test_the_interval_of_a_weighted_mean_is_about_that_mean_and_covers_it() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        weights = random.integers(1, 40, 60).astype(float)
        values = random.binomial(weights.astype(int), 0.3) / weights
        low, high = interval(values.tolist(), weights=weights.tolist())
        assert (low + high) / 2 == pytest.approx(np.average(values, weights=weights))
        covered += low <= 0.3 <= high
    assert 0.92 < covered / 400 < 0.98


@pytest.mark.parametrize("name", [name for name in PROBES if not PROBES[name].ordinal])
def test_other_probes_have_their_own_metrics(name) -> None:
    meter = Measure(find_probe(name), {}, align="none")
    assert meter.scene == ()
    by_order = ("near_order", "far_order") if name == "twins" else ()
    metrics = tuple(make().name for make in PROBES[name].metrics)
    assert tuple(meter.compute().figures) == (*by_order, *metrics)
