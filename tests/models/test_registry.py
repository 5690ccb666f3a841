"""Names of structures and networks, and the probes that take them in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES, find_probe, fitting  # noqa: E402
from synthprobe_models.registry import (  # noqa: E402
    STRUCTURES,
    find_network,
    find_structure,
    structure,
)


class Shifted(nn.Module):
    """Each position sees the one before it."""

    def __init__(self, channels: int, shape: tuple[int, ...], by: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.by = by

    def forward(self, x):
        return x.roll(self.by, -1) * self.weight[(..., *(None,) * (x.ndim - 2))]


@pytest.fixture
def shifted() -> Iterator[str]:
    structure("shifted", title="Shifted", options={"color-code": {"by": 3}})(Shifted)
    yield "shifted"
    del STRUCTURES["shifted"]


@pytest.mark.parametrize(
    ("probe", "shape", "channels"),
    [("rde", (32, 32), (3, 1)), ("centered-square", (9, 11), (1, 1)), ("color-code", (7,), (6, 3))],
)
def test_one_decorator_is_enough_for_every_probe(shifted, probe, shape, channels) -> None:
    inputs, outputs = channels
    network = PROBES[probe].make(shifted, shape=shape, width=4)
    assert network(torch.randn(2, inputs, *shape)).shape == (2, outputs, *shape)


def test_structure_adds_its_parameters_to_those_of_the_frame(shifted) -> None:
    width = 5
    stack = PROBES["color-code"].make(shifted, width=width)
    frame = 3 * (8 * width**2 + 11 * width)
    ends = (6 * width + width) + (3 * width + 3)
    assert count_parameters(stack) == frame + ends + 3 * width


def test_a_probe_sets_options_and_the_caller_sets_them_over(shifted) -> None:
    entry = find_structure(shifted)
    assert entry.make(2, (4,)).by == 1
    assert entry.make(2, (4,), "color-code").by == 3
    assert entry.make(2, (4,), "color-code", by=2).by == 2


def test_a_structure_fits_the_probes_with_as_many_axes(shifted) -> None:
    assert fitting(shifted) == ("rde", "twins", "centered-square", "color-code")
    structure("only-pictures", dimensions=[2])(Shifted)
    try:
        assert fitting("only-pictures") == ("rde", "twins", "centered-square")
        with pytest.raises(SynthprobeError, match="only-pictures does not fit the probe color-c"):
            PROBES["color-code"].make("only-pictures")
        with pytest.raises(SynthprobeError, match="along 2 axes, not 1"):
            find_structure("only-pictures").make(3, (5,))
    finally:
        del STRUCTURES["only-pictures"]


def test_a_whole_network_goes_only_into_its_own_probes() -> None:
    assert fitting("unet") == ("rde", "twins")
    assert count_parameters(PROBES["rde"].make("unet")) == 871_729
    with pytest.raises(SynthprobeError, match="unet does not fit the probe color-code"):
        PROBES["color-code"].make("unet")


def test_unknown_and_taken_names_are_said(shifted) -> None:
    with pytest.raises(SynthprobeError, match="there is no structure 'none'"):
        find_structure("none")
    with pytest.raises(SynthprobeError, match="there is no network 'none'"):
        find_network("none")
    with pytest.raises(SynthprobeError, match="there is no probe 'none'"):
        find_probe("none")
    with pytest.raises(SynthprobeError, match="the name 'shifted' is taken"):
        structure("shifted")(Shifted)
    for name in ("", "a/b", "../a", "-a", "a b", "a$b"):
        with pytest.raises(SynthprobeError, match="is no name: take letters"):
            structure(name)(Shifted)


def test_a_class_that_cannot_be_built_from_channels_and_shape_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="cannot be built from channels and shape alone"):
        structure("odd")(lambda channels: nn.Identity())
    assert "odd" not in STRUCTURES


def test_a_structure_that_needs_values_to_be_built_fits_every_probe() -> None:
    structure("choosy")(lambda channels, shape: nn.Dropout(float(torch.ones(1)) / 2))
    try:
        for probe in PROBES.values():
            width = probe.width_with("choosy")
            assert probe.make("choosy").head.weight.shape[1] == width <= probe.width
    finally:
        del STRUCTURES["choosy"]


def test_a_mistake_in_a_structure_is_not_taken_for_an_option() -> None:
    structure("mistaken")(lambda channels, shape: nn.Linear(channels, channels, **{"far": 1}))
    try:
        with pytest.raises(TypeError, match="far"):
            find_structure("mistaken").make(2, (4,))
    finally:
        del STRUCTURES["mistaken"]


def test_an_option_that_a_structure_does_not_have_is_named(shifted) -> None:
    with pytest.raises(SynthprobeError, match="shifted has no option 'far'"):
        find_structure(shifted).make(2, (4,), far=1)
