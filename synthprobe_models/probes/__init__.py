"""All probes, by name: our own, one file each, and those of other packages.

Another package offers a probe by an entry point of the group ``synthprobe.probes``, whose name is
that of the probe and of its dataset, and whose object is a `synthprobe_models.probes.probe.Probe`.
"""

from __future__ import annotations

from typing import Final

from synthprobe_data import Registry, SynthprobeError
from synthprobe_models import layers, networks  # noqa: F401 - put our own into the registry
from synthprobe_models.probes.ability import Ability
from synthprobe_models.probes.probe import Probe
from synthprobe_models.registry import NETWORKS, STRUCTURES

GROUP: Final = "synthprobe.probes"
PROBES: Final = Registry(
    {
        "rde": "synthprobe_models.probes.rde:RDE_PROBE",
        "twins": "synthprobe_models.probes.twins:TWINS_PROBE",
        "centered-square": "synthprobe_models.probes.centered_square:CENTERED_SQUARE_PROBE",
        "color-code": "synthprobe_models.probes.color_code:COLOR_CODE_PROBE",
    },
    group=GROUP,
    kind=Probe,
    noun="probe",
)
"""By name, in the order of the paper's tables; each is imported when it is first asked for."""


def find_probe(name: str) -> Probe:
    """The probe with this name; `SynthprobeError` if there is none."""
    return PROBES.find(name)


def ability_of(name: str) -> Ability:
    """What a probe asks of a structure; `SynthprobeError` if profiles do not ask it."""
    ability = find_probe(name).ability
    if ability is None:
        asked = ", ".join(name for name, probe in PROBES.items() if probe.ability is not None)
        raise SynthprobeError(f"profiles do not ask {name}: take of {asked}.")
    return ability


def fitting(name: str) -> tuple[str, ...]:
    """The probes that a structure or a network fits."""
    if name in NETWORKS:
        return NETWORKS[name].probes
    structure = STRUCTURES[name]
    return tuple(probe.name for probe in PROBES.values() if probe.fits(structure))
