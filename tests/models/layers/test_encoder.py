"""Encoder blocks against their formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.layers.encoder import PostNormEncoder, PreNormEncoder  # noqa: E402
from tests.models.layers.attending import double, randomised  # noqa: E402


def norm(part, x):
    """LayerNorm of (C, N)."""
    centred = x - x.mean(0)
    normal = centred / (centred.square().mean(0) + part.epsilon).sqrt()
    return part.weight[:, None] * normal + part.bias[:, None]


def feed_forward(layer, x):
    hidden = layer.expand.weight @ x + layer.expand.bias[:, None]
    return layer.reduce.weight @ hidden.clamp(min=0) + layer.reduce.bias[:, None]


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_pre_norm_block_normalises_inside_its_skips(shape: tuple[int, ...]) -> None:
    layer = randomised(PreNormEncoder(6, shape, heads=2, expansion=3))
    x = double(6, *shape)
    flat = x.flatten(1)
    y = flat + layer.attention(norm(layer.attention_norm, flat)[None])[0]
    y = y + feed_forward(layer, norm(layer.feed_forward_norm, y))
    assert torch.allclose(layer(x[None])[0], y.view(6, *shape))


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_post_norm_block_normalises_after_its_skips(shape: tuple[int, ...]) -> None:
    layer = randomised(PostNormEncoder(6, shape, heads=2, expansion=3))
    x = double(6, *shape)
    flat = x.flatten(1)
    y = norm(layer.attention_norm, flat + layer.attention(flat[None])[0])
    y = norm(layer.feed_forward_norm, y + feed_forward(layer, y))
    assert torch.allclose(layer(x[None])[0], y.view(6, *shape))
