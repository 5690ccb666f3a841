"""Inputs with few different columns give the outputs and gradients of all their positions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_models.layers.columns import MOST, Columns  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.registry import STRUCTURES  # noqa: E402
from tests.models.layers.naive import randomised  # noqa: E402

NAMES = [n for n in STRUCTURES if n.startswith("lambda") and not n.endswith("tt")]
SHAPE = (5, 7)


def pictures(values: int, seed: int) -> torch.Tensor:
    """Three pictures: of few values, of one value, and black with one white pixel."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(values, dtype=torch.double, generator=generator)
    which = torch.randint(values, (3, 1, *SHAPE), generator=generator)
    which[1:] = 0
    which[2, 0, 3, 2] = values - 1
    return drawn[which]


def outputs(network, x, queries):
    network.zero_grad()
    y = network(x, queries)
    y.sin().sum().backward()
    return y.detach(), [p.grad.clone() for p in network.parameters()]


@pytest.mark.parametrize("queries", [None, torch.tensor([3, 0, 17, 17, 34])])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"bias": True, "keys": 16}], ids=["plain", "bias"])
def test_outputs_and_gradients_are_those_of_all_positions(name: str, queries, options) -> None:
    torch.manual_seed(0)
    network = PROBES["centered-square"].make(name, shape=SHAPE, width=8, options=options)
    network = randomised(network.double())
    assert network.takes_columns
    for values in (1, 2, MOST):
        x = pictures(values, seed=values)
        fast = outputs(network, x, queries)
        network.takes_columns = False
        slow = outputs(network, x, queries)
        network.takes_columns = True
        assert torch.allclose(fast[0], slow[0], rtol=1e-11, atol=1e-11)
        for mine, plain in zip(fast[1], slow[1], strict=True):
            assert torch.allclose(mine, plain, rtol=1e-9, atol=1e-11)


def test_keys_far_apart_give_no_nan() -> None:
    network = PROBES["centered-square"].make("lambda-cosine-sum-qkv", shape=SHAPE, width=8)
    with torch.no_grad():
        network.layers[0].structure.key.weight.mul_(1e4)
    x = pictures(2, seed=0).float()
    assert network(x).isfinite().all()


@given(values=st.integers(1, MOST), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_columns_are_where_they_were(values: int, seed: int) -> None:
    x = pictures(values, seed)
    columns = Columns.of(x)
    assert columns is not None
    assert torch.equal(columns.at().view_as(x), x)
    assert torch.equal(columns.counts.sum(1), torch.full((3,), 35, dtype=torch.double))
    figures = torch.arange(70, dtype=torch.double).view(2, 35)
    assert torch.equal(columns.sums(figures).sum(-1), figures.sum(-1).expand(3, 2))


def test_many_columns_or_channels_are_left_as_they_are() -> None:
    assert Columns.of(torch.arange(MOST + 1.0).view(1, 1, -1)) is None
    assert Columns.of(torch.zeros(1, 2, 4)) is None


def test_layers_upon_layers_and_other_structures_do_not_take_them() -> None:
    probe = PROBES["centered-square"]
    assert not probe.make("lambda-pe", shape=SHAPE, width=8, layers=2).takes_columns
    assert not probe.make("lambda-pe-tt", shape=SHAPE, width=8).takes_columns
    summed = {"encoding": "sum-qv"}
    assert not probe.make("lambda-local-7", shape=SHAPE, width=8, options=summed).takes_columns
    assert not probe.make("transformer", shape=SHAPE, width=8).takes_columns
