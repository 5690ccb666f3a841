"""Convolutions and normalisations as their formulas say, to compare layers with."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402


def drawn(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module in double precision, evaluated, with every parameter and statistic drawn anew."""
    random = torch.Generator().manual_seed(seed)
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            fan_in = parameter[0].numel() if parameter.ndim > 1 else 1
            parameter.copy_(torch.randn(parameter.shape, generator=random) / fan_in**0.5)
        for part in module.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.running_mean.copy_(torch.randn(part.num_features, generator=random))
                part.running_var.copy_(0.5 + torch.rand(part.num_features, generator=random))
    return module


def picture(channels: int, height: int, width: int, batch: int = 2, seed: int = 1) -> Tensor:
    """A drawn input in double precision."""
    random = torch.Generator().manual_seed(seed)
    return torch.randn(batch, channels, height, width, generator=random, dtype=torch.double)


def convolve(x: Tensor, convolution: nn.Conv2d) -> Tensor:
    """Each output is the sum over the taps and the inputs of its group; outside there are zeros."""
    (stride, _), (rate, _) = convolution.stride, convolution.dilation
    margin, _ = convolution.padding
    weight, groups = convolution.weight, convolution.groups
    outputs, inputs, kernel, _ = weight.shape
    batch, _, height, width = x.shape
    framed = x.new_zeros(batch, x.shape[1], height + 2 * margin, width + 2 * margin)
    framed[:, :, margin : margin + height, margin : margin + width] = x
    reach = rate * (kernel - 1) + 1
    size = [(n + 2 * margin - reach) // stride + 1 for n in (height, width)]
    y = x.new_zeros(batch, outputs, *size)
    for o in range(outputs):
        first = o // (outputs // groups) * inputs
        for r in range(kernel):
            for c in range(kernel):
                seen = framed[:, first : first + inputs, r * rate :: stride, c * rate :: stride]
                seen = seen[:, :, : size[0], : size[1]]
                y[:, o] += (seen * weight[o, :, r, c].view(1, -1, 1, 1)).sum(1)
        if convolution.bias is not None:
            y[:, o] += convolution.bias[o]
    return y


def normalise(x: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """The statistics that it keeps, or those of the batch in training."""
    mean, variance = norm.running_mean, norm.running_var
    if norm.training:
        mean = x.mean((0, 2, 3))
        variance = (x - mean.view(-1, 1, 1)).square().mean((0, 2, 3))
    weight = norm.weight / (variance + norm.eps).sqrt()
    return (x - mean.view(-1, 1, 1)) * weight.view(-1, 1, 1) + norm.bias.view(-1, 1, 1)


def run(x: Tensor, parts: nn.Sequential) -> Tensor:
    """A convolution with its normalisation, but without its activation."""
    return normalise(convolve(x, parts[0]), parts[1])


def resize(x: Tensor, height: int, width: int) -> Tensor:
    """Bilinear interpolation between the centres of pixels, the outermost ones repeated."""
    for axis, size in ((2, height), (3, width)):
        old = x.shape[axis]
        rows = []
        for i in range(size):
            place = min(max((i + 0.5) * old / size - 0.5, 0.0), old - 1.0)
            low = int(place)
            high, part = min(low + 1, old - 1), place - low
            rows.append(x.select(axis, low) * (1 - part) + x.select(axis, high) * part)
        x = torch.stack(rows, axis)
    return x
