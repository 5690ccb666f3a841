"""Everything that can be said of a structure, or of a whole network, without training it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import torch
from torch import nn

from synthprobe_data import SynthprobeError
from synthprobe_models.inspection.costs import Growth, Part, count_parts, measure_growth
from synthprobe_models.inspection.sights import Check, Sight, Watcher
from synthprobe_models.inspection.symmetry import seeded
from synthprobe_models.layers.parts import Mix
from synthprobe_models.networks.counting import build_bare
from synthprobe_models.plugins import describe_error, load_timm
from synthprobe_models.probes import PROBES, find_probe, fitting
from synthprobe_models.probes.probe import Probe
from synthprobe_models.registry import NETWORKS, STRUCTURES, Structure

CANVAS: Final[Mapping[int, tuple[int, ...]]] = {1: (128,), 2: (28, 28)}
"""By the number of axes, the positions of the checks. 28 is a multiple of the usual window, 7."""
NETWORK_CANVAS: Final[Mapping[int, tuple[int, ...]]] = {1: (128,), 2: (32, 32)}
"""The same for whole networks: 32 can be halved as often as the published U-Net does, 5 times."""


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


def check_name(name: str) -> None:
    """Raise `SynthprobeError` with the closest names, unless it is one of the registry."""
    load_timm(name)
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
    watcher: Watcher | None = None,
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
    watcher
        Is told the parts as they finish; some structures take minutes.
    """
    check_name(name)
    probes = fitting(name)
    if not probes:
        raise SynthprobeError(f"{name} fits no probe.")
    preferred = next((one for one in probes if PROBES[one].inspected), probes[0])
    chosen = find_probe(probe or preferred)
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
            positions = None if shape is None else tuple(shape)
            return look(name, chosen, positions, width, seed, watcher or Watcher())
    except SynthprobeError:
        raise
    except Exception as error:
        if watcher is not None and error is watcher.failure:
            raise
        raise SynthprobeError(
            f"{name} cannot be built and run in the probe {chosen.name}: {describe_error(error)}."
        ) from error


def _inspect_structure(
    name: str,
    probe: Probe,
    shape: tuple[int, ...] | None,
    width: int | None,
    seed: int,
    watcher: Watcher,
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
    checks = [_layer_check(structure, probe.name, channels, c, seed) for c in canvases]
    for check in checks:  # what is wrong is said before anything else
        check.try_once()
    found = Inspection(
        name=name,
        title=structure.title,
        source=structure.source,
        probe=probe.name,
        shape=positions,
        width=channels,
        network=(*parts, total),
        layer=(*one, all_of_one),
    )
    watcher.counted(found)
    found = replace(found, growth=measure_growth(make, channels, len(positions)))
    watcher.counted(found)
    return replace(found, sights=tuple(check.look(watcher) for check in checks))


def _layer_check(
    structure: Structure, probe: str, channels: int, shape: tuple[int, ...], seed: int
) -> Check:
    """One layer in its frame for what it sees; the structure alone for its symmetries.

    The frame treats every position alike and adds no more than itself to what is seen.
    """

    def make() -> nn.Module:
        return structure.make(channels, shape, probe)

    return Check(lambda: Mix(make(), channels), make, channels, shape, seed)


def _inspect_network(
    name: str,
    probe: Probe,
    shape: tuple[int, ...] | None,
    width: int | None,
    seed: int,
    watcher: Watcher,
) -> Inspection:
    network = NETWORKS[name]
    positions = probe.shape if shape is None else shape
    parts, total = count_parts(
        partial(probe.make, name, shape=positions, width=width), (1, probe.inputs, *positions)
    )
    canvas = NETWORK_CANVAS[len(positions)] if shape is None else positions
    build = partial(probe.make, name, shape=canvas, width=width)
    check = Check(build, build, probe.inputs, canvas, seed)
    check.try_once()
    found = Inspection(
        name=name,
        title=network.title,
        source=network.source,
        probe=probe.name,
        shape=positions,
        width=width,
        network=(*parts, total),
    )
    watcher.counted(found)
    return replace(found, sights=(check.look(watcher),))
