"""The licences of the data: what people and the Croissant file call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from synthprobe_data.errors import SynthprobeError


@dataclass(frozen=True)
class Licence:
    """A licence: its title, and where its text is."""

    title: str
    url: str


_LICENCES: Final = {
    "CC-BY-4.0": Licence(
        "Creative Commons Attribution 4.0 International (CC BY 4.0)",
        "https://creativecommons.org/licenses/by/4.0/",
    )
}


def find_licence(spdx: str) -> Licence:
    """The licence with this SPDX identifier."""
    if spdx not in _LICENCES:
        raise SynthprobeError(f"the licence {spdx!r} has no entry in {__name__}.")
    return _LICENCES[spdx]
