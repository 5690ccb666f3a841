"""The three probes: each puts a structure into a network that one dataset asks for one ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

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
        sizes: dict[str, Any] = {
            "inputs": self.inputs if inputs is None else inputs,
            "outputs": self.outputs if outputs is None else outputs,
            "shape": self.shape if shape is None else tuple(shape),
        }
        if name in NETWORKS:
            whole = NETWORKS[name]
            if self.name not in whole.probes:
                raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
            given = {} if width is None else {"width": width}
            return whole.build(*sizes.values(), **given, **network, **(options or {}))
        build = self._builder(name, options or {}, sizes | network)
        return build(self._default_width(build) if width is None else width)

    def width_with(self, name: str, shape: Sequence[int] | None = None) -> int:
        """Channels of the network with a structure, by default.

        Parameters
        ----------
        name
            Of the structure.
        shape
            Instead of the default.
        """
        positions = self.shape if shape is None else tuple(shape)
        sizes = {"inputs": self.inputs, "outputs": self.outputs, "shape": positions}
        return self._default_width(self._builder(name, {}, sizes))

    def _builder(
        self, name: str, options: Mapping[str, Any], sizes: Mapping[str, Any]
    ) -> Callable[[int], nn.Module]:
        """Make the network with a structure from its width."""
        structure = find_structure(name)
        if len(sizes["shape"]) != len(self.shape) or not self.fits(structure):
            raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
        make = partial(structure.make, probe=self.name, **options)
        return lambda width: self.build(make, **sizes, width=width)

    def _default_width(self, build: Callable[[int], nn.Module]) -> int:
        if self.parameters is None:
            return self.width
        return nearest_width(build, self.parameters, largest=self.width)


def nearest_width(build: Callable[[int], nn.Module], parameters: int, largest: int) -> int:
    """The width that gives a network the number of parameters nearest to a given one.

    Parameters
    ----------
    build
        Makes the network from its width; it must have no fewer parameters with a larger one. Widths
        that it refuses with `SynthprobeError`, such as those that heads do not divide, are left
        out.
    parameters
        The number to come near to.
    largest
        No width above this one is taken.
    """
    counts: dict[int, int] = {}
    refusal = SynthprobeError(f"no width from 1 to {largest} can be taken.")
    widths = list(range(1, largest + 1))
    while widths:
        middle = len(widths) // 2
        width = widths[middle]
        try:
            counts[width] = count_parameters(build_bare(partial(build, width)))
        except SynthprobeError as error:
            refusal = error
            del widths[middle]
            continue
        widths = widths[middle + 1 :] if counts[width] < parameters else widths[:middle]
    if not counts:
        raise refusal
    return min(counts, key=lambda width: abs(counts[width] - parameters))


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
            parameters=BASELINE_PARAMETERS,
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


def build_bare(build: Callable[[], nn.Module]) -> nn.Module:
    """Build a module without values, or with them if it cannot be built without.

    Neither memory, if that can be, nor random numbers are used up.

    Parameters
    ----------
    build
        Makes the module.
    """
    with torch.random.fork_rng(devices=[]):
        try:
            with torch.device("meta"), _SkipInitialisation():
                return build()
        except SynthprobeError:
            raise
        except Exception:  # whatever a structure does with values when it is built
            return build()


class _SkipInitialisation(TorchFunctionMode):
    """What has no values needs no initial ones; to pretend takes a third of the time."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        _types: Sequence[type],
        positional: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        if getattr(function, "__module__", "") == nn.init.__name__:
            return (*positional, *(named or {}).values())[0]
        return function(*positional, **(named or {}))


def count_parameters(module: nn.Module) -> int:
    """How many trainable parameters a module has."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
