"""The Lambda layer and Lambda + TT, against their formulas, and what they are covariant to."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models import probes  # noqa: E402
from synthprobe_models.layers.lambda_layer import ENCODINGS, Lambda  # noqa: E402
from synthprobe_models.layers.lambda_tt import LambdaTT  # noqa: E402
from synthprobe_models.registry import STRUCTURES, find_structure  # noqa: E402
from tests.models.layers import naive  # noqa: E402
from tests.models.layers.naive import randomised  # noqa: E402

SHAPES = [(7,), (3, 5)]
NAMES = [name for name in STRUCTURES if name.startswith("lambda")]
SUMMED = ["lambda-cosine-sum-qkv", "lambda-cosine-sum-qv"]
DECORRELATED = ["lambda-cosine-decor", "lambda-pe", "lambda-pe-tt"]


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double)


@pytest.mark.parametrize("kind", [Lambda, LambdaTT])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("keys", "bias"), [(None, False), (16, True)])
@pytest.mark.parametrize("shape", SHAPES)
def test_layer_is_its_formula(kind, encoding, keys, bias, shape) -> None:
    family = "fourier" if keys else "cosine"
    layer = randomised(
        kind(8, shape, heads=2, keys=keys, bias=bias, encoding=encoding, family=family)
    )
    p = naive.encoding(family, keys or 8, shape)
    x = draw(2, 8, *shape)
    y = layer(x)
    assert y.shape == x.shape
    for sample, output in zip(x.flatten(2), y.flatten(2), strict=True):
        expected = naive.lambda_layer(layer, sample, encoding_mode=encoding, p=p)
        assert torch.allclose(output, expected)


def test_two_matrices_and_any_number_of_encoding_channels() -> None:
    shape = (4, 3)
    layer = randomised(
        Lambda(6, shape, heads=3, encoding="decor", encoding_channels=36, isotropic=False)
    )
    p, p2 = (naive.encoding("cosine", 36, shape, turned) for turned in (False, True))
    x = draw(1, 6, *shape)
    expected = naive.lambda_layer(layer, x[0].flatten(1), encoding_mode="decor", p=p, p2=p2)
    assert torch.allclose(layer(x)[0].flatten(1), expected)


def test_an_encoding_that_is_added_is_cut_to_the_channels() -> None:
    layer = randomised(Lambda(5, (4, 3), heads=1, encoding="sum-qkv"))
    p = naive.encoding("cosine", 8, (4, 3))[:5]
    x = draw(1, 5, 4, 3)
    expected = naive.lambda_layer(layer, x[0].flatten(1), encoding_mode="sum-qkv", p=p)
    assert torch.allclose(layer(x)[0].flatten(1), expected)


@pytest.mark.parametrize(("name", "probe"), [(n, p) for n in NAMES for p in probes.fitting(n)])
def test_every_parameter_matters(name: str, probe: str) -> None:
    shape = (5,) if probe == "color-code" else (5, 4)
    layer = randomised(find_structure(name).make(8, shape, probe))
    x = draw(2, 8, *shape)
    (layer(x) * draw(2, 8, *shape)).sum().backward()
    for part, parameter in layer.named_parameters():
        # A softmax over the positions cannot see a constant, yet the published count has it.
        unseen = part == "first_key.bias"
        assert (parameter.grad.abs().max() < 1e-12) == unseen, part


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_right_in_double_precision(name: str) -> None:
    options = {"window": 3} if "local" in name else {}
    layer = randomised(find_structure(name).make(4, (2, 3), "rde", heads=2, keys=4, **options))
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def run(x, *values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (x,))

    x = draw(1, 4, 2, 3).requires_grad_()
    layer(x)
    assert torch.autograd.gradcheck(run, (x, *parameters), fast_mode=True)


@pytest.mark.parametrize("name", NAMES)
def test_other_sizes_than_at_first_do_as_well(name: str) -> None:
    layer = find_structure(name).make(8, (4, 4), heads=2)
    for shape in ((1, 1), (9, 2), (4, 4)):
        assert layer(torch.randn(1, 8, *shape)).shape == (1, 8, *shape)


@pytest.mark.parametrize("name", ["lambda", "lambda-tt"])
def test_without_positions_a_permutation_is_carried_through(name: str) -> None:
    layer = randomised(find_structure(name).make(8, (11,), heads=2))
    x, order = draw(2, 8, 11), torch.randperm(11)
    assert torch.allclose(layer(x[..., order]), layer(x)[..., order])


@pytest.mark.parametrize("name", SUMMED + DECORRELATED)
def test_with_positions_a_permutation_is_not_carried_through(name: str) -> None:
    layer = randomised(find_structure(name).make(8, (11,), heads=2))
    x = draw(2, 8, 11)
    order = torch.tensor([5, 1, 2, 3, 4, 0, 6, 7, 8, 9, 10])
    assert (layer(x[..., order]) - layer(x)[..., order]).abs().max() > 1e-3


@pytest.mark.parametrize("isotropic", [True, False])
def test_a_mirror_image_is_carried_through_only_by_one_matrix(isotropic: bool) -> None:
    layer = randomised(Lambda(8, (5, 6), heads=2, encoding="decor", isotropic=isotropic))
    x = draw(2, 8, 5, 6)
    error = (layer(x.flip(-1)) - layer(x).flip(-1)).abs().max()
    assert error < 1e-12 if isotropic else error > 1e-3


@pytest.mark.parametrize("name", DECORRELATED)
@pytest.mark.parametrize("move", [(0, 0), (3, 1), (-2, 4)])
def test_the_positional_term_moves_with_the_weights(name: str, move) -> None:
    """Shift K̄, and y_pos at each position that stays inside is what it was before the shift."""
    H, W = shape = (9, 10)
    layer = randomised(find_structure(name).make(8, shape, heads=2))
    weights = torch.zeros(1, 2, 4, H, W, dtype=torch.double)
    weights[..., 3:6, 2:5] = torch.rand(1, 2, 4, 3, 3, dtype=torch.double)
    x = draw(1, 8, *shape)

    def term(k: torch.Tensor) -> torch.Tensor:
        return layer.positional(x, None, k.flatten(3), None, None).view(8, H, W)

    before, after = term(weights), term(weights.roll(move, (-2, -1)))
    here, there = inside(before, move), inside(after, tuple(-m for m in move))
    assert torch.allclose(here, there, rtol=0, atol=1e-12)


def inside(y: torch.Tensor, move) -> torch.Tensor:
    """The part of a map that a move by these rows and columns does not take outside."""
    (down, right), (H, W) = move, y.shape[-2:]
    return y[..., max(-down, 0) : H - max(down, 0), max(-right, 0) : W - max(right, 0)]


def error_of_covariance(layer, move) -> float:
    """Of the whole layer: an object on a background that gets no weight is moved.

    A background that gets weight would be seen to end at the borders, which do not move.
    """
    with torch.no_grad():
        layer.key.weight[:, 0] = 1
    x = torch.zeros(1, 8, 9, 10, dtype=torch.double)
    x[:, 0] = -1e4
    x[..., 3:6, 2:5] = draw(1, 8, 3, 3)
    moved = x.roll(move, (-2, -1))
    here, there = inside(layer(x), move), inside(layer(moved), tuple(-m for m in move))
    return ((here - there).abs().max() / here.abs().max()).item()


@pytest.mark.parametrize("move", [(3, 1), (-2, 4)])
@pytest.mark.parametrize("name", ["lambda-cosine-decor", "lambda-pe"])
def test_with_decor_the_output_moves_with_the_input(name: str, move) -> None:
    layer = randomised(find_structure(name).make(8, (9, 10), heads=2))
    assert error_of_covariance(layer, move) < 1e-12


@pytest.mark.parametrize("name", [*SUMMED, "lambda-coordconv"])
def test_with_sum_it_does_not(name: str) -> None:
    layer = randomised(find_structure(name).make(8, (9, 10), heads=2))
    assert error_of_covariance(layer, (3, 1)) > 1e-2


@pytest.mark.parametrize("name", NAMES)
def test_cost_is_linear_in_the_number_of_positions(name: str) -> None:
    def cost(height: int) -> int:
        layer = find_structure(name).make(16, (height, 8))
        with FlopCounterMode(display=False) as counter:
            layer(torch.zeros(1, 16, height, 8))
        return counter.get_total_flops()

    small, medium, large = cost(8), cost(16), cost(32)
    assert small > 0
    assert large - medium == 2 * (medium - small)


@pytest.mark.parametrize("name", [n for n in NAMES if "local" not in n])
def test_some_queries_cost_less_than_all(name: str) -> None:
    layer = find_structure(name).make(16, (16, 16))
    x = torch.zeros(1, 16, 16, 16)
    costs = []
    for queries in (None, torch.arange(16)):
        with FlopCounterMode(display=False) as counter:
            layer(x, queries)
        costs.append(counter.get_total_flops())
    assert costs[1] < 0.9 * costs[0]


def test_the_output_of_random_weights_does_not_grow_with_the_keys() -> None:
    torch.manual_seed(0)
    spreads = []
    for keys in (16, 1024):
        layer = Lambda(32, (64,), heads=1, keys=keys)
        with torch.no_grad():
            torch.nn.init.normal_(layer.query.weight, std=32**-0.5)
            # All of the weight on one position, so that lambda's entries have variance 1.
            torch.nn.init.normal_(layer.key.weight, std=50)
            torch.nn.init.normal_(layer.value.weight, std=32**-0.5)
        spreads.append(layer(torch.randn(8, 32, 64)).std().item())
    assert math.isclose(*spreads, rel_tol=0.25)


def test_bad_values_are_said() -> None:
    with pytest.raises(SynthprobeError, match="to 4 heads: take multiples of 4"):
        Lambda(6, (5,), heads=4)
    with pytest.raises(SynthprobeError, match="10 for the keys"):
        Lambda(8, (5,), heads=4, keys=10)
    with pytest.raises(SynthprobeError, match="no encoding 'add': take one of none, sum-qkv"):
        Lambda(8, (5,), encoding="add")
