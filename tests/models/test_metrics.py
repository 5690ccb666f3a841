"""The metrics, against their formulas in plain loops, in batches of any size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.losses import mse, scale_invariant, two_task  # noqa: E402
from synthprobe_models.metrics import (  # noqa: E402
    GAP,
    METRICS,
    PAIRS,
    Delta,
    Iou,
    MaskedCodeAccuracy,
    MeanIou,
    MeanLoss,
    Metric,
    Ord,
    Rmse,
    ShownCodeAccuracy,
    SilogRmse,
    directions,
    generalisation_gap,
    pixel_pairs,
)
from synthprobe_models.probes import PROBES  # noqa: E402

Batch = dict[str, torch.Tensor]
FEW = 2_000  # pairs, where all of them would only take longer


def depth_batch(seed: int, samples: int) -> Batch:
    """Depths near one another, so that every ratio of the metrics occurs on both sides."""
    random = np.random.default_rng(seed)
    target = random.integers(1, 12, (samples, 1, 5, 6)) / np.float32(11)
    factor = random.choice([0.5, 0.79, 0.81, 0.98, 1, 1.02, 1.24, 1.26, 2], target.shape)
    prediction = target * factor.astype(np.float32)
    return {"prediction": torch.from_numpy(prediction), "target": torch.from_numpy(target)}


def square_batch(seed: int, samples: int) -> Batch:
    random = np.random.default_rng(seed)
    target = (random.random((samples, 1, 4, 4)) < random.random()).astype(np.float32)
    prediction = random.normal(0.5, 0.4, target.shape).astype(np.float32)
    return {"prediction": torch.from_numpy(prediction), "target": torch.from_numpy(target)}


def code_batch(seed: int, samples: int) -> Batch:
    random = np.random.default_rng(seed)
    target = random.choice(np.float32([-1, 1]), (samples, 2, 7))
    prediction = target + random.normal(0, 0.8, target.shape).astype(np.float32)
    masked = random.random((samples, 7)) < random.choice([0.2, 0.5])
    return {
        "prediction": torch.from_numpy(prediction),
        "target": torch.from_numpy(target),
        "masked": torch.from_numpy(masked),
    }


def plain_rmse(prediction: np.ndarray, target: np.ndarray) -> float:
    total = sum((float(p) - float(t)) ** 2 for p, t in zip(prediction, target, strict=True))
    return math.sqrt(total / len(target))


def plain_delta(prediction: np.ndarray, target: np.ndarray) -> float:
    off = 0
    for p, t in zip(prediction.tolist(), target.tolist(), strict=True):
        off += p <= 0 or max(p / t, t / p) > 1.25
    return off / len(target)


def plain_ord(prediction: np.ndarray, target: np.ndarray) -> float:
    def order(depth: Sequence[float], i: int, j: int) -> int:
        if depth[i] / depth[j] >= 1.03:
            return 1
        return -1 if depth[i] / depth[j] <= 1 / 1.03 else 0

    pairs = pixel_pairs(len(target), FEW).T.tolist()
    p, t = prediction.tolist(), target.tolist()
    return sum(order(p, i, j) != order(t, i, j) for i, j in pairs) / len(pairs)


def plain_iou(prediction: np.ndarray, target: np.ndarray) -> float:
    found = {i for i, value in enumerate(prediction) if value > 0.5}
    there = {i for i, value in enumerate(target) if value == 1}
    return len(found & there) / len(found | there) if found | there else 1.0


def scored_batch(seed: int, samples: int) -> Batch:
    """Depths, and the scores of four classes, of which not all occur in every picture."""
    random = np.random.default_rng(seed)
    depth = depth_batch(seed, samples)
    classes = random.integers(0, random.integers(2, 5, (samples, 1, 1)), (samples, 5, 6))
    scores = random.normal(size=(samples, 4, 5, 6))
    scores[:, 0] += classes == 0
    extra = {"scores": torch.from_numpy(scores), "classes": torch.from_numpy(classes)}
    return {**depth, **extra}


def plain_silog_rmse(prediction: np.ndarray, target: np.ndarray) -> float:
    errors = [
        math.log(max(p, 1 / 256)) - math.log(t) for p, t in zip(prediction, target, strict=True)
    ]
    mean = sum(errors) / len(errors)
    variance = sum((error - mean) ** 2 for error in errors) / len(errors)
    return 100 * math.sqrt(variance + 0.15 * mean**2)


def plain_mean_iou(scores: np.ndarray, classes: np.ndarray) -> float:
    """Of (n, 4, H, W) and (n, H, W), class by class, as sets of pixels."""
    found = scores.argmax(1)
    shares = []
    for one in range(4):
        there, claimed = ({*zip(*np.nonzero(x == one), strict=True)} for x in (classes, found))
        if there | claimed:
            shares.append(len(there & claimed) / len(there | claimed))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("sizes", [[7], [1, 2, 4]])
def test_mean_iou_is_that_of_all_pixels_and_counts_every_pixel_once(sizes) -> None:
    batch = scored_batch(5, 7)
    metric = MeanIou()
    fed(metric, batch, sizes)
    scores, classes = batch["scores"].numpy(), batch["classes"].numpy()
    assert metric.compute() == pytest.approx(plain_mean_iou(scores, classes), rel=1e-14)
    each = [plain_mean_iou(scores[i : i + 1], classes[i : i + 1]) for i in range(7)]
    assert metric.values == pytest.approx(each, rel=1e-14)
    found, counted = scores.argmax(1), np.zeros((4, 4), int)
    for i in np.ndindex(classes.shape):
        counted[classes[i], found[i]] += 1
    assert metric.confusion.tolist() == counted.tolist()
    assert math.isnan(MeanIou().compute())


@pytest.mark.parametrize("sizes", [[7], [3, 4]])
def test_silog_rmse_is_its_formula(sizes) -> None:
    batch = depth_batch(6, 7)
    batch["prediction"][0, 0, 0, 0] = -1
    rows = zip(
        *(batch[k].flatten(1).double().numpy() for k in ("prediction", "target")), strict=True
    )
    expected = [plain_silog_rmse(p, t) for p, t in rows]
    metric = fed(SilogRmse(), batch, sizes)
    assert metric.values == pytest.approx(expected, rel=1e-12)


def plain_accuracy(prediction: np.ndarray, target: np.ndarray, masked: np.ndarray) -> float | None:
    right = [
        [bit > 0 for bit in prediction[:, i]] == [bit == 1 for bit in target[:, i]]
        for i in range(len(masked))
        if masked[i]
    ]
    return sum(right) / len(right) if right else None


def plain_shown(prediction: np.ndarray, target: np.ndarray, masked: np.ndarray) -> float | None:
    return plain_accuracy(prediction, target, ~masked)


TWINS: list[tuple[Callable[[], Metric], Callable[[int, int], Batch], Callable[..., object]]] = [
    (Rmse, depth_batch, plain_rmse),
    (Delta, depth_batch, plain_delta),
    (partial(Ord, FEW), depth_batch, plain_ord),
    (Iou, square_batch, plain_iou),
    (MaskedCodeAccuracy, code_batch, plain_accuracy),
    (ShownCodeAccuracy, code_batch, plain_shown),
]


def fed(metric: Metric, batch: Batch, sizes: Sequence[int] | None = None) -> Metric:
    """The metric after the batch, in parts of these sizes."""
    parts = {name: tensor.split(list(sizes or [len(tensor)])) for name, tensor in batch.items()}
    for row in zip(*parts.values(), strict=True):
        metric.update(**dict(zip(parts, row, strict=True)))
    return metric


@pytest.mark.parametrize(("make", "draw", "plain"), TWINS)
@pytest.mark.parametrize("seed", [1, 2])
def test_metric_is_the_mean_of_its_plain_twin(make, draw, plain, seed) -> None:
    batch = draw(seed, 12)
    metric = fed(make(), batch)
    arrays = [
        tensor.numpy() if draw is code_batch else tensor.flatten(1).numpy()
        for tensor in batch.values()
    ]
    expected = [plain(*(array[i] for array in arrays)) for i in range(12)]
    for value, right in zip(metric.values, expected, strict=True):
        assert value is None if right is None else value == pytest.approx(right, rel=1e-14)
    counted = [value for value in expected if value is not None]
    assert metric.compute() == pytest.approx(sum(counted) / len(counted), rel=1e-14)
    assert 0 < metric.compute() < 1


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=4))
@settings(max_examples=25)
def test_batches_of_any_size_give_the_same_bits(seed, sizes) -> None:
    for make, draw, _ in TWINS:
        batch = draw(seed, sum(sizes))
        whole, parts = fed(make(), batch), fed(make(), batch, sizes)
        np.testing.assert_equal(parts.compute(), whole.compute())
        assert parts.values == whole.values
    batch = depth_batch(seed, sum(sizes))
    for loss in (scale_invariant, mse):
        whole, parts = fed(MeanLoss(loss), batch), fed(MeanLoss(loss), batch, sizes)
        assert parts.compute() == whole.compute()


def test_mean_loss_is_the_loss_of_the_whole() -> None:
    batch = depth_batch(3, 7)
    for loss in (scale_invariant, mse):
        whole = loss(batch["prediction"].double(), batch["target"].double()).item()
        assert fed(MeanLoss(loss), batch, [3, 4]).compute() == pytest.approx(whole, rel=1e-12)


def test_mean_loss_hands_on_what_the_loss_needs() -> None:
    batch = depth_batch(4, 5)
    classes = torch.randint(3, (5, 5, 6))
    prediction = torch.cat([torch.randn(5, 3, 5, 6), batch["prediction"]], 1)
    metric = MeanLoss(two_task, ["classes"])
    metric.update(prediction, batch["target"], classes=classes, image=torch.zeros(5, 3, 5, 6))
    whole = two_task(prediction.double(), batch["target"].double(), classes=classes)
    assert metric.compute() == pytest.approx(whole.item(), rel=1e-12)


@pytest.mark.parametrize("wrong", [0.0, -0.5, math.nan, math.inf])
def test_what_is_no_depth_is_never_right(wrong) -> None:
    target = torch.full((1, 1, 2, 2), 0.5)
    prediction = target.clone()
    prediction[0, 0, 0, 0] = wrong
    metric = fed(Delta(), {"prediction": prediction, "target": target})
    assert metric.compute() == 0.25
    pairs = pixel_pairs(4)
    metric = fed(Ord(), {"prediction": prediction, "target": target})
    assert metric.compute() == pytest.approx((pairs == 0).any(0).double().mean().item())


@pytest.mark.parametrize(
    ("prediction", "target", "wrong"),
    [
        ((-1.0, -2.0), (0.5, 0.5), 0),  # both are as near as can be
        ((-1.0, -2.0), (0.5, 0.1), 1),
        ((0.5, -0.5), (0.5, 0.1), 0),
    ],
)
def test_ord_takes_what_is_negative_for_nearest(prediction, target, wrong) -> None:
    batch = {"prediction": torch.tensor([prediction]), "target": torch.tensor([target])}
    assert fed(Ord(), batch).compute() == wrong


def test_not_a_number_is_no_bit() -> None:
    nothing = torch.full((1, 2, 3), math.nan)
    target, masked = -torch.ones(1, 2, 3), torch.ones(1, 3, dtype=torch.bool)
    batch = {"prediction": nothing, "target": target, "masked": masked}
    assert fed(MaskedCodeAccuracy(), batch).compute() == 0


def test_a_sample_with_nothing_masked_has_no_say() -> None:
    masked = torch.tensor([[False, False], [True, False]])
    code = torch.ones(2, 3, 2)
    metric = fed(MaskedCodeAccuracy(), {"prediction": code, "target": code, "masked": masked})
    assert metric.values == [None, 1.0]
    assert metric.compute() == 1


def test_iou_of_nothing_and_nothing_is_1() -> None:
    zeros = torch.zeros(1, 1, 3, 3)
    assert fed(Iou(), {"prediction": zeros, "target": zeros}).compute() == 1


def test_a_window_of_7_in_a_square_of_21_has_the_ninth() -> None:
    prediction, target = torch.zeros(2, 1, 64, 64)[None].split(1, 1)
    target[..., 20:41, 20:41] = 1
    prediction[..., 27:34, 27:34] = 1
    metric = fed(Iou(), {"prediction": prediction[0], "target": target[0]})
    assert metric.compute() == 1 / 9


def test_pairs_are_two_different_pixels_and_all_pixels_occur() -> None:
    pairs = pixel_pairs(30)
    assert pairs.shape == (2, PAIRS)
    assert (pairs[0] != pairs[1]).all()
    counts = torch.zeros(30, 30, dtype=torch.long)
    counts.index_put_((pairs[0], pairs[1]), torch.ones(PAIRS, dtype=torch.long), accumulate=True)
    drawn = counts[~torch.eye(30, dtype=torch.bool)].double()
    expected = PAIRS / (30 * 29)
    chi = ((drawn - expected) ** 2 / expected).sum().item()
    assert abs(chi - (30 * 29 - 1)) < 5 * math.sqrt(2 * (30 * 29 - 1))


def test_pairs_are_the_same_for_ever() -> None:
    """Computed once; published figures of Ord depend on them."""
    assert pixel_pairs(128 * 128)[:, :3].tolist() == [[607, 5921, 10424], [6458, 910, 8347]]
    with pytest.raises(SynthprobeError, match="at least two"):
        pixel_pairs(1)


def test_the_gap_is_test_minus_training_loss() -> None:
    assert generalisation_gap(train_loss=0.25, test_loss=1.0) == 0.75


def test_no_sample_gives_not_a_number() -> None:
    assert math.isnan(Rmse().compute())


def test_every_probe_has_metrics_with_names_of_their_own() -> None:
    names = [make().name for probe in PROBES.values() for make in probe.metrics]
    assert all(probe.metrics for probe in PROBES.values())
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("make", "draw", "_"), TWINS)
def test_what_is_right_is_at_the_better_end_of_a_metric(make, draw, _) -> None:
    batch = draw(1, 12)
    found = fed(make(), batch)
    right = fed(make(), {**batch, "prediction": batch["target"]})
    assert directions([found.name])["lower_is_better"] == {
        found.name: right.compute() < found.compute()
    }


def test_a_metric_of_another_package_is_known_by_its_name(monkeypatch) -> None:
    monkeypatch.setattr("synthprobe_models.metrics.METRICS", METRICS.copy())

    class Mine(Rmse):
        name = "mine"
        meaning = "of my own"

    class Same(Mine):
        pass

    assert directions([Mine.name]) == {
        "lower_is_better": {"mine": True},
        "meaning": {"mine": "of my own"},
    }
    assert fed(Same(), depth_batch(1, 2)).name == "mine"


def test_every_metric_says_in_words_what_it_is() -> None:
    names = [make().name for probe in PROBES.values() for make in probe.metrics]
    said = directions([*names, "loss", "segmentation_accuracy", "mean_iou", "silog_rmse", GAP])
    assert said["meaning"]["delta"].startswith("share of pixels that are off")
    assert said["lower_is_better"]["delta"]
    assert said["lower_is_better"][GAP]
    assert not said["lower_is_better"]["segmentation_accuracy"]
    assert all(said["meaning"].values())


def test_predictions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="there are 2 predictions for 3 targets"):
        Rmse().update(torch.zeros(2, 1), torch.zeros(3, 1))
    with pytest.raises(SynthprobeError, match="they must be equal"):
        Rmse().update(torch.zeros(2, 1, 3), torch.zeros(2, 3))
