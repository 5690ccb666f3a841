"""The Linformer's attention against its formula, and in its limit."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.layers.linformer import Linformer  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from tests.models.layers.attending import (  # noqa: E402
    attention,
    double,
    each_head,
    full_attention,
    project,
    randomised,
)


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
@pytest.mark.parametrize("projected", [3, 20])
def test_linformer_is_its_formula(shape: tuple[int, ...], projected: int) -> None:
    layer = randomised(Linformer(6, shape, heads=2, projected=projected))
    x = double(2, 6, *shape)

    def mix(head, q, k, v):
        fewer = layer.projection[head].T
        return attention(q, fewer @ k, fewer @ v)

    for one, y in zip(x, layer(x), strict=True):
        mixed = each_head(mix, 2, *project(layer.qkv, one, 3))
        assert torch.allclose(y, mixed.T.view(6, *shape))


def test_with_an_identity_as_projection_it_is_attention() -> None:
    layer = randomised(Linformer(6, (7,), heads=2, projected=7))
    with torch.no_grad():
        layer.projection.copy_(torch.eye(7))
    x = double(1, 6, 7)
    assert torch.allclose(layer(x)[0].T, full_attention(2, *project(layer.qkv, x[0], 3)))


def test_layers_of_a_stack_share_one_projection() -> None:
    network = PROBES["color-code"].make("linformer", shape=(9,), width=16)
    first, *others = (mix.structure for mix in network.layers)
    assert len(others) == 2
    assert all(layer.projection is first.projection for layer in others)
    assert all(layer.qkv.weight is not first.qkv.weight for layer in others)
    assert len([p for p in network.parameters() if p is first.projection]) == 1
