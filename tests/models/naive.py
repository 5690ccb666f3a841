"""Convolution, normalisation, attention as their formulas say, to compare layers with."""

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


def convolve(
    x: Tensor, part: nn.Conv2d, *, stride: int = 1, rate: int = 1, groups: int = 1
) -> Tensor:
    """Sums over taps and over the inputs of a group, around every (stride)-th position.

    Only the weights are the part's; its geometry is what the caller says. Outside there are zeros.
    """
    outputs, inputs, kernel, _ = part.weight.shape
    assert x.shape[1] == groups * inputs
    batch, _, height, width = x.shape
    margin = rate * (kernel // 2)
    framed = x.new_zeros(batch, x.shape[1], height + 2 * margin, width + 2 * margin)
    framed[:, :, margin : margin + height, margin : margin + width] = x
    y = x.new_zeros(batch, outputs, -(-height // stride), -(-width // stride))
    for o in range(outputs):
        first = o // (outputs // groups) * inputs
        for r in range(kernel):
            for c in range(kernel):
                seen = framed[:, first : first + inputs, r * rate :: stride, c * rate :: stride]
                seen = seen[:, :, : y.shape[2], : y.shape[3]]
                y[:, o] += (seen * part.weight[o, :, r, c].view(1, -1, 1, 1)).sum(1)
        if part.bias is not None:
            y[:, o] += part.bias[o]
    return y


def normalise(x: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """The statistics that it keeps, or those of the batch in training."""
    mean, variance = norm.running_mean, norm.running_var
    if norm.training:
        mean = x.mean((0, 2, 3))
        variance = (x - mean.view(-1, 1, 1)).square().mean((0, 2, 3))
    weight = norm.weight / (variance + norm.eps).sqrt()
    return (x - mean.view(-1, 1, 1)) * weight.view(-1, 1, 1) + norm.bias.view(-1, 1, 1)


def run(x: Tensor, parts: nn.Sequential, **geometry: int) -> Tensor:
    """A convolution with its normalisation, but without its activation."""
    return normalise(convolve(x, parts[0], **geometry), parts[1])


def residual(
    x: Tensor, block: nn.Module, stride: int = 1, rates: tuple[int, int] = (1, 1)
) -> Tensor:
    """Two convolutions and a skip."""
    inner = run(x, block.first, stride=stride, rate=rates[0]).clamp(min=0)
    skip = x if isinstance(block.skip, nn.Identity) else run(x, block.skip, stride=stride)
    return (skip + run(inner, block.second, rate=rates[1])).clamp(min=0)


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


def decode(deep: Tensor, fine: Tensor, decoder: nn.Module) -> Tensor:
    """Joined at the finer size, then convolved."""
    skip = torch.einsum("bchw,oc->bohw", fine, decoder.skip.weight)
    skip = skip + decoder.skip.bias.view(-1, 1, 1)
    y = torch.cat([resize(deep, *fine.shape[2:]), skip], 1)
    for part in decoder.convolutions:
        y = run(y, part).clamp(min=0)
    return y


def attend(queries: Tensor, seen: Tensor, layer: nn.Module) -> Tensor:
    """Sample by sample, head by head, token by token."""
    d = queries.shape[2] // layer.heads
    found = torch.empty_like(queries)
    for b in range(len(queries)):
        for h in range(layer.heads):
            own = slice(h * d, (h + 1) * d)
            q, k, v = (
                (part.weight[own] @ given[b].T).T + part.bias[own]
                for part, given in (
                    (layer.queries, queries),
                    (layer.keys, seen),
                    (layer.values, seen),
                )
            )
            for i in range(len(q)):
                weights = (k @ q[i] / d**0.5).exp()
                found[b, i, own] = (weights / weights.sum()) @ v
    return found @ layer.out.weight.T + layer.out.bias


def normalised(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Token by token."""
    centred = x - x.mean(-1, keepdim=True)
    spread = (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()
    return centred / spread * norm.weight + norm.bias


def transform(x: Tensor, layer: nn.Module, seen: Tensor | None = None) -> Tensor:
    """A transformer block that normalises first."""
    normal = normalised(x, layer.norm)
    x = x + attend(
        normal, normal if seen is None else normalised(seen, layer.norm_seen), layer.attention
    )
    norm, up, _, down = layer.perceptron
    inner = normalised(x, norm) @ up.weight.T + up.bias
    inner = inner * (1 + torch.erf(inner / 2**0.5)) / 2
    return x + inner @ down.weight.T + down.bias
