"""The encoder: ResNet-18 with a dilated last stage."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from synthprobe_models.layers.residual import ResidualBlock  # noqa: E402
from synthprobe_models.networks.resnet import ResNet18  # noqa: E402
from synthprobe_models.probes import count_parameters  # noqa: E402
from tests.models.naive import drawn, picture, run  # noqa: E402


def test_the_encoder_has_as_many_parameters_as_published() -> None:
    assert count_parameters(ResNet18()) == 11_176_512


def block(x: Tensor, part: ResidualBlock) -> Tensor:
    skip = x if isinstance(part.skip, nn.Identity) else run(x, part.skip)
    return (skip + run(run(x, part.first).clamp(min=0), part.second)).clamp(min=0)


def largest_of_nine(x: Tensor) -> Tensor:
    """3x3 windows around every second position."""
    rows = [
        [x[:, :, max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2].amax((2, 3)) for c in columns]
        for columns in [range(0, x.shape[3], 2)]
        for r in range(0, x.shape[2], 2)
    ]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def test_the_encoder_is_its_formula() -> None:
    encoder, x = drawn(ResNet18(3, 2)), picture(3, 33, 30)
    with torch.no_grad():
        fine, deep = encoder(x)
        y = largest_of_nine(run(x, encoder.stem[0]).clamp(min=0))
        for part in encoder.fine:
            y = block(y, part)
        assert torch.allclose(fine, y, rtol=1e-10)
        for stage in encoder.deep:
            for part in stage:
                y = block(y, part)
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
