"""Alignment, against plain NumPy, and what it leaves as it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.evaluation.align import (  # noqa: E402
    align_batch,
    check_alignment,
    fit_scale_shift,
)


def plain_least_squares(p: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """By a general solver of least squares."""
    (scale, shift), *_ = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), y, rcond=None)
    return float(scale), float(shift)


def plain_robust(p: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    def lower_median(values: np.ndarray) -> float:
        return float(sorted(values.tolist())[(len(values) - 1) // 2])

    size = sum(abs(v - lower_median(p)) for v in p.tolist())
    scale = sum(abs(v - lower_median(y)) for v in y.tolist()) / size
    return scale, lower_median(y) - scale * lower_median(p)


@pytest.mark.parametrize(("robust", "plain"), [(False, plain_least_squares), (True, plain_robust)])
@pytest.mark.parametrize("seed", range(5))
def test_scale_and_shift_are_those_of_the_plain_twin(robust, plain, seed) -> None:
    random = np.random.default_rng(seed)
    target = random.integers(1, 12, (5, 7)) / 11
    prediction = 40 * target + random.normal(3, 5, target.shape)
    found = fit_scale_shift(torch.from_numpy(prediction), torch.from_numpy(target), robust=robust)
    scale, shift = plain(prediction.ravel(), target.ravel())
    assert (found.scale, found.shift) == pytest.approx((scale, shift), rel=1e-10)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-50, 50), st.booleans())
def test_scale_and_shift_of_a_prediction_do_not_matter(seed, scale, shift, robust) -> None:
    random = np.random.default_rng(seed)
    target = torch.from_numpy(random.integers(1, 12, (2, 1, 4, 5)) / 11)
    prediction = target + torch.from_numpy(random.normal(0, 0.2, target.shape))
    plain, _ = align_batch(prediction, target, robust=robust)
    changed, _ = align_batch(scale * prediction + shift, target, robust=robust)
    torch.testing.assert_close(plain, changed, rtol=1e-6, atol=1e-8)


def test_the_ground_truth_on_any_scale_is_found_again() -> None:
    target = torch.tensor([[[1.0, 2, 3, 3]]]).double()
    for robust in (False, True):
        aligned, (fit,) = align_batch(7 * target - 4, target, robust=robust)
        torch.testing.assert_close(aligned, target)
        assert fit.scale == pytest.approx(1 / 7)


def test_a_constant_becomes_the_mean_or_the_median() -> None:
    target = torch.tensor([[1.0, 1, 4, 6]])
    for robust, middle in ((False, 3.0), (True, 1.0)):
        aligned, (fit,) = align_batch(torch.full((1, 4), 0.1), target, robust=robust)
        assert fit.scale == 0
        assert aligned.tolist() == [[middle] * 4]


def test_each_picture_is_aligned_for_itself() -> None:
    random = np.random.default_rng(3)
    prediction, target = torch.from_numpy(random.normal(size=(2, 3, 1, 4, 4)))
    whole, _ = align_batch(prediction, target)
    parts = [align_batch(prediction[i : i + 1], target[i : i + 1])[0] for i in range(3)]
    assert torch.equal(whole, torch.cat(parts))


def test_what_runs_against_the_ground_truth_has_a_negative_scale() -> None:
    target = torch.tensor([[1.0, 2, 3]])
    assert align_batch(-target, target)[1][0].scale == pytest.approx(-1)


def test_alignments_that_there_are_not_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="take one of none, scale-shift, order"):
        check_alignment("median", ordinal=True, probe="rde")
    with pytest.raises(SynthprobeError, match="no order to align by"):
        check_alignment("order", ordinal=False, probe="color-code")
    check_alignment("none", ordinal=False, probe="color-code")
