"""The stack of layers, dense and at some positions only."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from synthprobe_models.registry import STRUCTURES  # noqa: E402

ASKED = [
    *(name for name in STRUCTURES if name.startswith("lambda")),
    "global-context",
    "global-average-pooling",
]


@pytest.mark.parametrize(
    ("name", "probe"),
    [(n, p) for n in ASKED for p in fitting(n) if p in ("centered-square", "color-code")],
)
def test_some_queries_are_those_of_the_dense_output(name: str, probe: str) -> None:
    shape = (5, 7)[: len(PROBES[probe].shape)]
    network = PROBES[probe].make(name, shape=shape, width=8, layers=2).double()
    x = torch.randn(2, PROBES[probe].inputs, *shape, dtype=torch.double)
    queries = torch.tensor([3, 0, 4, 4])
    dense = network(x).flatten(2)
    assert torch.allclose(network(x, queries), dense[..., queries], rtol=0, atol=1e-14)


def test_gradients_of_random_queries_are_right_on_average() -> None:
    network = PROBES["centered-square"].make("lambda-pe", shape=(3, 4), width=8).double()
    x = torch.randn(2, 1, 3, 4, dtype=torch.double)

    def gradient(queries: torch.Tensor | None) -> torch.Tensor:
        network.zero_grad()
        network(x, queries).square().mean().backward()
        return torch.cat([p.grad.flatten() for p in network.parameters()])

    parts = [gradient(part) for part in torch.randperm(12).view(3, 4)]
    assert torch.allclose(torch.stack(parts).mean(0), gradient(None))


def test_a_structure_that_cannot_be_asked_says_so() -> None:
    network = PROBES["centered-square"].make("deformable", shape=(4, 4), width=4)
    with pytest.raises(SynthprobeError, match="Deformable cannot be asked for some positions only"):
        network(torch.randn(1, 1, 4, 4), torch.tensor([0]))
