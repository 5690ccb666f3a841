"""Scalable self-attention against its formula."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.layers.ssa import ScalableSelfAttention  # noqa: E402
from tests.models.layers.attending import (  # noqa: E402
    double,
    full_attention,
    project,
    randomised,
)


@pytest.mark.parametrize(("height", "width"), [(4, 6), (5, 7), (1, 2)])
def test_scalable_self_attention_is_its_formula(height: int, width: int) -> None:
    layer = randomised(
        ScalableSelfAttention(4, (height, width), heads=2, reduction=2, widening=1.5)
    )
    x = double(4, height, width)
    # One key for each square, of which the part outside of the picture is zero.
    squares = []
    for top in range(0, height, 2):
        for left in range(0, width, 2):
            square = layer.reduce.bias.clone()
            for i in range(top, min(top + 2, height)):
                for j in range(left, min(left + 2, width)):
                    square += layer.reduce.weight[:, 0, i - top, j - left] * x[:, i, j]
            squares.append(square)
    (wide,) = project(layer.widen, torch.stack(squares, 1))
    assert wide.shape[1] == 6
    centred = wide - wide.mean(1, keepdim=True)
    normal = centred / (centred.square().mean(1, keepdim=True) + 1e-6).sqrt()
    normal = normal * layer.norm.weight + layer.norm.bias
    active = normal * (1 + torch.erf(normal / 2**0.5)) / 2
    (q,) = project(layer.query, x)
    (k,) = project(layer.key, active.T)
    (v,) = project(layer.value, active.T)
    (y,) = project(layer.out, full_attention(2, q, k, v).T)
    assert torch.allclose(layer(x[None])[0], y.T.view(4, height, width))


@pytest.mark.parametrize(
    ("shape", "keys"), [((56, 56), 49), ((7, 7), 49), ((128, 128), 64), ((14, 56), 56), ((3, 2), 6)]
)
def test_about_49_keys_are_left_by_default(shape: tuple[int, int], keys: int) -> None:
    reduction = ScalableSelfAttention(8, shape, heads=1).reduction
    assert -(-shape[0] // reduction) * -(-shape[1] // reduction) == keys
