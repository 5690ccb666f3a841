"""Self-attention against its formula."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.layers.transformer import SelfAttention  # noqa: E402
from tests.models.layers.attending import (  # noqa: E402
    double,
    full_attention,
    project,
    randomised,
)


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_self_attention_is_its_formula(shape: tuple[int, ...]) -> None:
    layer = randomised(SelfAttention(6, shape, heads=3))
    x = double(2, 6, *shape)
    for one, y in zip(x, layer(x), strict=True):
        mixed = full_attention(3, *project(layer.qkv, one, 3))
        assert torch.allclose(y, project(layer.out, mixed.T)[0].T.view(6, *shape))


def test_dropout_drops_weights_in_training_only() -> None:
    plain, dropped = SelfAttention(4, (9,), heads=1), SelfAttention(4, (9,), heads=1, dropout=0.5)
    dropped.load_state_dict(plain.state_dict())
    x = torch.randn(2, 4, 9)
    assert torch.allclose(dropped.eval()(x), plain(x))
    assert not torch.allclose(dropped.train()(x), plain(x))
