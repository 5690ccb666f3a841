"""Counts without building, against networks that are built."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.networks.counting import (  # noqa: E402
    build_bare,
    count_parameters,
    count_unet,
    nearest_width,
)
from synthprobe_models.networks.unet import UNet  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.registry import NETWORKS, STRUCTURES  # noqa: E402

RDE = PROBES["rde"]
OTHERS = [
    ("color-code", "linformer"),  # whose layers share a projection
    ("centered-square", "residual"),
    *((probe, name) for name, network in NETWORKS.items() for probe in network.probes),
]


@pytest.mark.parametrize("name", [name for name, one in STRUCTURES.items() if RDE.fits(one)])
def test_a_count_is_that_of_the_network_that_is_built(name: str) -> None:
    network = build_bare(lambda: RDE.make(name))
    assert RDE.count(name) == count_parameters(network)
    assert RDE.width_with(name) == network.head.weight.shape[1]


@pytest.mark.parametrize(("probe", "name"), OTHERS)
def test_what_is_not_a_u_net_with_a_structure_is_counted_as_it_is_built(probe, name) -> None:
    network = build_bare(lambda: PROBES[probe].make(name))
    assert PROBES[probe].count(name) == count_parameters(network)


@pytest.mark.parametrize("down_samplings", [0, 1, 3])
def test_a_u_net_of_other_sizes_is_counted_as_it_is_built(down_samplings: int) -> None:
    sizes = {"inputs": 2, "outputs": 5, "shape": (19, 8), "width": 6}
    sizes["down_samplings"] = down_samplings

    def by_shape(channels, shape) -> nn.Module:
        return nn.Linear(channels, shape[0] * shape[1])

    assert count_unet(by_shape, **sizes) == count_parameters(UNet(by_shape, **sizes))


def test_a_u_net_that_cannot_be_built_is_not_counted() -> None:
    with pytest.raises(SynthprobeError, match="16 x 16 pixels cannot be halved 5 times"):
        count_unet(lambda *_: nn.Identity(), inputs=3, outputs=1, shape=(16, 16), width=4)


@given(
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 2000),
    st.integers(1, 3000),
    st.integers(1, 40),
    st.integers(1, 5),
)
def test_nearest_width_equals_a_search_through_all(
    square: int, slope: int, constant: int, parameters: int, largest: int, heads: int
) -> None:
    asked = []

    def count(width: int) -> int:
        asked.append(width)
        if width % heads:
            raise SynthprobeError("heads must divide the width.")
        return square * width**2 + slope * width + constant

    if largest < heads:
        with pytest.raises(SynthprobeError, match="heads must divide the width"):
            nearest_width(count, parameters, largest)
        return
    found = nearest_width(count, parameters, largest)
    assert len(asked) == len(set(asked))
    errors = {w: abs(count(w) - parameters) for w in range(heads, largest + 1, heads)}
    assert errors[found] == min(errors.values())


def test_the_search_for_a_width_of_a_u_net_takes_few_counts() -> None:
    asked = []

    def count(width: int) -> int:
        asked.append(width)
        return 464 * width**2 + 1786 * width + 1

    assert nearest_width(count, 871_729, 48) == 41
    assert len(asked) <= 4


def test_counting_uses_up_no_random_numbers() -> None:
    before = torch.random.get_rng_state()
    on_cpu = build_bare(lambda: nn.Linear(2, 3, device="cpu"))
    assert count_parameters(on_cpu) == 9
    assert RDE.width_with("global-context", (32, 32)) == 41
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_bare_module_has_no_values_unless_it_needs_them() -> None:
    assert build_bare(lambda: nn.Linear(10**6, 10**6)).weight.is_meta

    def choosy() -> nn.Module:
        return nn.Linear(2, 2) if float(torch.ones(1)) else nn.Identity()

    before = torch.random.get_rng_state()
    assert not build_bare(choosy).weight.is_meta
    assert torch.equal(torch.random.get_rng_state(), before)
