"""The Nyströmformer's attention against its formula, and in its limit."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_models.layers.nystromformer import (  # noqa: E402
    Nystromformer,
    pseudo_inverse,
    segment_means,
)
from tests.models.layers.attending import (  # noqa: E402
    attention,
    double,
    each_head,
    full_attention,
    project,
    randomised,
)


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(1, 12))
def test_landmarks_are_means_of_segments_of_almost_equal_length(n: int, segments: int) -> None:
    x = double(2, n, 3)
    means = segment_means(x, segments)
    count = min(n, segments)
    lengths = [n // count + (i < n % count) for i in range(count)]
    assert sum(lengths) == n
    start = 0
    for i, length in enumerate(lengths):
        assert torch.allclose(means[:, i], x[:, start : start + length].sum(1) / length)
        start += length
    assert means.shape[1] == count


def iterate(matrix, iterations: int):
    """The iteration, with its brackets resolved."""
    inverse = matrix.T / (matrix.abs().sum(0).max() * matrix.abs().sum(1).max())
    for _ in range(iterations):
        p = matrix @ inverse
        inverse = inverse @ (13 * torch.eye(len(p)) - 15 * p + 7 * p @ p - p @ p @ p) / 4
    return inverse


@pytest.mark.parametrize("shape", [(11,), (3, 4)])
@pytest.mark.parametrize("landmarks", [1, 4, 32])
def test_nystromformer_is_its_formula(shape: tuple[int, ...], landmarks: int) -> None:
    layer = randomised(Nystromformer(6, shape, heads=2, landmarks=landmarks))
    x = double(2, 6, *shape)

    def mix(head, q, k, v):
        q_few, k_few = segment_means(q, landmarks), segment_means(k, landmarks)
        core = attention(q_few, k_few, torch.eye(len(k_few), dtype=torch.double))
        to = attention(q, k_few, torch.eye(len(k_few), dtype=torch.double))
        return to @ iterate(core, 6) @ attention(q_few, k, v)

    for one, y in zip(x, layer(x), strict=True):
        mixed = each_head(mix, 2, *project(layer.qkv, one, 3))
        assert torch.allclose(y, mixed.T.view(6, *shape))


def test_iteration_tends_to_the_pseudo_inverse() -> None:
    matrices = (2 * double(3, 2, 6, 6)).softmax(-1)
    exact = torch.linalg.pinv(matrices)
    errors = [(pseudo_inverse(matrices, k) - exact).norm().item() for k in (4, 8, 12, 40)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-6 * exact.norm()


@pytest.mark.parametrize(("iterations", "tolerance"), [(6, 0.1), (40, 1e-6)])
def test_with_a_landmark_at_each_position_it_is_attention(
    iterations: int, tolerance: float
) -> None:
    torch.manual_seed(0)
    layer = randomised(Nystromformer(16, (12,), heads=1, landmarks=12, iterations=iterations))
    x = double(1, 16, 12)
    exact = full_attention(1, *project(layer.qkv, x[0], 3))
    assert (layer(x)[0].T - exact).norm() < tolerance * exact.norm()
