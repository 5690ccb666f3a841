"""The common parts, against their formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_models.layers.parts import (  # noqa: E402
    INITIAL_SCALE,
    ChannelNorm,
    ConvNextBlock,
    InvertedBottleneck,
    LayerScale,
    Mix,
    Pointwise,
)
from synthprobe_models.networks.counting import count_parameters  # noqa: E402

SHAPES = [(7,), (5, 3)]


def randomised(module: nn.Module) -> nn.Module:
    """The module in double precision, every parameter drawn anew."""
    module = module.double()
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


@pytest.mark.parametrize("shape", SHAPES)
def test_pointwise_is_one_matrix_at_every_position(shape) -> None:
    layer = randomised(Pointwise(4, 6))
    x = torch.randn(2, 4, *shape, dtype=torch.double)
    y = layer(x)
    for b, *place in torch.cartesian_prod(*(torch.arange(n) for n in (2, *shape))).tolist():
        at = (b, slice(None), *place)
        assert torch.allclose(y[at], layer.weight @ x[at] + layer.bias)


@pytest.mark.parametrize("shape", SHAPES)
def test_channel_norm_gives_mean_0_and_variance_1_before_its_weights(shape) -> None:
    layer = randomised(ChannelNorm(9))
    x = 3 + 5 * torch.randn(2, 9, *shape, dtype=torch.double)
    centred = x - x.mean(1, keepdim=True)
    normal = centred / (centred.square().mean(1, keepdim=True) + layer.epsilon).sqrt()
    weight, bias = (p.view(-1, *(1,) * len(shape)) for p in (layer.weight, layer.bias))
    assert torch.allclose(layer(x), normal * weight + bias)


def test_layer_scale_starts_at_its_initial_value() -> None:
    x = torch.randn(2, 3, 4, 5)
    assert torch.equal(LayerScale(3)(x), x * INITIAL_SCALE)


@pytest.mark.parametrize("shape", SHAPES)
def test_inverted_bottleneck_is_its_formula(shape) -> None:
    layer = randomised(InvertedBottleneck(4))
    x = torch.randn(2, 4, *shape, dtype=torch.double)
    hidden = nn.functional.gelu(layer.expand(layer.norm(x)))
    assert hidden.shape[1] == 16
    assert torch.allclose(layer(x), x + layer.scale(layer.reduce(hidden)))


@pytest.mark.parametrize("shape", SHAPES)
def test_mix_normalises_before_the_structure_and_skips_it(shape) -> None:
    layer = randomised(Mix(nn.Tanh(), 4))
    x = torch.randn(2, 4, *shape, dtype=torch.double)
    mixed = x + layer.scale(torch.tanh(layer.norm(x)))
    assert torch.allclose(layer(x), layer.bottleneck(mixed))


def test_a_structure_can_bring_its_own_bottleneck() -> None:
    class Own(nn.Identity):
        def make_bottleneck(self, channels: int) -> nn.Module:
            return Pointwise(channels, channels, bias=False)

    assert count_parameters(Mix(Own(), 4)) == 3 * 4 + 16


@pytest.mark.parametrize("width", [1, 6])
def test_parts_have_the_parameters_of_their_formulas(width: int) -> None:
    assert count_parameters(InvertedBottleneck(width)) == 8 * width**2 + 8 * width
    assert count_parameters(Mix(nn.Identity(), width)) == 8 * width**2 + 11 * width
    assert count_parameters(ConvNextBlock(width, width)) == 8 * width**2 + 58 * width
    assert count_parameters(ConvNextBlock(2 * width, width)) == 24 * width**2 + 114 * width


def test_a_convnext_block_skips_only_where_channels_stay() -> None:
    x = torch.randn(1, 4, 9, 9)
    same, other = ConvNextBlock(4, 4), ConvNextBlock(4, 3)
    for block in (same, other):
        nn.init.zeros_(block.scale.factor)
    assert torch.equal(same(x), x)
    assert torch.equal(other(x), torch.zeros(1, 3, 9, 9))


@pytest.mark.parametrize("layer", [InvertedBottleneck(3), Mix(nn.Tanh(), 3), ConvNextBlock(3, 2)])
def test_gradients_are_right_in_double_precision(layer) -> None:
    x = torch.randn(1, 3, 4, 5, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(randomised(layer), (x,))
