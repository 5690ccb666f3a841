"""What a probe is: a dataset, the network around a structure, and everything else that it owns.

Training, evaluation, tables and profiles know a probe by this declaration alone, so that a new one
needs no change in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from synthprobe_data import DATASETS, Config, SynthprobeError
from synthprobe_models.metrics import Metric
from synthprobe_models.networks.counting import (
    build_bare,
    count_parameters,
    nearest_width,
)
from synthprobe_models.networks.stack import MakeStructure
from synthprobe_models.probes.ability import Ability
from synthprobe_models.registry import NETWORKS, Structure, find_structure

Sample = dict[str, Tensor]
"""One sample, or several with one row for each: the tensors by name."""
Arrays = Mapping[str, NDArray[Any]] | Mapping[str, Tensor]
"""Some samples as a file has them: the arrays by name, with one row for each sample."""
Normalisation = Mapping[str, Mapping[str, float]]
"""How networks see an array: by its name, the ``offset`` and the ``divisor``."""


@dataclass(frozen=True, kw_only=True)
class PresetData:
    """The samples of a preset."""

    config: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the canonical settings of the dataset."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Samples of each split; the canonical ones by default."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of a structure: options that suit these sizes."""
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By a title: settings of further test samples, as far as they differ from ``config``."""


def _any_scale(_trained: Config, _config: Config) -> None:
    """Samples of all settings are on one scale."""


def _as_registered(_structure: Structure) -> Mapping[str, Any]:
    """A structure is built with small presets as with large ones."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A dataset, the network that takes a structure in, and how it is trained and judged."""

    name: str
    """That of its dataset."""
    ability: Ability | None = None
    """What it asks of a structure; ``None`` if profiles do not ask it."""
    like: str | None = None
    """Another probe, if structures are built as in that one."""
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
    frames: Mapping[str, Callable[..., nn.Module]] = field(default_factory=dict)
    """By name: what a structure can be put into instead, as ``build``."""
    network_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of a whole network: options that suit the positions."""
    baseline: str | None = None
    """The network without a structure, whose parameters the others match in tables."""
    count_quickly: Callable[..., int] | None = None
    """From the same arguments to the parameters, if there is a quicker way than to build it."""
    parameters: int | None = None
    """If set, a structure's network has by default not this width, but the one up to it that gives
    the network the number of parameters nearest to this."""
    columns: tuple[str, ...]
    """The arrays of a file that networks see; the first has the positions as its first axes."""
    input: str
    """Which of the tensors a network is given; ``target`` is what it must find."""
    convert: Callable[[Arrays, Normalisation], Sample]
    """From these arrays, one row for each sample, to tensors, one row for each sample."""
    metrics: tuple[Callable[[], Metric], ...]
    """What makes its metrics, in the order of the paper's tables."""
    cue_metrics: str | None = None
    """The module with `OrderMetrics`, which says what a network makes of the cues, and `SCENE`."""
    ordinal: bool = False
    """Whether what is to be found is an order, such as ranks: a prediction of any scale is then
    aligned, or judged by its order."""
    order_metrics: str | None = None
    """The module with `ORDER`, the metrics that any increasing map of a prediction leaves as they
    are, and `SCENE`, the arrays of a file that they need."""
    missed_cues: str | None = None
    """The module with `check_explainable` and `explain_maps`, which draws what predictions
    missed."""
    check_same_scale: Callable[[Config, Config], None] = _any_scale
    """``check_same_scale(trained, config)``: `SynthprobeError` if what a network was trained to
    find means something else on other samples. The sentence goes on from the name of these."""
    trained_on: tuple[str, ...] = ()
    """The probes whose networks can be evaluated on these samples; its own by default."""
    alignable: bool = True
    """Whether what is on another scale may be fitted to each picture before it is measured."""
    blends: bool = False
    """Whether a blend of two samples has the blend of their answers, as mixup takes for granted."""
    together: int = 1
    """So many samples, one after the other, belong together: intervals and tests take them as one,
    as they are not independent."""
    guess: Callable[[Sample, Sample, Config], float]
    """``guess(train, test, config)``: what is reached on the test samples without the ability, by a
    rule that was not trained."""
    presets: Mapping[str, Mapping[str, Any]]
    """By the name of a preset: the settings of training that differ from the defaults."""
    data: Mapping[str, PresetData]
    """By the name of a preset: the samples that profiles are made with."""
    inspected: bool = False
    """Whether structures that fit it are inspected with the options that they have here."""
    small_options: Callable[[Structure], Mapping[str, Any]] = _as_registered
    """The options of a structure in profiles, as far as they follow from its registration."""

    def preset(self, name: str) -> dict[str, Any]:
        """The settings of a preset; `SynthprobeError` if there is none."""
        if name not in self.presets:
            raise SynthprobeError(
                f"there is no preset {name!r} for {self.name}: take one of "
                f"{', '.join(self.presets)}."
            )
        return dict(self.presets[name])

    def samples(self, preset: str) -> PresetData:
        """The samples of a profile with a preset; `SynthprobeError` if there are none."""
        if preset not in self.data:
            raise SynthprobeError(
                f"{self.name} has no samples for profiles with the preset {preset!r}: take one of "
                f"{', '.join(self.data)}."
            )
        return self.data[preset]

    def positions(self, config: Config) -> tuple[int, ...]:
        """The positions of samples with these settings."""
        column = DATASETS[self.name].column(self.columns[0])
        return column.shape(config)[: len(self.shape)]

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
        frame: str | None = None,
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
        frame
            What takes the structure in, of `frames`; by default what ``build`` makes.
        network
            Options of the network that takes it in.
        """
        sizes = self._sizes(shape, inputs=inputs, outputs=outputs)
        if name in NETWORKS:
            whole = NETWORKS[name]
            if self.name not in whole.probes:
                raise SynthprobeError(f"{name} does not fit the probe {self.name}.")
            if frame is not None:
                raise SynthprobeError(f"{name} is a whole network: it takes no frame.")
            given = {} if width is None else {"width": width}
            chosen = {**self.network_options.get(name, {}), **given, **network, **(options or {})}
            return whole.build(*sizes.values(), **chosen)
        make, sizes = self._maker(name, sizes, options), sizes | network
        if frame is not None:
            return self._find_frame(frame)(make, **sizes, width=width or self.width)
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

    def _find_frame(self, name: str) -> Callable[..., nn.Module]:
        if name not in self.frames:
            there = f"take one of {', '.join(self.frames)}" if self.frames else "it has only one"
            raise SynthprobeError(f"there is no frame {name!r} for {self.name}: {there}.")
        return self.frames[name]

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
        return partial(structure.make, probe=self.like or self.name, **(options or {}))

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


def scaled(values: Tensor, scale: Mapping[str, float]) -> Tensor:
    """An array as networks see it: ``(value + offset) / divisor``."""
    return as_float(values).add_(scale["offset"]).div_(scale["divisor"])


def as_float(values: Tensor) -> Tensor:
    """A copy in single precision, laid out for networks."""
    return values.to(torch.float32, memory_format=torch.contiguous_format)
