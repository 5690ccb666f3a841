"""Design spaces of AnyNet, and designs drawn from them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from synthprobe_data import SynthprobeError
from synthprobe_models.networks.anynet import STAGES, count_anynet
from synthprobe_models.probes.probe import Probe

DEPTHS: Final = (1, 2, 3)
WIDTHS: Final = (8, 16, 24, 32)
GROUPS: Final = (1, 2, 4, 8)
RATIOS: Final = (1, 2, 4)
"""What a stage may have. The notes leave the ranges open; these suit small pictures."""
PARAMETERS: Final = (4_000, 32_000)
"""Of a network, at least and at most: without bounds a space could be better by being larger."""
_TRIES: Final = 10_000

Four = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Design:
    """One network: sixteen numbers, four for each stage."""

    depths: Four
    widths: Four
    groups: Four
    ratios: Four

    @property
    def options(self) -> dict[str, Any]:
        """Those of the network ``anynet``."""
        return {name: list(values) for name, values in asdict(self).items()}


def _always(_design: Design) -> bool:
    return True


def _growing_widths(design: Design) -> bool:
    return list(design.widths) == sorted(design.widths)


def _growing_depths(design: Design) -> bool:
    return list(design.depths) == sorted(design.depths)


def _falling_depths(design: Design) -> bool:
    return list(design.depths) == sorted(design.depths, reverse=True)


@dataclass(frozen=True, kw_only=True)
class Space:
    """A design space: which designs are in it."""

    name: str
    meaning: str
    has: Callable[[Design], bool] = _always
    same: tuple[str, ...] = ()
    """What all stages have in common."""


SPACES: Final[Mapping[str, Space]] = {
    space.name: space
    for space in (
        Space(name="free", meaning="every stage for itself"),
        Space(
            name="shared",
            meaning="all stages have the same groups and the same bottleneck ratio",
            same=("groups", "ratios"),
        ),
        Space(
            name="growing-widths",
            meaning="no stage is narrower than the one before it",
            has=_growing_widths,
        ),
        Space(
            name="growing-depths",
            meaning="no stage is shallower than the one before it",
            has=_growing_depths,
        ),
        Space(
            name="falling-depths",
            meaning="no stage is deeper than the one before it",
            has=_falling_depths,
        ),
    )
}
"""By name. The first is AnyNetX-A of Radosavovic et al., the others choices that they try, and one
that they do not."""


def find_space(name: str) -> Space:
    """The space with this name; `SynthprobeError` if there is none."""
    if name not in SPACES:
        raise SynthprobeError(
            f"there is no design space {name!r}: take one of {', '.join(SPACES)}."
        )
    return SPACES[name]


def draw_design(
    space: Space, seed: int, index: int, probe: Probe, parameters: tuple[int, int] = PARAMETERS
) -> Design:
    """A design of a space, each with the same probability.

    Parameters
    ----------
    space
        Of `SPACES`.
    seed, index
        Which one: the same ones always give the same design.
    probe
        The probe whose network must have between so many parameters.
    parameters
        The least and the greatest number.
    """
    # The same numbers on every machine: NumPy promises that for the raw ones.
    bits = np.random.PCG64([seed, zlib.crc32(space.name.encode()), index])

    def four(name: str, choices: tuple[int, ...]) -> Four:
        raws = bits.random_raw(STAGES)
        drawn = [choices[int(raw % len(choices))] for raw in raws]
        first, second, third, fourth = drawn[:1] * STAGES if name in space.same else drawn
        return first, second, third, fourth

    for _ in range(_TRIES):
        design = Design(
            depths=four("depths", DEPTHS),
            widths=four("widths", WIDTHS),
            groups=four("groups", GROUPS),
            ratios=four("ratios", RATIOS),
        )
        if space.has(design) and _can_be_built(design):
            count = count_anynet(probe.inputs, probe.outputs, probe.width, **design.options)
            if parameters[0] <= count <= parameters[1]:
                return design
    raise SynthprobeError(
        f"no design of the space {space.name} was found with {parameters[0]:,} to "
        f"{parameters[1]:,} parameters: take other bounds."
    )


def _can_be_built(design: Design) -> bool:
    stages = zip(design.widths, design.groups, design.ratios, strict=True)
    return all(
        width % ratio == 0 and width // ratio % groups == 0 for width, groups, ratio in stages
    )
