"""The encoder: ResNet-18 with a dilated last stage."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.resnet import ResNet18  # noqa: E402
from tests.models.naive import drawn, picture, residual, run  # noqa: E402


def test_the_encoder_has_as_many_parameters_as_published() -> None:
    with torch.device("meta"):  # counting needs no weights
        encoder = ResNet18()
    assert count_parameters(encoder) == 11_176_512


STAGES = [(2, 1), (2, 1), (1, 2)]
"""Stride and dilation of the second, the third and the last stage."""


def largest_of_nine(x: Tensor) -> Tensor:
    """3x3 windows around every second position."""
    y = x[:, :, ::2, ::2].clone()
    for r in range(y.shape[2]):
        for c in range(y.shape[3]):
            window = x[:, :, max(2 * r - 1, 0) : 2 * r + 2, max(2 * c - 1, 0) : 2 * c + 2]
            y[:, :, r, c] = window.amax((2, 3))
    return y


def test_the_encoder_is_its_formula() -> None:
    encoder, x = drawn(ResNet18(3, 2)), picture(3, 33, 30)
    with torch.no_grad():
        fine, deep = encoder(x)
        y = largest_of_nine(run(x, encoder.stem[0], stride=2).clamp(min=0))
        for part in encoder.fine:
            y = residual(y, part)
        assert torch.allclose(fine, y, rtol=1e-10)
        for (first, second), (stride, rate) in zip(encoder.deep, STAGES, strict=True):
            y = residual(y, first, stride, (1, rate))
            y = residual(y, second, 1, (rate, rate))
        assert torch.allclose(deep, y, rtol=1e-10)


@pytest.mark.parametrize("size", [(64, 64), (71, 100)])
def test_the_dilated_stage_is_the_strided_one_with_the_positions_in_between(size) -> None:
    """At every second position, it gives what the ResNet-18 of the same weights gives."""
    dilated = drawn(ResNet18(3, 2))
    strided = copy.deepcopy(dilated)
    for part in strided.deep[2].modules():
        if isinstance(part, nn.Conv2d):
            part.dilation, part.padding = (1, 1), (part.kernel_size[0] // 2,) * 2
    first = strided.deep[2][0]
    first.first[0].stride = first.skip[0].stride = (2, 2)
    with torch.no_grad():
        x = picture(3, *size)
        found, plain = dilated(x).deep, strided(x).deep
    assert plain.shape[2] < found.shape[2]
    assert torch.allclose(found[:, :, ::2, ::2], plain, rtol=1e-10)


@settings(max_examples=10, deadline=None)
@given(height=st.integers(1, 70), width=st.integers(1, 70))
def test_sizes_are_halved_and_rounded_up(height: int, width: int) -> None:
    fine, deep = ResNet18(1, 1).eval()(torch.randn(1, 1, height, width))
    assert fine.shape == (1, 1, -(-height // 4), -(-width // 4))
    assert deep.shape == (1, 8, -(-height // 16), -(-width // 16))


def test_each_block_starts_as_its_skip() -> None:
    encoder = ResNet18(3, 4)
    x = torch.rand(2, 4, 9, 9)
    assert torch.equal(encoder.fine(x), x)
