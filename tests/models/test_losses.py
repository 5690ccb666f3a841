"""The losses, against their formulas in plain NumPy, and their gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.losses import (  # noqa: E402
    LEAST_DEPTH,
    LOSSES,
    find_loss,
    make_loss,
    mse,
    scale_invariant,
    silog,
    silog_of_batch,
    two_task,
)
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.training.settings import PRESET_NAMES  # noqa: E402


def depths(seed: int, samples: int = 3, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and targets (n, 1, H, W) in (0, 1]."""
    random = np.random.default_rng(seed)
    prediction = random.uniform(0.02, 1, (samples, 1, size, size + 1))
    return prediction, random.integers(1, 12, prediction.shape) / 11


def plain_scale_invariant(prediction: np.ndarray, target: np.ndarray) -> float:
    """The formula of AdaBins for each picture, pixel by pixel."""
    losses = []
    for picture, truth in zip(prediction, target, strict=True):
        g = [math.log(p) - math.log(t) for p, t in zip(picture.flat, truth.flat, strict=True)]
        n = len(g)
        losses.append(10 * math.sqrt(sum(x * x for x in g) / n - 0.85 / n**2 * sum(g) ** 2))
    return sum(losses) / len(losses)


def plain_silog(prediction: np.ndarray, target: np.ndarray, weight: float) -> float:
    losses = []
    for picture, truth in zip(prediction, target, strict=True):
        error = np.log(truth) - np.log(picture)
        losses.append(math.sqrt(np.var(error) + weight * np.mean(error) ** 2))
    return sum(losses) / len(losses)


def plain_cross_entropy(scores: np.ndarray, classes: np.ndarray) -> float:
    total = 0.0
    for n, y, x in np.ndindex(classes.shape):
        score = scores[n, :, y, x]
        total += math.log(sum(math.exp(s) for s in score)) - score[classes[n, y, x]]
    return total / classes.size


def tensors(*arrays: np.ndarray) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(array) for array in arrays)


@pytest.mark.parametrize("seed", range(4))
def test_scale_invariant_loss_is_the_formula_of_adabins(seed) -> None:
    prediction, target = depths(seed)
    loss = scale_invariant(*tensors(prediction, target))
    assert loss.item() == pytest.approx(plain_scale_invariant(prediction, target), rel=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.15, 0.5, 1.0])
def test_silog_is_variance_plus_weighted_squared_mean_then_its_root(weight) -> None:
    prediction, target = depths(5)
    loss = silog(*tensors(prediction, target), weight=weight)
    assert loss.item() == pytest.approx(plain_silog(prediction, target, weight), rel=1e-12)


def plain_silog_of_batch(prediction: np.ndarray, target: np.ndarray, gamma: float) -> float:
    """Code snippet 5 of the report, pixel by pixel."""
    errors = [
        math.log(max(t, 1e-6)) - math.log(max(p, 1e-6))
        for p, t in zip(prediction.flat, target.flat, strict=True)
        if t > 0
    ]
    mean = sum(errors) / len(errors)
    variance = sum((error - mean) ** 2 for error in errors) / len(errors)
    return math.sqrt(variance + gamma * mean**2 + 1e-6)


@pytest.mark.parametrize("weight", [0.0, 0.15, 1.0])
def test_silog_of_the_batch_has_one_root_a_mask_and_an_epsilon(weight) -> None:
    prediction, target = depths(12)
    target[0, 0, :2] = 0
    prediction[1, 0, 0, 0] = -3
    loss = silog_of_batch(*tensors(prediction, target), weight=weight)
    expected = plain_silog_of_batch(prediction, target, weight)
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    target[:] = 0
    assert silog_of_batch(*tensors(prediction, target)).item() == pytest.approx(1e-3)


def test_options_of_a_loss_are_known_and_in_their_range() -> None:
    depth, target = tensors(*depths(13))
    classes = torch.zeros(len(target), *target.shape[2:], dtype=torch.long)
    prediction = torch.cat([torch.zeros_like(depth), torch.ones_like(depth), depth], 1)
    loss = make_loss("two-task", {"weight": 1, "of_batch": True})
    assert torch.equal(loss(prediction, target, classes=classes), silog_of_batch(depth, target))
    assert make_loss("mse", {}) is mse
    for name, options, message in [
        ("two-task", {"weights": 0.5}, "two-task has no option 'weights': take of weight, of_b"),
        ("mse", {"weight": 0.5}, "the loss mse has no option 'weight': take of none"),
        ("two-task", {"weight": 1.5}, "weight is 1.5: it must be a number from 0 to 1"),
        ("two-task", {"of_batch": 1}, "of_batch is 1: it must be true or false"),
    ]:
        with pytest.raises(SynthprobeError, match=message):
            make_loss(name, options)


