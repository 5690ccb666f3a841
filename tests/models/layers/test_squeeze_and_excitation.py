"""Squeeze-and-excitation against its formula."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.layers.squeeze_and_excitation import SqueezeAndExcitation  # noqa: E402
from tests.models.layers.attending import double, randomised  # noqa: E402


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_each_channel_is_scaled_by_a_factor_from_all_means(shape: tuple[int, ...]) -> None:
    layer = randomised(SqueezeAndExcitation(6, shape, ratio=2))
    x = double(2, 6, *shape)
    for one, y in zip(x, layer(x), strict=True):
        means = torch.stack([channel.sum() / channel.numel() for channel in one])
        hidden = (layer.compress.weight @ means + layer.compress.bias).clamp(min=0)
        assert len(hidden) == 3
        factors = 1 / (1 + torch.exp(-layer.restore.weight @ hidden - layer.restore.bias))
        for c, factor in enumerate(factors):
            assert torch.allclose(y[c], factor * one[c])
