"""The U-Net of the paper."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.parts import Mix  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402
from tests.models.naive import drawn, picture, resize  # noqa: E402


def test_the_baseline_has_as_many_parameters_as_published() -> None:
    assert count_parameters(UNet()) == 871_729


@pytest.mark.parametrize("width", [1, 5, 48])
def test_parameters_of_the_baseline_follow_the_formula(width: int) -> None:
    assert count_parameters(UNet(width=width)) == 344 * width**2 + 1649 * width + 1


@pytest.mark.parametrize("shape", [(32, 32), (33, 47), (64, 32)])
@pytest.mark.parametrize("make", [None, lambda channels, shape: torch.nn.Identity()])
def test_output_has_the_size_of_the_input(shape, make) -> None:
    network = UNet(make, shape=shape, width=4)
    assert network(torch.randn(2, 3, *shape)).shape == (2, 1, *shape)


def test_a_picture_too_small_to_be_halved_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="16 x 16 pixels cannot be halved 5 times"):
        UNet(shape=(16, 16))


def pooled(x: Tensor) -> Tensor:
    """The largest of each 2 x 2 pixels; an odd row or column at the end is left out."""
    rows, columns = x.shape[2] // 2, x.shape[3] // 2
    y = x.new_empty(*x.shape[:2], rows, columns)
    for r in range(rows):
        for c in range(columns):
            y[:, :, r, c] = x[:, :, 2 * r : 2 * r + 2, 2 * c : 2 * c + 2].amax((2, 3))
    return y


def at_scale(x: Tensor, scale: nn.Module) -> Tensor:
    """Three local parts one after the other and, beside them, the frame with the structure."""
    first, second, third = scale.local
    local = third(second(first(x)))
    if scale.non_local is None:
        return local
    enter, mix = scale.non_local
    assert isinstance(mix, Mix)
    other = mix(x if x.shape[1] == local.shape[1] else enter(x))
    return linear(torch.cat([local, other], 1), scale.join)


def linear(x: Tensor, part: nn.Module) -> Tensor:
    return torch.einsum("bchw,oc->bohw", x, part.weight) + part.bias.view(-1, 1, 1)


class Mean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3), keepdim=True).expand_as(x)


@pytest.mark.parametrize("make", [None, lambda channels, shape: Mean()])
@pytest.mark.parametrize("shape", [(8, 12), (7, 9)])
def test_a_u_net_is_its_formula(make, shape) -> None:
    network = drawn(UNet(make, inputs=2, outputs=3, shape=shape, width=4, down_samplings=2))
    x = picture(2, *shape)
    with torch.no_grad():
        fine = at_scale(linear(x, network.stem), network.encoder[0])
        middle = at_scale(pooled(fine), network.encoder[1])
        coarse = at_scale(pooled(middle), network.encoder[2])
        up = torch.cat([resize(coarse, *middle.shape[2:]), middle], 1)
        up = at_scale(up, network.decoder[0])
        up = torch.cat([resize(up, *shape), fine], 1)
        up = at_scale(up, network.decoder[1])
        assert torch.allclose(network(x), linear(up, network.head), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("make", [None, lambda channels, shape: Mean()])
def test_gradients_are_right_in_double_precision(make) -> None:
    network = drawn(UNet(make, inputs=1, shape=(3, 4), width=2, down_samplings=1))
    names, values = zip(*network.named_parameters(), strict=True)

    def of_parameters(x: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(network, dict(zip(names, parameters, strict=True)), (x,))

    x = picture(1, 3, 4).requires_grad_()
    assert torch.autograd.gradcheck(of_parameters, (x, *values), fast_mode=True)
