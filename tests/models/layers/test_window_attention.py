"""Attention in windows against its formula, and how far its variants see."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_models.layers.window_attention import (  # noqa: E402
    EnhancedWindowAttention,
    InteractiveWindowAttention,
    WindowAttention,
    Windows,
)
from tests.models.layers.attending import (  # noqa: E402
    double,
    full_attention,
    project,
    randomised,
)

VARIANTS = (WindowAttention, InteractiveWindowAttention, EnhancedWindowAttention)


def windows_of(height: int, width: int, size: int):
    """The windows, each as slices of rows and columns."""
    for top in range(0, height, size):
        for left in range(0, width, size):
            yield slice(top, min(top + size, height)), slice(left, min(left + size, width))


def convolve(convolution, x):
    """3x3 in each channel of (C, H, W), with zeros around it."""
    _, height, width = x.shape
    y = convolution.bias[:, None, None].expand_as(x).clone()
    for i in range(height):
        for j in range(width):
            for k in range(max(0, i - 1), min(i + 2, height)):
                for m in range(max(0, j - 1), min(j + 2, width)):
                    y[:, i, j] += convolution.weight[:, 0, k - i + 1, m - j + 1] * x[:, k, m]
    return y


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("height", "width"), [(6, 3), (5, 7), (2, 4)])
def test_window_attention_is_its_formula(variant, height: int, width: int) -> None:
    layer = randomised(variant(4, (height, width), heads=2, window=3))
    x = double(4, height, width)
    _, _, values = project(layer.qkv, x, 3)
    values = values.T.view(4, height, width)
    mixed = torch.zeros_like(x)
    for rows, columns in windows_of(height, width, 3):
        window = x[:, rows, columns]
        seen = full_attention(2, *project(layer.qkv, window, 3))
        mixed[:, rows, columns] = seen.T.view_as(window)
        if variant is EnhancedWindowAttention:
            mixed[:, rows, columns] += convolve(layer.convolution, values[:, rows, columns])
    if variant is InteractiveWindowAttention:
        mixed += convolve(layer.convolution, values)
    (y,) = project(layer.out, mixed)
    assert torch.allclose(layer(x[None])[0], y.T.view(4, height, width))


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 10))
def test_what_is_cut_into_windows_can_be_joined(height: int, width: int, size: int) -> None:
    windows = Windows(height, width, size)
    x = torch.rand(2, height, width, 3)
    cut = windows.cut(x)
    assert torch.equal(windows.join(cut), x)
    parts = [x[:, rows, columns] for rows, columns in windows_of(height, width, size)]
    assert len(cut) == 2 * len(parts)
    for window, part in zip(cut[: len(parts)], parts, strict=True):
        assert torch.equal(window[: part.shape[1], : part.shape[2]], part[0])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("place", [(7, 7), (10, 3), (20, 20)])
def test_a_position_sees_its_window_and_with_lim_its_neighbours(variant, place) -> None:
    """So IWSA, too, is far from global in a single layer."""
    layer = randomised(variant(4, (21, 21), heads=2))
    x = double(1, 4, 21, 21).requires_grad_()
    i, j = place
    layer(x)[0, :, i, j].sum().backward()
    expected = torch.zeros(21, 21, dtype=torch.bool)
    if variant is InteractiveWindowAttention:
        expected[max(0, i - 1) : i + 2, max(0, j - 1) : j + 2] = True
    expected[i // 7 * 7 : i // 7 * 7 + 7, j // 7 * 7 : j // 7 * 7 + 7] = True
    assert torch.equal(x.grad[0].abs().sum(0) > 0, expected)
