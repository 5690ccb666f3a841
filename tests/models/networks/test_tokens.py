"""Transformer blocks on tokens, against their formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.token_attention import Attention  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.tokens import (  # noqa: E402
    TokenBlock,
    edge_of,
    extract_latents,
)
from tests.models.naive import drawn, picture, resize, transform  # noqa: E402


def tokens(n: int, width: int, seed: int = 1) -> Tensor:
    return picture(n, width, 1, seed=seed)[..., 0]


@pytest.mark.parametrize("heads", [1, 2, 6])
def test_a_block_is_its_formula(heads: int) -> None:
    with torch.no_grad():
        layer, x = drawn(TokenBlock(6, heads)), tokens(5, 6)
        assert torch.allclose(layer(x), transform(x, layer), rtol=1e-10)
        layer, seen = drawn(TokenBlock(6, heads, cross=True)), tokens(7, 6, seed=2)
        assert torch.allclose(layer(x, seen), transform(x, layer, seen), rtol=1e-10)


def test_gradients_are_right_in_double_precision() -> None:
    x, seen = tokens(3, 4).requires_grad_(), tokens(5, 4, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(drawn(TokenBlock(4, 2)), (x,))
    assert torch.autograd.gradcheck(drawn(TokenBlock(4, 2, cross=True)), (x, seen))


def test_three_blocks_have_as_many_parameters_as_published() -> None:
    assert 3 * count_parameters(TokenBlock(256)) == 2_369_280
    assert count_parameters(TokenBlock(256, cross=True)) == 2_369_280 // 3 + 2 * 256


def test_dropout_acts_in_training_only_and_keeps_the_mean() -> None:
    layer, plain = Attention(4, 2, dropout=0.3), Attention(4, 2)
    plain.load_state_dict(layer.state_dict())
    torch.manual_seed(0)
    x = torch.randn(1, 6, 4).expand(20_000, -1, -1)
    with torch.no_grad():
        wanted, found = plain(x[:1], x[:1]), layer(x, x)
        error = found.std(0) / len(x) ** 0.5
        assert (error > 0).all()
        assert ((found.mean(0) - wanted[0]).abs() < 5 * error).all()
        assert torch.allclose(layer.eval()(x[:1], x[:1]), wanted)


def test_heads_dropout_and_bins_out_of_range_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="4 channels cannot be divided among 3 heads"):
        Attention(4, 3)
    with pytest.raises(SynthprobeError, match="dropout must be at least 0 and below 1, not 1"):
        Attention(4, 2, dropout=1)
    for bins in (-4, 0, 8):
        with pytest.raises(SynthprobeError, match=f"bins is {bins}: it must be a square number"):
            edge_of(bins)
    assert [edge_of(n) for n in (1, 4, 256)] == [1, 2, 16]


@pytest.mark.parametrize("size", [(8, 12), (3, 5), (1, 1)])
def test_latents_are_a_square_of_interpolated_features(size) -> None:
    x = picture(3, *size)
    latents, right = extract_latents(x, 4), resize(x, 4, 4)
    for r in range(4):
        for c in range(4):
            assert torch.allclose(latents[:, 4 * r + c], right[:, :, r, c])
