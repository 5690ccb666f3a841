"""Every structure and every whole network, by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from torch import nn

from synthprobe_data import SynthprobeError

PAPER: Final = "Courtois, Morel, Arias 2022"
"""The source of the paper's own structures."""
SCALABLE_VIT: Final = "ScalableViT, supplementary material"
REPORT: Final = "Achenbach, Bonvin, Zhang: Semantic Segmentation and Depth Estimation"
"""Of the networks with attention for depth and segmentation."""
DEEPLAB: Final = "Chen et al. 2018"
RESNET: Final = "He et al. 2016"


def as_in_paper(first: str) -> str:
    """The source of a structure of others that is built as the paper has it.

    Parameters
    ----------
    first
        Who introduced it, and when.
    """
    return f"{first}; {PAPER}"


class Builder(Protocol):
    """What a structure is built by, usually its class."""

    def __call__(self, channels: int, shape: Sequence[int], **options: Any) -> nn.Module:
        """A module that maps (batch, channels, *shape) to the same shape."""


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A way to let positions exchange information, which any probe can take in.

    Its module maps (batch, channels, *positions) to the same shape.
    """

    name: str
    """As in commands and tables."""
    title: str
    """As people write it."""
    source: str
    """Where it comes from."""
    build: Builder
    dimensions: tuple[int, ...]
    """The numbers of axes of positions that it can take: 1, 2, or both."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of a probe: the options that it is built with there."""

    def make(
        self, channels: int, shape: Sequence[int], probe: str | None = None, **options: Any
    ) -> nn.Module:
        """Build the module.

        Parameters
        ----------
        channels
            Channels of input and output.
        shape
            The positions that it will see: (N,) or (H, W).
        probe
            The probe that it goes into, which may set options of its own.
        options
            Options of the structure; they come before those of the probe.
        """
        if len(shape) not in self.dimensions:
            axes = " or ".join(str(n) for n in self.dimensions)
            raise SynthprobeError(
                f"{self.name} takes positions along {axes} axes, not {len(shape)}."
            )
        chosen = {**self.options.get(probe or "", {}), **options}
        try:
            return self.build(channels, tuple(shape), **chosen)
        except TypeError as error:
            option = str(error).rpartition(" ")[2].strip("'")
            if "unexpected keyword argument" not in str(error) or option not in chosen:
                raise  # a mistake of the structure itself
            raise SynthprobeError(f"{self.name} has no option {option!r}.") from error


@dataclass(frozen=True, kw_only=True)
class PublishedCount:
    """A published number of parameters that a whole network, or a part of it, must have."""

    parameters: int
    of: str
    """What was counted, in a few words."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the network, as far as they are not the defaults."""
    part: str = ""
    """The submodule that was counted; all of the network by default."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """A whole network, from the input of a probe to its output."""

    name: str
    title: str
    source: str
    build: Callable[..., nn.Module]
    """``build(inputs, outputs, shape, **options)``."""
    probes: tuple[str, ...]
    """The probes that it fits."""
    is_frame: bool = False
    """Whether it is what structures are put into, without one."""
    published: tuple[PublishedCount, ...] = ()
    """Beside those of the paper's tables."""


STRUCTURES: Final[dict[str, Structure]] = {}
"""By name, in the order of their definition."""
NETWORKS: Final[dict[str, Network]] = {}
"""By name, in the order of their definition."""

_Built = TypeVar("_Built", bound=Callable[..., nn.Module])


def structure(
    name: str,
    *,
    title: str | None = None,
    source: str = "",
    dimensions: Sequence[int] = (1, 2),
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[_Built], _Built]:
    """Give a structure its name: a decorator for its class, or for a function that builds it.

    Parameters
    ----------
    name
        As in commands and tables; lower case, with hyphens.
    title
        As people write it; the name by default.
    source
        Where it comes from.
    dimensions
        The numbers of axes of positions that it can take.
    options
        By the name of a probe: the options that it is built with there.
    """

    def register(build: _Built) -> _Built:
        _check_new(name)
        _check_builder(name, build)
        STRUCTURES[name] = Structure(
            name=name,
            title=name if title is None else title,
            source=source,
            build=build,
            dimensions=tuple(dimensions),
            options={} if options is None else options,
        )
        return build

    return register


def network(
    name: str,
    *,
    probes: Sequence[str],
    title: str | None = None,
    source: str = "",
    is_frame: bool = False,
    published: Sequence[PublishedCount] = (),
) -> Callable[[_Built], _Built]:
    """Give a whole network its name: a decorator for its class, or for what builds it.

    Parameters
    ----------
    name, title, source
        As for `structure`.
    probes
        The probes that it fits.
    is_frame
        Whether it is what structures are put into, without one.
    published
        Counts that it must have.
    """

    def register(build: _Built) -> _Built:
        _check_new(name)
        NETWORKS[name] = Network(
            name=name,
            title=name if title is None else title,
            source=source,
            build=build,
            probes=tuple(probes),
            is_frame=is_frame,
            published=tuple(published),
        )
        return build

    return register


def find_structure(name: str) -> Structure:
    """The structure with this name; `SynthprobeError` if there is none."""
    if name not in STRUCTURES:
        raise SynthprobeError(f"there is no structure {name!r}: take one of {_names(STRUCTURES)}.")
    return STRUCTURES[name]


def find_network(name: str) -> Network:
    """The network with this name; `SynthprobeError` if there is none."""
    if name not in NETWORKS:
        raise SynthprobeError(f"there is no network {name!r}: take one of {_names(NETWORKS)}.")
    return NETWORKS[name]


def _names(entries: Mapping[str, object]) -> str:
    return ", ".join(entries)


def _check_new(name: str) -> None:
    if not re.fullmatch(r"(timm:)?\w[\w.+-]*", name):  # files are named after it
        raise SynthprobeError(f"{name!r} is no name: take letters, digits and hyphens.")
    if name in STRUCTURES or name in NETWORKS:
        raise SynthprobeError(f"the name {name!r} is taken: choose another one.")


def _check_builder(name: str, build: Callable[..., nn.Module]) -> None:
    """Whatever is wrong with a user's class is said where it is defined."""
    try:
        inspect.signature(build).bind(1, (1,))
    except TypeError as error:
        raise SynthprobeError(
            f"{name} cannot be built from channels and shape alone: {error}."
        ) from error
