"""The structures before attention, against their formulas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.aspp import Aspp  # noqa: E402
from synthprobe_models.layers.bottleneck import BottleneckBlock  # noqa: E402
from synthprobe_models.layers.inception import InceptionModule, branch_channels  # noqa: E402
from synthprobe_models.layers.mobilenet_v2 import InvertedResidual  # noqa: E402
from synthprobe_models.layers.parts import ConvNextBlock  # noqa: E402
from synthprobe_models.layers.residual import ResidualBlock  # noqa: E402
from synthprobe_models.layers.resnext import ResNextBlock, comparable_channels  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from synthprobe_models.registry import find_structure  # noqa: E402
from tests.models.naive import convolve, drawn, normalise, picture, residual, run  # noqa: E402

NAMES = ["residual", "bottleneck", "inception", "resnext", "mobilenet-v2", "aspp", "convnext"]


def bottleneck(x: Tensor, block: BottleneckBlock) -> Tensor:
    inner = run(x, block.reduce).clamp(min=0)
    inner = run(inner, block.convolve).clamp(min=0)
    return (x + run(inner, block.restore)).clamp(min=0)


def resnext(x: Tensor, block: ResNextBlock) -> Tensor:
    """Branch by branch, each with convolutions of its own, as if there were no groups."""
    expand, convolution, join = block.expand[0], block.convolve[0], block.join[0]
    d = convolution.weight.shape[1]
    total = torch.zeros_like(x)
    for first in range(0, convolution.out_channels, d):
        own = slice(first, first + d)
        inner = torch.einsum("bchw,dc->bdhw", x, expand.weight[own, :, 0, 0])
        inner = part_of(block.expand[1], own, inner).clamp(min=0)
        branch = nn.Conv2d(d, d, 3, bias=False).double()
        branch.weight.data = convolution.weight[own]
        inner = part_of(block.convolve[1], own, convolve(inner, branch)).clamp(min=0)
        total += torch.einsum("bdhw,cd->bchw", inner, join.weight[:, own, 0, 0])
    return (x + normalise(total, block.join[1])).clamp(min=0)


def part_of(norm: nn.BatchNorm2d, own: slice, x: Tensor) -> Tensor:
    """Normalise with the statistics of some of the channels."""
    part = nn.BatchNorm2d(x.shape[1]).double().train(norm.training)
    part.weight.data, part.bias.data = norm.weight[own], norm.bias[own]
    part.running_mean, part.running_var = norm.running_mean[own], norm.running_var[own]
    return normalise(x, part)


def mobilenet_v2(x: Tensor, block: InvertedResidual) -> Tensor:
    inner = run(x, block.expand).clamp(0, 6)
    inner = run(inner, block.depthwise, groups=18).clamp(0, 6)
    return x + run(inner, block.reduce)


def inception(x: Tensor, module: InceptionModule) -> Tensor:
    one, three, five, pooled = module.branches
    found = [convolve(x, one[0]).clamp(min=0)]
    for reduce, convolution in (three, five):
        found.append(convolve(convolve(x, reduce[0]).clamp(min=0), convolution[0]).clamp(min=0))
    largest = torch.empty_like(x)
    for r in range(x.shape[2]):
        for c in range(x.shape[3]):
            window = x[:, :, max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2]
            largest[:, :, r, c] = window.amax((2, 3))
    found.append(convolve(largest, pooled[1][0]).clamp(min=0))
    return torch.cat(found, 1)


def aspp(x: Tensor, module: Aspp, rates: tuple[int, ...] = (3, 6, 9)) -> Tensor:
    found = [
        run(x, branch, rate=rate).clamp(min=0)
        for branch, rate in zip(module.local, (1, *rates), strict=True)
    ]
    mean = torch.stack([x[b].flatten(1).mean(1) for b in range(len(x))])[:, :, None, None]
    found.append(run(mean, module.pooled).clamp(min=0).repeat(1, 1, *x.shape[2:]))
    return torch.einsum("bchw,oc->bohw", torch.cat(found, 1), module.join.weight) + (
        module.join.bias.view(-1, 1, 1)
    )


def convnext(x: Tensor, block: ConvNextBlock) -> Tensor:
    y = convolve(x, block.depthwise, groups=3)
    found = torch.empty_like(y)
    for b in range(len(y)):
        for r in range(y.shape[2]):
            for c in range(y.shape[3]):
                at = y[b, :, r, c] - y[b, :, r, c].mean()
                at = at / (at.square().mean() + block.norm.epsilon).sqrt()
                at = block.expand.weight @ (at * block.norm.weight + block.norm.bias)
                at = at + block.expand.bias
                at = at * (1 + torch.erf(at / 2**0.5)) / 2
                found[b, :, r, c] = block.reduce.weight @ at + block.reduce.bias
    return x + found * block.scale.factor.view(-1, 1, 1)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("layer", "formula"),
    [
        (lambda: ResidualBlock(3, 3), residual),
        (lambda: ResidualBlock(3, 4), residual),
        (lambda: ResidualBlock(3, 3, stride=2), partial(residual, stride=2)),
        (lambda: ResidualBlock(3, 5, dilations=(1, 2)), partial(residual, rates=(1, 2))),
        (lambda: BottleneckBlock(8, (7, 6)), bottleneck),
        (lambda: ResNextBlock(6, (7, 6), branches=3, branch_channels=2), resnext),
        (lambda: InvertedResidual(3, (7, 6)), mobilenet_v2),
        (lambda: InceptionModule(3, 8), inception),
        (lambda: ConvNextBlock(3, 3), convnext),
        (lambda: Aspp(3, 4), aspp),
        (lambda: Aspp(3, 2, rates=(1, 2)), partial(aspp, rates=(1, 2))),
    ],
)
def test_a_layer_is_its_formula(
    layer: Callable[[], nn.Module], formula: Callable[..., Tensor], training: bool
) -> None:
    module = drawn(layer()).train(training)
    x = picture(inputs_of(module), 6, 27)  # wide enough for the largest dilation
    with torch.no_grad():
        assert torch.allclose(module(x), formula(x, module), rtol=1e-10, atol=1e-12)


def inputs_of(module: nn.Module) -> int:
    """The channels that its first convolution takes."""
    return next(part.in_channels for part in module.modules() if isinstance(part, nn.Conv2d))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(
    channels=st.integers(1, 40),
    height=st.integers(1, 12),
    width=st.integers(1, 12),
    training=st.booleans(),
)
def test_any_channels_and_any_size_stay(
    name: str, channels: int, height: int, width: int, training: bool
) -> None:
    shape = (height, width)
    module = find_structure(name).make(channels, shape).train(training)
    x = torch.randn(2, channels, *shape)
    y = module(x)
    assert y.shape == x.shape
    assert y.isfinite().all()


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_right_in_double_precision(name: str, training: bool) -> None:
    module = drawn(find_structure(name).make(4, (3, 5))).train(training)
    names, values = zip(*module.named_parameters(), strict=True)

    def of_parameters(x: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x,))

    x = picture(4, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(of_parameters, (x, *values), fast_mode=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_structure_goes_into_the_probes_on_pictures(name: str) -> None:
    assert fitting(name) == ("rde", "twins", "centered-square")
    stack = PROBES["centered-square"].make(name, shape=(9, 11), width=5)
    assert stack(torch.randn(2, 1, 9, 11)).shape == (2, 1, 9, 11)
    network = PROBES["rde"].make(name, shape=(33, 32), width=3)
    assert network(torch.randn(2, 3, 33, 32)).shape == (2, 1, 33, 32)


@pytest.mark.parametrize("c", [8, 64, 256])
def test_blocks_have_the_parameters_of_their_formulas(c: int) -> None:
    def count(name: str, **options: int) -> int:
        return count_parameters(find_structure(name).make(c, (8, 8), **options))

    q, t = c // 4, 6 * c
    assert count("residual") == 2 * 9 * c**2 + 2 * 2 * c
    assert count("bottleneck") == 2 * c * q + 9 * q**2 + 2 * (2 * q + c)
    assert count("mobilenet-v2") == 2 * c * t + 9 * t + 2 * (2 * t + c)
    assert count("aspp") == 2 * c**2 + 3 * 9 * c**2 + 5 * 2 * c + 5 * c**2 + c
    assert count("convnext") == 8 * c**2 + 58 * c
    for g, d in ((1, c), (4, 3), (c, 1)):
        assert count("resnext", branches=g, branch_channels=d) == (
            2 * c * g * d + 9 * g * d**2 + 2 * (2 * g * d + c)
        )


def test_aspp_has_as_many_parameters_as_published() -> None:
    assert count_parameters(Aspp(512, 256)) == 4_131_584


def test_branches_of_resnext_are_the_published_32_of_4_channels() -> None:
    convolution = find_structure("resnext").make(256, (14, 14)).convolve[0]
    assert (convolution.groups, convolution.in_channels) == (32, 32 * 4)


@given(channels=st.integers(1, 300), branches=st.integers(1, 40))
def test_branch_channels_of_resnext_are_those_nearest_to_a_bottleneck(
    channels: int, branches: int
) -> None:
    d = comparable_channels(channels, branches)
    wanted = 2 * channels * (channels / 4) + 9 * (channels / 4) ** 2

    def weights(width: float) -> float:
        return branches * (2 * channels * width + 9 * width**2)

    assert weights(d - 0.5) <= wanted * (1 + 1e-9) or d == 1
    assert weights(d + 0.5) >= wanted * (1 - 1e-9)


def test_inception_3a_has_the_published_channels_and_weights() -> None:
    module = InceptionModule(192, 256)
    convolutions = [part for part in module.modules() if isinstance(part, nn.Conv2d)]
    assert [part.out_channels for part in convolutions] == [64, 96, 128, 16, 32, 32]
    weights = sum(part.weight.numel() for part in convolutions)
    assert weights // 1024 == 159  # "159K" in the table of GoogLeNet
    assert round(weights * 28 * 28 / 1e6) == 128  # "128M" operations


@given(outputs=st.integers(1, 1000))
def test_branches_of_inception_share_all_outputs(outputs: int) -> None:
    channels = branch_channels(outputs)
    assert sum(channels) == outputs
    assert all(
        abs(got - outputs * share / 8) <= 1
        for got, share in zip(channels, (2, 4, 1, 1), strict=True)
    )


def test_aspp_says_that_it_cannot_be_trained_with_a_batch_of_1() -> None:
    module = Aspp(3, 3)
    with pytest.raises(SynthprobeError, match="cannot be trained with a batch of 1"):
        module(torch.randn(1, 3, 5, 5))
    assert module.eval()(torch.randn(1, 3, 5, 5)).shape == (1, 3, 5, 5)
