"""What a table is: its rows with what was published, its samples, its columns and its notes.

The engine (`make`) and the files (`render`) know a table by this declaration alone; each is one
module, ``table_N``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from synthprobe_data import Config, SynthprobeError
from synthprobe_models.experiments import TABLES
from synthprobe_models.probes.probe import PresetData

if TYPE_CHECKING:
    from synthprobe_models.data.source import Source


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table of the paper."""

    table: int
    title: str
    """As printed."""
    name: str
    """Of the structure or the network in the registry."""
    probe: str
    width: int
    """Channels of the published network."""
    parameters: int
    """As printed; 0 for a row that is not of the paper."""
    trainable: int
    """Those of our network of the same width that are trained; 0 as above."""
    published: Mapping[str, float]
    """The published figures: times 100 in table 1, in percent in tables 2 and 3."""
    bound: float | None = None
    """What bounds the published figures, in percent."""
    ambiguous: bool = False
    """Whether it was trained on ambiguous data; all are evaluated on unambiguous data."""
    note: str = ""
    """What else there is to know."""

    @property
    def key(self) -> str:
        """A name that no other row of its table has."""
        return f"{self.name}-ambiguous" if self.ambiguous else self.name


@dataclass(frozen=True)
class Column:
    """A column of a table: one figure of each row."""

    title: str
    """As the head of its column."""
    path: tuple[str, ...]
    """Where it stands in the result of a run."""
    published: str
    """Its name among the published figures of a row."""
    times: float
    """What it is multiplied by, as in the paper."""
    lower_is_better: bool = True

    @property
    def heading(self) -> str:
        """Its title, with an arrow to where it is better."""
        return f"{self.title} {'↓' if self.lower_is_better else '↑'}"


@dataclass(frozen=True)
class Untrained:
    """A row that is not of a network, and what finds its result."""

    row: Row
    result: Callable[[Source, Mapping[str, Any], str | None], dict[str, Any]]
    """``result(source, settings, command)``: as that of a run, beside networks that are trained
    with these settings."""
    does: str
    """What people are told meanwhile."""


def _no_bound(_row: Row, _config: Config, _options: Mapping[str, Any]) -> None:
    """Nothing is known to bound the figures."""


def _nothing(_config: Mapping[str, Any], _bound: float | None) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper."""

    number: int
    probe: str
    published: tuple[Row, ...]
    """The rows of the paper, in its order."""
    untrained: tuple[Untrained, ...] = ()
    """Rows of ours that are no networks."""
    data: Mapping[str, PresetData]
    """By the name of a preset: the samples."""
    columns: tuple[Column, ...]
    """In the order of the paper."""
    note: str
    """What to know about the figures, below them."""
    reference: str = ""
    """The key of the row that the others are compared with, over seeds and in parameters."""
    compared: str = ""
    """In which column, by its name among the published figures."""
    bound: Callable[[Row, Config, Mapping[str, Any]], float | None] = _no_bound
    """``bound(row, config, options)``: what no network of this kind can surpass, in percent."""
    bound_of_samples: float | None = None
    """The bound of rows that are not of the paper, where samples alone decide."""
    describe: Callable[[Mapping[str, Any], float | None], str] = _nothing
    """``describe(config, bound)``: what samples it is made with, as a sentence; may be empty."""
    named_settings: tuple[str, ...] = ()
    """The settings of the samples that the title of the plot names."""

    @property
    def rows(self) -> list[Row]:
        """Those that were published, and those that are no networks."""
        return [*self.published, *(one.row for one in self.untrained)]

    def is_trained(self, row: Row) -> bool:
        """Whether a row is one of a network."""
        return all(row is not one.row for one in self.untrained)

    def further_row(self, name: str, title: str) -> Row:
        """A row for a structure or network that the paper has not in this table."""
        return Row(
            table=self.number,
            title=title,
            name=name,
            probe=self.probe,
            width=0,
            parameters=0,
            trainable=0,
            published={},
            bound=self.bound_of_samples,
            note="Not of the paper.",
        )

    def samples(self, preset: str) -> PresetData:
        """The samples of a preset; `SynthprobeError` if there are none."""
        if preset not in self.data:
            raise SynthprobeError(
                f"there is no preset {preset!r} for table {self.number}: take one of "
                f"{', '.join(self.data)}."
            )
        return self.data[preset]


def find_table(number: int) -> Table:
    """The table with this number; `SynthprobeError` if there is none."""
    if number not in TABLES:
        raise SynthprobeError(
            f"there is no table {number}: take one of {', '.join(map(str, TABLES))}."
        )
    table: Table = importlib.import_module(f"{__package__}.table_{number}").TABLE
    return table


def find_rows(
    table: int | None = None, name: str | None = None, probe: str | None = None
) -> tuple[Row, ...]:
    """The rows of a table, of a structure or network, or of a probe; all of them by default."""
    wanted = {"table": table, "name": name, "probe": probe}
    return tuple(
        row
        for number in TABLES
        for row in find_table(number).published
        if all(value is None or getattr(row, key) == value for key, value in wanted.items())
    )
