"""What holds for all structures that attend, and which of them do not depend on the order."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch.func import functional_call  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.attention import attend  # noqa: E402
from synthprobe_models.registry import find_structure  # noqa: E402
from tests.models.layers.attending import (  # noqa: E402
    ONLY_2D,
    SMALL,
    double,
    operations,
    randomised,
)

BOTH = [name for name in SMALL if name not in ONLY_2D]
FIXED = ("mlp-mixer", "linformer")
EQUIVARIANT = ("transformer", "encoder-pre-norm", "encoder-post-norm", "squeeze-and-excitation")


def small(name: str, shape: tuple[int, ...], channels: int = 8):
    return randomised(find_structure(name).make(channels, shape, **SMALL[name]))


def shapes(name: str, one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
    return two if name in ONLY_2D else one


@pytest.mark.parametrize("name", SMALL)
def test_gradients_are_right_in_double_precision(name: str) -> None:
    layer = small(name, shapes(name, (5,), (3, 5)), channels=4)
    names, parameters = zip(*layer.named_parameters(), strict=True)
    x = double(2, 4, *shapes(name, (5,), (3, 5))).requires_grad_()

    def forward(x, *parameters):
        return functional_call(layer, dict(zip(names, parameters, strict=True)), (x,))

    assert torch.autograd.gradcheck(forward, (x, *parameters), fast_mode=True)


@pytest.mark.parametrize(
    ("name", "shape"),
    [(name, shape) for name in BOTH for shape in [(1,), (2,), (31,), (33,), (70,)]]
    + [(name, shape) for name in SMALL for shape in [(1, 1), (1, 9), (8, 7), (9, 5)]],
)
def test_any_number_of_positions_will_do(name: str, shape: tuple[int, ...]) -> None:
    layer = find_structure(name).make(16, shape)
    x = torch.randn(2, 16, *shape, requires_grad=True)
    y = layer(x)
    y.square().sum().backward()
    assert y.shape == x.shape
    assert all(t.isfinite().all() for t in (y, x.grad, *(p.grad for p in layer.parameters())))


@pytest.mark.parametrize("name", SMALL)
def test_no_sample_depends_on_the_others_of_its_batch(name: str) -> None:
    shape = shapes(name, (11,), (5, 4))
    layer = small(name, shape)
    x = double(3, 8, *shape)
    assert torch.allclose(layer(x), torch.cat([layer(one) for one in x.split(1)]))


@pytest.mark.parametrize("name", BOTH)
def test_a_picture_is_taken_row_by_row(name: str) -> None:
    picture, line = small(name, (3, 5)), small(name, (15,))
    line.load_state_dict(picture.state_dict())
    x = double(2, 8, 3, 5)
    assert torch.allclose(picture(x).flatten(2), line(x.flatten(2)))


@pytest.mark.parametrize("name", [name for name in SMALL if name not in FIXED])
def test_other_positions_than_at_construction_can_be_taken(name: str) -> None:
    built, other = shapes(name, (11,), (5, 4)), shapes(name, (6,), (3, 7))
    layer, same = small(name, built), small(name, other)
    same.load_state_dict(layer.state_dict())
    x = double(2, 8, *other)
    assert torch.equal(layer(x), same(x))


@pytest.mark.parametrize("name", FIXED)
def test_weights_of_positions_refuse_other_positions(name: str) -> None:
    layer = find_structure(name).make(8, (4, 5))
    with pytest.raises(SynthprobeError, match=f"{name} was built for 4 x 5 .* cannot take 4 x 6"):
        layer(torch.zeros(1, 8, 4, 6))
    with pytest.raises(SynthprobeError, match="cannot take 20"):
        layer(torch.zeros(1, 8, 20))


@pytest.mark.parametrize("name", SMALL)
def test_attention_alone_does_not_depend_on_the_order_of_positions(name: str) -> None:
    """Every approximation does: by its segments, its projection, its chunks, its windows."""
    shape = shapes(name, (12,), (3, 4))
    layer = small(name, shape)
    x = double(2, 8, *shape)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))

    def permuted(x):
        return x.flatten(2)[..., order].unflatten(-1, shape)

    assert torch.allclose(layer(permuted(x)), permuted(layer(x))) == (name in EQUIVARIANT)


def test_cost_of_full_mixing_is_quadratic_in_the_positions() -> None:
    c, n = 16, 64
    projections = 2 * 4 * c * c * n
    transformer = find_structure("transformer").make(c, (n,))
    assert operations(transformer, 1, c, n) == projections + 4 * c * n**2
    mixer = find_structure("mlp-mixer").make(c, (n,))
    assert operations(mixer, 1, c, n) == 16 * c * n**2


@pytest.mark.parametrize(
    "name",
    ["nystromformer", "linformer", "window-attention", "iwsa", "window-attention-lem", "ssa"],
)
def test_cost_is_linear_in_the_positions(name: str) -> None:
    def cost(times: int) -> int:
        shape = shapes(name, (64 * times**2,), (28 * times, 28 * times))
        return operations(find_structure(name).make(16, shape), 1, 16, *shape)

    # A constant part there may be, such as the pseudo-inverse.
    once, four_times, nine_times = (cost(k) for k in (1, 2, 3))
    assert 3 * (nine_times - four_times) == 5 * (four_times - once) > 0


def test_cost_of_hashing_is_almost_linear_in_the_positions() -> None:
    """Buckets become more: what is left beside the linear part is their rotations."""

    def cost(positions: int) -> float:
        layer = find_structure("reformer").make(16, (positions,), heads=2)
        return operations(layer, 1, 16, positions) / positions

    assert cost(128) < cost(1024) < cost(16384) < 1.35 * cost(128)


@pytest.mark.parametrize("name", [name for name in SMALL if "heads" in SMALL[name]])
def test_channels_must_be_divisible_by_heads(name: str) -> None:
    with pytest.raises(SynthprobeError, match="9 channels cannot be divided among 2 heads"):
        find_structure(name).make(9, (7, 7), heads=2)
    with pytest.raises(SynthprobeError, match="heads must be at least 1, not 0"):
        find_structure(name).make(9, (7, 7), heads=0)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("mlp-mixer", "expansion"),
        ("nystromformer", "landmarks"),
        ("nystromformer", "iterations"),
        ("linformer", "projected"),
        ("reformer", "bucket"),
        ("reformer", "rounds"),
        ("iwsa", "window"),
        ("ssa", "reduction"),
        ("encoder-pre-norm", "expansion"),
        ("squeeze-and-excitation", "ratio"),
        ("bottleneck", "reduction"),
        ("mobilenet-v2", "expansion"),
        ("resnext", "branches"),
        ("resnext", "branch_channels"),
        ("deformable", "size"),
    ],
)
def test_sizes_below_1_are_refused(name: str, option: str) -> None:
    with pytest.raises(SynthprobeError, match=f"{option} must be at least 1, not 0"):
        find_structure(name).make(8, (7, 7), **{option: 0})


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [("transformer", "dropout", 1.0), ("ssa", "widening", 0.0), ("ssa", "widening", math.nan)],
)
def test_numbers_out_of_range_are_refused(name: str, option: str, value: float) -> None:
    with pytest.raises(SynthprobeError, match=f"{option} must be .*, not {value}"):
        find_structure(name).make(8, (7, 7), **{option: value})


@pytest.mark.parametrize("queries", [1, 6])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_in_bfloat16_is_that_of_double_precision_but_for_rounding(
    queries: int, masked: bool
) -> None:
    shapes = [(2, 3, queries, 4), (2, 3, 9, 4), (2, 3, 9, 4)]
    short = [double(*shape).bfloat16().requires_grad_() for shape in shapes]
    exact = [x.detach().double().requires_grad_() for x in short]
    mask = (torch.arange(9) % 4 != 1)[None, None, None] if masked else None
    found, expected = attend(*short, mask), attend(*exact, mask)
    for output in (found, expected):
        output.double().square().sum().backward()
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found.double(), expected, atol=0.03)
    for x, y in zip(short, exact, strict=True):
        assert torch.allclose(x.grad.double(), y.grad, atol=0.03 * y.grad.abs().max().item())


def test_dropped_weights_leave_the_mean_of_the_values_as_it_is() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 1, n, 4) for n in (512, 512, 512))
    inputs = [x.bfloat16() for x in (q, k, v.abs())]
    whole, dropped = attend(*inputs), attend(*inputs, dropout=0.5)
    assert not torch.equal(whole, dropped)
    means = [float(x.float().mean()) for x in (whole, dropped)]
    assert means[1] == pytest.approx(means[0], rel=0.02)
