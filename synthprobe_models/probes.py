"""The three probes: each puts a structure into a network that one dataset asks for one ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models import layers  # noqa: F401 - puts the structures into the registry
from synthprobe_models.counting import build_bare, count_parameters, count_unet, nearest_width
from synthprobe_models.networks.stack import LayerStack, MakeStructure
from synthprobe_models.networks.unet import UNet
from synthprobe_models.registry import NETWORKS, STRUCTURES, Structure, find_structure


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A dataset, and the network that takes a structure in."""

    name: str
    """That of its dataset."""
    ability: str
    """What it asks of a structure."""
    inputs: int
    """Channels that the network is given, by default."""
    outputs: int
    """Channels that it must find, by default."""
    shape: tuple[int, ...]
    """The positions, by default: the published ones."""
    width: int
    """Channels of the network, by default: the published ones."""
    build: Callable[..., nn.Module]
    """``build(make, inputs=, outputs=, shape=, width=, ...)``."""
    count_quickly: Callable[..., int] | None = None
    """From the same arguments to the parameters, if there is a quicker way than to build it."""
    parameters: int | None = None
    """If set, a structure's network has by default not this width, but the one up to it that gives
    the network the number of parameters nearest to this."""

    def fits(self, structure: Structure) -> bool:
        """Whether this probe can take this structure in."""
        return len(self.shape) in structure.dimensions

    def make(
        self,
        name: str,
        *,
        shape: Sequence[int] | None = None,
        width: int | None = None,
        inputs: int | None = None,
        outputs: int | None = None,
        options: Mapping[str, Any] | None = None,
        **network: Any,
    ) -> nn.Module:
        """Build the network with a structure, or a whole network of the registry.

        Parameters
        ----------
        name
            Of the structure or the network.
        shape, width, inputs, outputs
            Instead of the defaults.
        options
            Options of the structure.
        network
            Options of the network that takes it in.
        """
        sizes = self._sizes(shape, inputs=inputs, outputs=outputs)
        if name in NETWORKS:
            whole = NETWORKS[name]
            if self.name not in whole.probes:
                raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
            given = {} if width is None else {"width": width}
            return whole.build(*sizes.values(), **given, **network, **(options or {}))
        make, sizes = self._maker(name, sizes, options), sizes | network
        if width is None:
            width = self._default_width(self._counter(make, sizes))
        return self.build(make, **sizes, width=width)

    def width_with(
        self,
        name: str,
        shape: Sequence[int] | None = None,
        *,
        parameters: int | None = None,
        largest: int | None = None,
        options: Mapping[str, Any] | None = None,
        **network: Any,
    ) -> int:
        """Channels of the network with a structure, by default.

        Parameters
        ----------
        name
            Of the structure.
        shape
            Instead of the default.
        parameters, largest
            If given, the width up to the largest that gives the network the number of parameters
            nearest to this.
        options, network
            As for `make`.
        """
        sizes = self._sizes(shape)
        count = self._counter(self._maker(name, sizes, options), sizes | network)
        if parameters is None:
            return self._default_width(count)
        return nearest_width(count, parameters, self.width if largest is None else largest)

    def count(self, name: str) -> int:
        """Parameters of the network with a structure, or of a whole network, by default."""
        if name in NETWORKS:
            return count_parameters(build_bare(partial(self.make, name)))
        sizes = self._sizes()
        count = self._counter(self._maker(name, sizes), sizes)
        return count(self._default_width(count))

    def _sizes(
        self,
        shape: Sequence[int] | None = None,
        *,
        inputs: int | None = None,
        outputs: int | None = None,
    ) -> dict[str, Any]:
        return {
            "inputs": self.inputs if inputs is None else inputs,
            "outputs": self.outputs if outputs is None else outputs,
            "shape": self.shape if shape is None else tuple(shape),
        }

    def _maker(
        self, name: str, sizes: Mapping[str, Any], options: Mapping[str, Any] | None = None
    ) -> MakeStructure:
        structure = find_structure(name)
        if len(sizes["shape"]) != len(self.shape) or not self.fits(structure):
            raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
        return partial(structure.make, probe=self.name, **(options or {}))

    def _counter(self, make: MakeStructure, sizes: Mapping[str, Any]) -> Callable[[int], int]:
        """From the width of the network to its parameters."""

        def count(width: int) -> int:
            if self.count_quickly is not None:
                return self.count_quickly(make, **sizes, width=width)
            return count_parameters(build_bare(partial(self.build, make, **sizes, width=width)))

        return cache(count)

    def _default_width(self, count: Callable[[int], int]) -> int:
        if self.parameters is None:
            return self.width
        return nearest_width(count, self.parameters, largest=self.width)


BASELINE_PARAMETERS: Final = 871_729
"""Of the U-Net without non-local layers; the paper chose the widths of the others to match it."""

PROBES: Final[Mapping[str, Probe]] = {
    probe.name: probe
    for probe in (
        Probe(
            name="rde",
            ability="linking local cues to distant inferences",
            inputs=3,
            outputs=1,
            shape=(128, 128),
            width=48,
            build=UNet,
            count_quickly=count_unet,
            parameters=BASELINE_PARAMETERS,
        ),
        Probe(
            name="centered-square",
            ability="paints anywhere",
            inputs=1,
            outputs=1,
            shape=(64, 64),
            width=128,
            build=LayerStack,
        ),
        Probe(
            name="color-code",
            ability="grouping",
            inputs=6,
            outputs=3,
            shape=(128,),
            width=256,
            build=partial(LayerStack, layers=3),
        ),
    )
}


def find_probe(name: str) -> Probe:
    """The probe with this name; `SynthprobeError` if there is none."""
    if name not in PROBES:
        raise SynthprobeError(f"there is no probe {name!r}: take one of {', '.join(PROBES)}.")
    return PROBES[name]


def fitting(name: str) -> tuple[str, ...]:
    """The probes that a structure or a network fits."""
    if name in NETWORKS:
        return NETWORKS[name].probes
    structure = STRUCTURES[name]
    return tuple(probe.name for probe in PROBES.values() if probe.fits(structure))
