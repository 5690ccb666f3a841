"""All datasets, by name: our own, and those of other packages.

Another package offers a dataset by an entry point of the group ``synthprobe.datasets``, whose name
is that of the dataset and whose object is a `synthprobe_data.dataset.Dataset`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final, TypeVar

from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError

_Entry = TypeVar("_Entry")

GROUP: Final = "synthprobe.datasets"
_OURS: Final = {
    "rde": "synthprobe_data.rde:RDE",
    "centered-square": "synthprobe_data.centered_square:CENTERED_SQUARE",
    "color-code": "synthprobe_data.color_code:COLOR_CODE",
    "twins": "synthprobe_data.twins:TWINS",
}
"""Where each dataset is declared; it is imported when it is first asked for."""


class Registry(Mapping[str, _Entry]):
    """What is ours and what other packages offer, by name, each imported when first asked for.

    Parameters
    ----------
    ours
        By name: ``module:attribute``.
    group
        The entry points of other packages.
    kind
        The class of the entries, which have a ``name``.
    noun
        What messages call an entry.
    """

    def __init__(
        self, ours: Mapping[str, str], *, group: str, kind: type[_Entry], noun: str
    ) -> None:
        self._ours = dict(ours)
        self._group = group
        self._kind = kind
        self._noun = noun
        self._loaded: dict[str, _Entry] = {}
        self._offered: dict[str, EntryPoint] | None = None

    def __getitem__(self, name: str) -> _Entry:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._others()

    def __iter__(self) -> Iterator[str]:
        return iter([*self._ours, *(name for name in self._others() if name not in self._ours)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def find(self, name: str) -> _Entry:
        """The entry with this name; `SynthprobeError` if there is none."""
        if name not in self:
            raise SynthprobeError(
                f"there is no {self._noun} {name!r}: take one of {', '.join(self)}."
            )
        return self[name]

    def _others(self) -> dict[str, EntryPoint]:
        if self._offered is None:
            self._offered = {point.name: point for point in entry_points(group=self._group)}
        return self._offered

    def _load(self, name: str) -> _Entry:
        if name in self._ours:
            module, _, attribute = self._ours[name].partition(":")
            ours: _Entry = getattr(importlib.import_module(module), attribute)
            return ours
        if not isinstance(name, str) or name not in self._others():
            raise KeyError(name)
        point = self._others()[name]
        try:
            found = point.load()
        except Exception as error:  # another package may fail in any way
            raise SynthprobeError(
                f"the {self._noun} {name!r} of {point.value} cannot be loaded: {error}."
            ) from error
        if not isinstance(found, self._kind) or getattr(found, "name", None) != name:
            raise SynthprobeError(f"{point.value} is not a {self._noun} with the name {name!r}.")
        return found


DATASETS: Final = Registry(_OURS, group=GROUP, kind=Dataset, noun="dataset")


def find_dataset(name: str) -> Dataset:
    """The dataset with this name; `SynthprobeError` if there is none."""
    return DATASETS.find(name)
