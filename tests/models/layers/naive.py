"""Formulas of the supplement, written out for one sample at a time, for tests to compare with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn


def randomised(module: nn.Module) -> nn.Module:
    """The module in double precision, every parameter drawn anew."""
    module = module.double()
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def omega(family: str, channels: int, axes: int) -> list[float]:
    count = channels // (2 * axes)
    if family == "cosine":
        return [10_000 ** (-k / count) for k in range(count)]
    return [2 * math.pi * c / (2 * channels) for c in range(1, count + 1)]


def encoding(family: str, channels: int, shape: Sequence[int], turned: bool = False) -> Tensor:
    """P, (channels, N), entry by entry."""
    w = omega(family, channels, len(shape))
    first = (lambda a: -math.sin(a)) if turned else math.cos
    second = math.cos if turned else math.sin
    places = list(itertools.product(*(range(size) for size in shape)))
    p = torch.empty(channels, len(places), dtype=torch.double)
    for (n, place), c in itertools.product(enumerate(places), range(channels)):
        k, kind = divmod(c, 2 * len(shape))
        axis, wave = divmod(kind, 2)
        p[c, n] = (first, second)[wave](w[k] * place[axis])
    return p


def linear(layer: nn.Module, x: Tensor) -> Tensor:
    y = layer.weight @ x
    return y if layer.bias is None else y + layer.bias[:, None]


def softmax(x: Tensor) -> Tensor:
    e = (x - x.max(-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True)


def rows_of(head: int, heads: int, matrix: Tensor) -> Tensor:
    size = len(matrix) // heads
    return matrix[head * size : (head + 1) * size]


def lambda_layer(
    layer: nn.Module,
    x: Tensor,
    *,
    encoding_mode: str = "none",
    p: Tensor | None = None,
    p2: Tensor | None = None,
) -> Tensor:
    """A Lambda layer, with TT if it has such parts, of one sample (channels, N)."""
    given = x
    if encoding_mode.startswith("sum"):
        given = x + (p if layer.project is None else linear(layer.project, p))
    for_keys = given if encoding_mode == "sum-qkv" else x
    q, v = linear(layer.query, given), linear(layer.value, given)
    outputs, positional = [], []
    for h in range(layer.heads):
        k = rows_of(h, layer.heads, layer.key.weight) @ for_keys
        if hasattr(layer, "first_key"):
            k1 = softmax(rows_of(h, layer.heads, linear(layer.first_key, for_keys)))
            v1 = rows_of(h, layer.heads, linear(layer.first_value, for_keys))
            k = (k1 @ v1.T) @ k
        k_bar = softmax(k)
        content = k_bar @ rows_of(h, layer.heads, v).T
        outputs.append(content.T @ rows_of(h, layer.heads, q))
        if encoding_mode == "decor":
            # The dense matrix of all pairs of positions.
            pairs = rows_of(h, layer.heads, p).T @ rows_of(h, layer.heads, p if p2 is None else p2)
            positional.append(k_bar @ pairs)
    y = torch.cat(outputs)
    if positional:
        y_pos = torch.cat(positional)
        y = y + (y_pos if layer.project is None else linear(layer.project, y_pos))
    return y / math.sqrt(len(layer.query.weight) / layer.heads)
