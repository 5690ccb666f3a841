"""Where the cards of a dataset stand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from synthprobe_data.errors import SynthprobeError

_SUFFIXES: Final = (".h5", ".hdf5")


@dataclass(frozen=True, kw_only=True)
class CardPaths:
    """The files that describe a dataset."""

    card: Path
    croissant: Path
    picture: Path

    def all(self) -> list[Path]:
        """All of them, the card last, as the others are named in it."""
        return [self.picture, self.croissant, self.card]


def card_paths(path: Path, *, folder: bool) -> CardPaths:
    """The cards beside a file, or in a folder of shards; it need not exist yet."""
    if folder:
        return CardPaths(
            card=path / "README.md",
            croissant=path / "croissant.json",
            picture=path / "samples.png",
        )
    if path.name in ("", ".."):
        raise SynthprobeError(f"{path} is a folder: name a file in it, such as {path / 'rde.h5'}.")
    # Only a suffix that says HDF5 is left out, so that no card has the name of its file.
    name = path.stem if path.suffix in _SUFFIXES else path.name
    return CardPaths(
        card=path.with_name(f"{name}.md"),
        croissant=path.with_name(f"{name}.croissant.json"),
        picture=path.with_name(f"{name}.png"),
    )
