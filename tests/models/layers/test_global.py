"""Global Context and Global Average Pooling, against their formulas."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from synthprobe_models.layers.global_average_pooling import GlobalAveragePooling  # noqa: E402
from synthprobe_models.layers.global_context import GlobalContext  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from tests.models.layers import naive  # noqa: E402
from tests.models.layers.naive import randomised  # noqa: E402

SHAPES = [(7,), (3, 5), (1, 1)]
KINDS = [GlobalContext, GlobalAveragePooling]


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double)


@pytest.mark.parametrize("shape", SHAPES)
def test_global_context_is_its_formula(shape) -> None:
    layer = randomised(GlobalContext(6, shape))
    x = draw(2, 6, *shape)
    y = layer(x)
    assert y.shape == x.shape
    for sample, output in zip(x.flatten(2), y.flatten(2), strict=True):
        scores = [(layer.attention.weight[0] @ column).exp() for column in sample.T]
        context = sum(s * column for s, column in zip(scores, sample.T, strict=True)) / sum(scores)
        hidden = torch.nn.functional.gelu(naive.linear(layer.reduce, context[:, None]))
        assert torch.allclose(output, naive.linear(layer.expand, hidden).expand_as(output))


@pytest.mark.parametrize("shape", SHAPES)
def test_global_average_pooling_is_the_mean(shape) -> None:
    x = draw(2, 6, *shape)
    y = GlobalAveragePooling(6, shape)(x)
    assert y.shape == x.shape
    for b in range(2):
        for c in range(6):
            mean = sum(x[b, c].flatten().tolist()) / x[b, c].numel()
            assert torch.allclose(y[b, c], torch.full(shape, mean, dtype=torch.double))


@pytest.mark.parametrize(("width", "count"), [(42, 1870), (6, 36 + 15 + 1), (1, 1 + 1 + 2 + 2)])
def test_global_context_has_the_parameters_of_its_formula(width: int, count: int) -> None:
    assert count_parameters(GlobalContext(width, (3, 3))) == count


@pytest.mark.parametrize("kind", KINDS)
def test_a_permutation_changes_nothing(kind) -> None:
    layer = randomised(kind(6, (11,)))
    x = draw(2, 6, 11)
    assert torch.allclose(layer(x[..., torch.randperm(11)]), layer(x))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_right_in_double_precision(kind) -> None:
    assert torch.autograd.gradcheck(randomised(kind(4, (2, 3))), draw(1, 4, 2, 3).requires_grad_())


def test_cost_of_global_context_is_linear_in_the_number_of_positions() -> None:
    layer = GlobalContext(8, (8,))

    def cost(size: int) -> int:
        with FlopCounterMode(display=False) as counter:
            layer(torch.zeros(1, 8, size))
        return counter.get_total_flops()

    assert cost(40) - cost(20) == 2 * (cost(20) - cost(10)) > 0
