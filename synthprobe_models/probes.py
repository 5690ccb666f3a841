"""The three probes: each puts a structure into a network that one dataset asks for one ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models import layers  # noqa: F401 - puts the structures into the registry
from synthprobe_models.networks.stack import LayerStack
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
        shape = self.shape if shape is None else tuple(shape)
        inputs = self.inputs if inputs is None else inputs
        outputs = self.outputs if outputs is None else outputs
        if name in NETWORKS:
            whole = NETWORKS[name]
            if self.name not in whole.probes:
                raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
            sizes = {} if width is None else {"width": width}
            return whole.build(inputs, outputs, shape, **sizes, **network, **(options or {}))
        structure = find_structure(name)
        if len(shape) != len(self.shape) or not self.fits(structure):
            raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
        return self.build(
            partial(structure.make, probe=self.name, **(options or {})),
            inputs=inputs,
            outputs=outputs,
            shape=shape,
            width=self.width if width is None else width,
            **network,
        )


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
        ),
        Probe(
            name="centered-square",
            ability="translation covariance",
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


def count_parameters(module: nn.Module) -> int:
    """How many trainable parameters a module has."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
