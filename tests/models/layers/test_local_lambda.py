"""The Lambda layer with a window, and with CoordConv, against their formulas."""

from __future__ import annotations

import itertools
import math

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.coord_conv import CoordConvLambda  # noqa: E402
from synthprobe_models.layers.local_lambda import LocalLambda  # noqa: E402
from synthprobe_models.layers.parts import Mix  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from tests.models.layers import naive  # noqa: E402
from tests.models.layers.naive import randomised  # noqa: E402


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double)


def local_term(layer: LocalLambda, x: torch.Tensor) -> torch.Tensor:
    """Position by position, tap by tap."""
    channels, H, W = x.shape
    q = naive.linear(layer.query, x.flatten(1)).view(layer.heads, -1, H, W)
    v = naive.linear(layer.value, x.flatten(1)).view(layer.heads, -1, H, W)
    weight, bias, half = layer.local.weight[:, 0], layer.local.bias, layer.window // 2
    y = torch.zeros_like(v)
    for i, j in itertools.product(range(H), range(W)):
        # The lambda of this position: (keys / heads, values / heads) in each head.
        lambdas = bias[None, :, None].expand(layer.heads, -1, v.shape[1]).clone()
        for a, b in itertools.product(range(layer.window), repeat=2):
            r, c = i + a - half, j + b - half
            if 0 <= r < H and 0 <= c < W:
                lambdas += weight[:, a, b][None, :, None] * v[:, None, :, r, c]
        y[:, :, i, j] = torch.einsum("hk,hkv->hv", q[:, :, i, j], lambdas)
    return y.reshape(channels, -1) / math.sqrt(len(weight))


@pytest.mark.parametrize(("window", "keys"), [(1, None), (3, 4), (5, 16)])
def test_local_lambda_is_its_formula(window: int, keys) -> None:
    layer = randomised(LocalLambda(8, (4, 3), heads=2, keys=keys, window=window))
    x = draw(2, 8, 4, 3)
    y = layer(x)
    for sample, output in zip(x, y, strict=True):
        expected = naive.lambda_layer(layer, sample.flatten(1)) + local_term(layer, sample)
        assert torch.allclose(output.flatten(1), expected)


def test_a_window_and_an_encoding_go_together() -> None:
    layer = randomised(LocalLambda(8, (4, 3), heads=2, window=3, encoding="decor"))
    x = draw(1, 8, 4, 3)
    p = naive.encoding("cosine", 8, (4, 3))
    decor = naive.lambda_layer(layer, x[0].flatten(1), encoding_mode="decor", p=p)
    assert torch.allclose(layer(x)[0].flatten(1), decor + local_term(layer, x[0]))


@pytest.mark.parametrize("window", [4, 0, -1])
def test_a_window_without_a_centre_is_refused(window: int) -> None:
    with pytest.raises(SynthprobeError, match=f"a window of width {window} has no centre"):
        LocalLambda(8, (4, 3), window=window)


def test_no_heads_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="heads is 0: there must be at least one"):
        LocalLambda(8, (4, 3), heads=0)


def with_coordinates(x: torch.Tensor) -> torch.Tensor:
    """Of (channels, H, W): each pixel's row and column, from -1 to 1, behind its channels."""
    _, H, W = x.shape
    rows = torch.tensor([[2 * i / (H - 1) - 1] * W for i in range(H)], dtype=torch.double)
    columns = torch.tensor([[2 * j / (W - 1) - 1 for j in range(W)]] * H, dtype=torch.double)
    return torch.cat([x, rows[None], columns[None]])


def test_coord_conv_is_lambda_with_two_more_channels() -> None:
    layer = randomised(CoordConvLambda(8, (4, 3), heads=2))
    x = draw(1, 8, 4, 3)
    expected = naive.lambda_layer(layer, with_coordinates(x[0]).flatten(1))
    assert torch.allclose(layer(x)[0].flatten(1), expected)


def test_both_convolutions_of_the_bottleneck_see_coordinates() -> None:
    frame = randomised(Mix(CoordConvLambda(4, (4, 3), heads=2), 4))
    bottleneck = frame.bottleneck
    x = draw(1, 4, 4, 3)
    expanded = bottleneck.expand(with_coordinates(bottleneck.norm(x)[0])[None])
    hidden = with_coordinates(nn.functional.gelu(expanded)[0])[None]
    assert torch.allclose(bottleneck(x), x + bottleneck.scale(bottleneck.reduce(hidden)))
    plain = 8 * 4**2 + 11 * 4
    assert count_parameters(frame) == plain + 3 * 4 * 6 + (2 * 16 + 2 * 4)


def test_gradients_of_the_bottleneck_are_right_in_double_precision() -> None:
    bottleneck = randomised(CoordConvLambda(2, (3, 2), heads=2).make_bottleneck(2))
    assert torch.autograd.gradcheck(bottleneck, (draw(1, 2, 3, 2).requires_grad_(),))
