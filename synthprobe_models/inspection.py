"""Everything that can be said of a structure, or of a whole network, without training it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models.checks import (
    ROUNDING,
    ReceptiveField,
    TranslationErrors,
    double_precision,
    is_deterministic,
    permutation_error,
    receptive_field,
    seeded,
    stir,
    translation_errors,
)
from synthprobe_models.costs import Growth, Part, count_parts, measure_growth
from synthprobe_models.counting import build_bare
from synthprobe_models.layers.parts import Mix
from synthprobe_models.load import describe_error
from synthprobe_models.probes import Probe, find_probe, fitting
from synthprobe_models.registry import NETWORKS, STRUCTURES, Structure

CANVAS: Final[Mapping[int, tuple[int, ...]]] = {1: (128,), 2: (28, 28)}
"""By the number of axes, the positions of the checks. 28 is a multiple of the usual window, 7."""
NETWORK_CANVAS: Final[Mapping[int, tuple[int, ...]]] = {1: (128,), 2: (32, 32)}
"""The same for whole networks: 32 can be halved as often as the published U-Net does, 5 times."""
PREFERRED: Final = "centered-square"
"""The probe whose options a structure is looked at with, if it fits: it is about covariance."""


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What the checks find out about one layer of a structure, or about a network."""

    shape: tuple[int, ...]
    """The positions."""
    centre: ReceptiveField
    corner: ReceptiveField
    translation: TranslationErrors
    permutation: float
    deterministic: bool

    @property
    def sees_all(self) -> bool:
        """Whether the output everywhere depends on the input everywhere, for every input."""
        return min(self.centre.share, self.corner.share) == 1

    @property
    def can_see_all(self) -> bool:
        """Whether there is for every position an input that lets it be seen."""
        return min(self.centre.ever, self.corner.ever) == 1

    @property
    def translation_covariant(self) -> bool:
        """Whether content moves through it, away from the edge."""
        return self.translation.inside < ROUNDING

    @property
    def covariant_but_for_a_pattern(self) -> bool:
        """Whether content moves through it, if a pattern that lies over all is left aside."""
        return self.translation.contrast < ROUNDING

    @property
    def permutation_equivariant(self) -> bool:
        """Whether it treats the positions as a set."""
        return self.permutation < ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "shape": list(self.shape),
            "sees_all": self.sees_all,
            "can_see_all": self.can_see_all,
            "reached": {
                name: {"at": list(field.at), "share": field.share, "ever": field.ever}
                for name, field in (("centre", self.centre), ("corner", self.corner))
            },
            "translation_covariant": self.translation_covariant,
            "covariant_but_for_a_pattern": self.covariant_but_for_a_pattern,
            "translation_errors": {
                name: _finite(error) for name, error in vars(self.translation).items()
            },
            "permutation_equivariant": self.permutation_equivariant,
            "permutation_error": _finite(self.permutation),
            "deterministic": self.deterministic,
        }


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """All about a structure, or a network, in one probe."""

    name: str
    title: str
    source: str
    probe: str
    shape: tuple[int, ...]
    width: int | None
    """``None`` for a whole network of its own width."""
    network: tuple[Part, ...]
    """The parts of the whole network, and all of it at last."""
    layer: tuple[Part, ...] = ()
    """The parts of one layer, and all of it at last; none for a whole network."""
    growth: Growth | None = None
    """Of the structure alone."""
    sights: tuple[Sight, ...] = ()
    """First as the probe has it, then with the positions in a row, if the structure allows it."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        growth = self.growth
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "probe": self.probe,
            "shape": list(self.shape),
            "width": self.width,
            "network": [vars(part) for part in self.network],
            "layer": [vars(part) for part in self.layer],
            "growth": growth and {**vars(growth), "exponent": growth.exponent},
            "sights": [sight.to_dict() for sight in self.sights],
        }


def _finite(error: float | None) -> float | None:
    """JSON knows no infinity, which is the error of what varies, but not with the input."""
    return error if error is None or math.isfinite(error) else None


def check_name(name: str) -> None:
    """Raise `SynthprobeError` with the closest names, unless it is one of the registry."""
    names = [*STRUCTURES, *NETWORKS]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=5, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else "see synthprobe-probe list."
        raise SynthprobeError(f"there is no structure or network {name!r}: {hint}")


def inspect(
    name: str,
    *,
    probe: str | None = None,
    shape: Sequence[int] | None = None,
    width: int | None = None,
    seed: int = 0,
) -> Inspection:
    """Look at a structure, or a network, from all sides.

    Parameters
    ----------
    name
        Of the registry.
    probe
        The probe that it is looked at in; by default one that it fits.
    shape
        The positions. By default those of the probe to count, and fewer of them for the checks.
    width
        The channels; those of the probe by default.
    seed
        Of the initial parameters and of all inputs.
    """
    check_name(name)
    probes = fitting(name)
    if not probes:
        raise SynthprobeError(f"{name} fits no probe.")
    chosen = find_probe(probe or (PREFERRED if PREFERRED in probes else probes[0]))
    if chosen.name not in probes:
        raise SynthprobeError(
            f"{name} does not fit the probe {chosen.name}: take {' or '.join(probes)}."
        )
    if shape is not None and len(shape) != len(chosen.shape):
        raise SynthprobeError(
            f"the positions of {chosen.name} have {len(chosen.shape)} axes, not {len(shape)}."
        )
    try:
        with seeded(seed):
            look = _inspect_network if name in NETWORKS else _inspect_structure
            return look(name, chosen, None if shape is None else tuple(shape), width, seed)
    except SynthprobeError:
        raise
    except Exception as error:
        raise SynthprobeError(
            f"{name} cannot be built and run in the probe {chosen.name}: {describe_error(error)}."
        ) from error


def _inspect_structure(
    name: str, probe: Probe, shape: tuple[int, ...] | None, width: int | None, seed: int
) -> Inspection:
    structure = STRUCTURES[name]
    positions = probe.shape if shape is None else shape
    channels = probe.width_with(name, positions) if width is None else width
    make = partial(structure.make, channels, probe=probe.name)
    parts, total = count_parts(
        partial(probe.make, name, shape=positions, width=channels), (1, probe.inputs, *positions)
    )
    one, all_of_one = count_parts(
        lambda: Mix(make(positions), channels),
        (1, channels, *positions),
        expand=(type(build_bare(partial(make, positions))),),
    )
    canvas = CANVAS[len(positions)] if shape is None else positions
    row = CANVAS[1] if shape is None else (int(torch.Size(shape).numel()),)
    canvases = [canvas, row] if len(canvas) > 1 and 1 in structure.dimensions else [canvas]
    return Inspection(
        name=name,
        title=structure.title,
        source=structure.source,
        probe=probe.name,
        shape=positions,
        width=channels,
        network=(*parts, total),
        layer=(*one, all_of_one),
        growth=measure_growth(make, channels, len(positions)),
        sights=tuple(_look(structure, probe.name, channels, c, seed) for c in canvases),
    )


def _look(
    structure: Structure, probe: str, channels: int, shape: tuple[int, ...], seed: int
) -> Sight:
    """One layer in its frame for what it sees; the structure alone for its symmetries.

    The frame treats every position alike and adds no more than itself to what is seen.
    """

    def make() -> nn.Module:
        return structure.make(channels, shape, probe)

    return _sight(lambda: Mix(make(), channels), make, channels, shape, seed)


def _inspect_network(
    name: str, probe: Probe, shape: tuple[int, ...] | None, width: int | None, seed: int
) -> Inspection:
    network = NETWORKS[name]
    positions = probe.shape if shape is None else shape
    parts, total = count_parts(
        partial(probe.make, name, shape=positions, width=width), (1, probe.inputs, *positions)
    )
    canvas = NETWORK_CANVAS[len(positions)] if shape is None else positions
    build = partial(probe.make, name, shape=canvas, width=width)
    return Inspection(
        name=name,
        title=network.title,
        source=network.source,
        probe=probe.name,
        shape=positions,
        width=width,
        network=(*parts, total),
        sights=(_sight(build, build, probe.inputs, canvas, seed),),
    )


def _sight(
    seen: Callable[[], nn.Module],
    moved: Callable[[], nn.Module],
    channels: int,
    shape: tuple[int, ...],
    seed: int,
) -> Sight:
    with double_precision(), seeded(seed):
        layer, module = seen(), moved()
        _check_shape(layer, channels, shape)
        stir(module, seed)
        return Sight(
            shape=shape,
            centre=receptive_field(layer, channels, shape, seed=seed),
            corner=receptive_field(layer, channels, shape, at=(0,) * len(shape), seed=seed),
            translation=translation_errors(module, channels, shape, seed=seed),
            permutation=permutation_error(module, channels, shape, seed=seed),
            deterministic=is_deterministic(module, channels, shape, seed=seed),
        )


def _check_shape(module: nn.Module, channels: int, shape: tuple[int, ...]) -> None:
    with torch.no_grad():
        y = module.eval()(torch.zeros(1, channels, *shape))
    if not isinstance(y, torch.Tensor) or y.shape[2:] != shape:
        given = tuple(y.shape) if isinstance(y, torch.Tensor) else type(y).__name__
        raise SynthprobeError(
            f"(1, {channels}, {', '.join(map(str, shape))}) became {given}: "
            f"the output must have the positions of the input."
        )