def test_without_weight_silog_does_not_see_the_scale() -> None:
    prediction, target = tensors(*depths(6))
    assert silog(3 * prediction, target, weight=0).item() == pytest.approx(
        silog(prediction, target, weight=0).item(), rel=1e-12
    )
    assert silog(3 * target, target, weight=1).item() == pytest.approx(math.log(3), rel=1e-12)


def test_mse_is_the_mean_over_all_entries() -> None:
    prediction, target = depths(7)
    assert mse(*tensors(prediction, target)).item() == pytest.approx(
        float(np.mean((prediction - target) ** 2)), rel=1e-12
    )


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
def test_two_tasks_share_the_loss_by_weight(weight) -> None:
    depth, target = depths(8)
    random = np.random.default_rng(8)
    scores = random.normal(size=(3, 5, 4, 5))
    classes = random.integers(0, 5, (3, 4, 5))
    prediction = np.concatenate([scores, depth], 1)
    loss = two_task(*tensors(prediction, target), classes=torch.from_numpy(classes), weight=weight)
    expected = (1 - weight) * plain_cross_entropy(scores, classes)
    expected += weight * plain_silog(depth, target, 0.15)
    assert loss.item() == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=30)
def test_halves_of_a_batch_average_to_the_whole(seed, first, second) -> None:
    prediction, target = tensors(*depths(seed, first + second))
    for loss in (scale_invariant, silog, mse):
        parts = [
            len(t) * loss(p, t).item()
            for p, t in zip(
                prediction.split([first, second]), target.split([first, second]), strict=True
            )
        ]
        assert sum(parts) / len(target) == pytest.approx(loss(prediction, target).item())


@pytest.mark.parametrize("loss", [scale_invariant, silog, mse])
def test_gradients_are_right_in_double_precision(loss) -> None:
    prediction, target = tensors(*depths(9))
    prediction[0, 0, 0, :2] = torch.tensor([-0.3, LEAST_DEPTH / 2])
    prediction.requires_grad_()
    assert torch.autograd.gradcheck(lambda p: loss(p, target), (prediction,))


@pytest.mark.parametrize("loss", [scale_invariant, silog, mse])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_perfect_prediction_has_loss_0_and_gradient_0(loss, dtype) -> None:
    target = torch.rand(2, 1, 3, 3).clamp(0.1).to(dtype)
    prediction = target.clone().requires_grad_()
    value = loss(prediction, target)
    value.backward()
    assert value.item() == 0
    assert torch.equal(prediction.grad, torch.zeros_like(target))


@pytest.mark.parametrize("value", [-2.0, -1e-3, 0.0, 1e-30])
def test_a_prediction_without_logarithm_still_has_a_way_up(value) -> None:
    target = torch.full((1, 1, 2, 3), 0.5)
    prediction = target.clone()
    prediction[0, 0, 0, 0] = value
    prediction.requires_grad_()
    loss = scale_invariant(prediction, target)
    loss.backward()
    assert loss.isfinite()
    assert prediction.grad[0, 0, 0, 0] < 0  # the step is against it: upwards


def test_half_precision_is_not_where_the_loss_is_found() -> None:
    prediction, target = (t.bfloat16() for t in tensors(*depths(10)))
    assert scale_invariant(prediction, target).dtype == torch.float32


@pytest.mark.parametrize("loss", [scale_invariant, silog, mse])
def test_not_a_number_is_not_hidden(loss) -> None:
    prediction, target = tensors(*depths(11))
    prediction[1, 0, 1, 1] = math.nan
    assert loss(prediction, target).isnan()


def test_shapes_that_would_broadcast_are_refused() -> None:
    with pytest.raises(SynthprobeError, match=r"\(2, 1, 4, 4\), but the target \(2, 4, 4\)"):
        mse(torch.zeros(2, 1, 4, 4), torch.zeros(2, 4, 4))


def test_losses_are_found_by_name_and_every_probe_has_one() -> None:
    names = "scale-invariant silog silog-of-batch mse two-task rank-cross-entropy"
    assert tuple(LOSSES) == tuple(names.split())
    assert find_loss("mse") is mse
    for probe in PROBES.values():
        losses = {probe.preset(size).get("loss", "mse") for size in PRESET_NAMES}
        assert len(losses) == 1
        assert losses <= set(LOSSES)
    with pytest.raises(SynthprobeError, match="no loss 'l1': take one of scale-invariant, silog"):
        find_loss("l1")
    with pytest.raises(SynthprobeError, match=r"weight is 2: it must be from 0 to 1\."):
        two_task(
            torch.zeros(1, 3, 1, 1), torch.ones(1, 1, 1, 1), classes=torch.zeros(1, 1, 1), weight=2
        )
