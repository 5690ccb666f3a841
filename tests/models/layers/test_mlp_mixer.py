"""The perceptron over positions against its formula."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.layers.mlp_mixer import MlpMixer  # noqa: E402
from tests.models.layers.attending import double, randomised  # noqa: E402


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_mixer_is_one_perceptron_for_every_channel(shape: tuple[int, ...]) -> None:
    layer = randomised(MlpMixer(5, shape))
    x = double(2, 5, *shape)
    y = layer(x)
    for b in range(2):
        for c in range(5):
            hidden = layer.expand.weight @ x[b, c].flatten() + layer.expand.bias
            assert len(hidden) == 4 * x[b, c].numel()
            hidden = hidden * (1 + torch.erf(hidden / 2**0.5)) / 2
            out = layer.reduce.weight @ hidden + layer.reduce.bias
            assert torch.allclose(y[b, c], out.view(shape))
