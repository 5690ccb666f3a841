"""Modulated deformable convolution, against loops, a plain convolution and torchvision."""

from __future__ import annotations

import itertools
import math

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.deformable import Deformable, deform_conv2d  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from tests.models.layers.naive import randomised  # noqa: E402


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double)


def arguments(shape=(4, 5), size: int = 3, spread: float = 2.0, batch: int = 2):
    """Offsets of a few pixels, so that some taps lie on the border, and some far outside."""
    return (
        draw(batch, 3, *shape),
        spread * draw(batch, 2 * size**2, *shape),
        torch.rand(batch, size**2, *shape, dtype=torch.double),
        draw(4, 3, size, size),
        draw(4),
    )


def pixel(x: torch.Tensor, row: int, column: int) -> torch.Tensor:
    inside = 0 <= row < x.shape[1] and 0 <= column < x.shape[2]
    return x[:, row, column] if inside else torch.zeros(len(x), dtype=x.dtype)


def interpolated(x: torch.Tensor, row: float, column: float) -> torch.Tensor:
    """From the four pixels around; those outside of the picture are zero."""
    top, left = math.floor(row), math.floor(column)
    down, right = row - top, column - left
    return (
        (1 - down) * (1 - right) * pixel(x, top, left)
        + (1 - down) * right * pixel(x, top, left + 1)
        + down * (1 - right) * pixel(x, top + 1, left)
        + down * right * pixel(x, top + 1, left + 1)
    )


def loops(x, offset, mask, weight, bias) -> torch.Tensor:
    batch, _, H, W = x.shape
    size = weight.shape[-1]
    y = bias[:, None, None].expand(batch, -1, H, W).clone()
    for b, i, j in itertools.product(range(batch), range(H), range(W)):
        for tap, (r, c) in enumerate(itertools.product(range(size), repeat=2)):
            row = i + r - size // 2 + offset[b, 2 * tap, i, j].item()
            column = j + c - size // 2 + offset[b, 2 * tap + 1, i, j].item()
            value = mask[b, tap, i, j] * interpolated(x[b], row, column)
            y[b, :, i, j] += weight[:, :, r, c] @ value
    return y


@pytest.mark.parametrize(("shape", "size"), [((4, 5), 3), ((1, 7), 3), ((3, 2), 5), ((2, 2), 1)])
def test_deformable_convolution_equals_loops(shape, size: int) -> None:
    given = arguments(shape, size, batch=1)
    assert torch.allclose(deform_conv2d(*given), loops(*given))


def test_a_tap_half_a_pixel_outside_has_half_of_the_border() -> None:
    x = torch.ones(1, 1, 3, 3, dtype=torch.double)
    one = torch.ones(1, 1, 3, 3, dtype=torch.double)
    for shift, part in ((-0.5, 0.5), (-1.0, 0.0), (-7.0, 0.0), (0.25, 1.0)):
        offset = torch.zeros(1, 2, 3, 3, dtype=torch.double)
        offset[:, 0] = shift
        y = deform_conv2d(x, offset, one, one[:, :, :1, :1])
        assert torch.allclose(y[0, 0, 0], torch.full((3,), part, dtype=torch.double))


def test_without_offsets_it_is_a_plain_convolution() -> None:
    x, offset, mask, weight, bias = arguments()
    plain = torch.nn.functional.conv2d(x, weight, bias, padding=1)
    same = deform_conv2d(x, torch.zeros_like(offset), torch.ones_like(mask), weight, bias)
    assert torch.allclose(same, plain)


@pytest.mark.parametrize(("shape", "size"), [((4, 5), 3), ((9, 8), 7), ((1, 7), 3)])
def test_deformable_convolution_equals_torchvision(shape, size: int) -> None:
    pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
    from torchvision import ops
    from torchvision.extension import _has_ops

    if not _has_ops():
        pytest.skip("the compiled part of torchvision, with which this is compared, is missing")
    x, offset, mask, weight, bias = arguments(shape, size)
    theirs = ops.deform_conv2d(x, offset, weight, bias, padding=size // 2, mask=mask)
    assert torch.allclose(deform_conv2d(x, offset, mask, weight, bias), theirs)


def test_the_layer_is_guided_by_a_convnext_block() -> None:
    layer = randomised(Deformable(4, (5, 3), size=3))
    x = draw(2, 4, 5, 3)
    guide = layer.guide(x)
    expected = loops(x, guide[:, :18], torch.sigmoid(guide[:, 18:]), layer.weight, layer.bias)
    assert torch.allclose(layer(x), expected)
    assert layer(draw(1, 4, 1, 6)).shape == (1, 4, 1, 6)


def test_gradients_are_right_in_double_precision() -> None:
    given = [part.requires_grad_() for part in arguments((2, 3), 3, spread=0.7, batch=1)]
    assert torch.autograd.gradcheck(deform_conv2d, given)
    layer = randomised(Deformable(2, (2, 3), size=1))
    assert torch.autograd.gradcheck(layer, draw(1, 2, 2, 3).requires_grad_())


def test_parameters_at_the_published_width() -> None:
    guide = 21 * 49 + 21 + 2 * 21 + 4 * 21 * 22 + (4 * 21 + 2) * 3 * 49
    assert count_parameters(Deformable(21, (8, 8))) == guide + 49 * 21 * 21 + 21


def test_a_kernel_without_a_centre_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="a kernel of width 2 has no centre"):
        Deformable(4, (4, 4), size=2)
