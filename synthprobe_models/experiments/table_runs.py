"""The runs of a table: how each row is trained, where it is kept, and what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from synthprobe_data import DATASETS, Config, SynthprobeError
from synthprobe_models.experiments.records import keep_record, read_records
from synthprobe_models.experiments.table import Row, Table
from synthprobe_models.networks.counting import build_bare, count_parameters, hidden_step
from synthprobe_models.probes import PROBES, find_probe, fitting
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.registry import NETWORKS, STRUCTURES
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.run_key import KEY, why_outdated
from synthprobe_models.training.settings import TrainSettings


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of a table: what was published, and what was found here."""

    row: Row
    results: list[dict[str, Any]]
    """One for each seed."""
    bound: float | None
    """What no network of this kind can surpass on these samples, where it is known."""
    unfinished: Mapping[int, str] = field(default_factory=dict)
    """By seed: how far a run had come when it was interrupted."""
    outdated: str | None = None
    """Why the results would be others now, if they were not made from what is here now."""


def further_rows(table: Table) -> list[Row]:
    """A row for every other structure and network of the registry that fits the table's probe."""
    there = {row.key for row in table.rows}
    titles = {name: entry.title for name, entry in STRUCTURES.items()}
    titles |= {name: entry.title for name, entry in NETWORKS.items()}
    return [
        table.further_row(name, title)
        for name, title in titles.items()
        if name not in there and table.probe in fitting(name)
    ]


@dataclass(frozen=True, kw_only=True)
class TableRuns:
    """All runs of a table in its folder."""

    table: Table
    size: str
    out: Path
    data: PresetData
    training: Mapping[str, Any]
    """Settings instead of those of the preset."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """By the key of a row: its rate, where that was chosen."""

    def settings(self, row: Row, seed: int) -> TrainSettings:
        """How a row is trained."""
        given = {**find_probe(row.probe).preset(self.size), **self.training}
        if row.key in self.rates:
            given["rate"] = self.rates[row.key]
        options = self.options(row)
        decided = {"name": row.name, "probe": row.probe, "seed": seed, "options": options}
        settings = TrainSettings.from_dict({**given, **decided})
        if row.name in NETWORKS or settings.width is None:
            return settings
        width, added = size_of(row, self.config(row), settings)
        return replace(settings, width=width, added_hidden=added)

    def options(self, row: Row) -> dict[str, Any]:
        """The options of a row's structure."""
        return dict(self.data.options.get(row.name, {}))

    def config(self, row: Row) -> Config:
        """The settings of the samples that a row is tested on."""
        return DATASETS[row.probe].config.from_dict(dict(self.data.config))

    def is_trained_on(self, row: Row, data: Mapping[str, Any]) -> bool:
        """Whether what a result says of its data are the samples that a row is trained on."""
        wanted = self.config(row).to_dict() | ({"mode": "ambiguous"} if row.ambiguous else {})
        try:
            config = DATASETS[row.probe].config.from_dict(data["config"])
        except (SynthprobeError, LookupError, TypeError):
            return False
        return config.to_dict() == wanted

    def folder(self, row: Row, seed: int) -> RunFolder:
        """Where a run is kept."""
        return RunFolder(self.out / "runs" / f"{row.key}-{seed}")

    def lines(self) -> list[Line]:
        """The rows of which there are runs, complete or not, that were trained in this way.

        A structure that is not of the paper is among them if the registry has it.
        """
        begun = {path.name.rpartition("-")[0] for path in (self.out / "runs").glob("*")}
        further = [row for row in further_rows(self.table) if row.key in begun]
        found = [self._line(row) for row in (*self.table.rows, *further)]
        return [line for line in found if line.results or line.unfinished]

    def keep_records(self, lines: Sequence[Line]) -> None:
        """Write the results that a table has as records, which are committed with it."""
        for line in lines:
            for result in line.results:
                folder = self.folder(line.row, result["settings"]["seed"])
                keep_record(folder.path, result)

    def _line(self, row: Row) -> Line:
        results, unfinished = [], {}
        prefix = f"{row.key}-"
        ends = (path.name.removeprefix(prefix) for path in (self.out / "runs").glob(f"{prefix}*"))
        for seed in sorted(int(end) for end in ends if end.isdecimal()):
            folder = self.folder(row, seed)
            done = folder.read_result()
            if done is not None and not self.is_trained_on(row, done["data"]):
                continue
            if not self.table.is_trained(row):
                results += [] if done is None else [done]
                continue
            wanted = self.settings(row, seed)
            begun = folder.read_settings() if done is None else done["settings"]
            if not wanted.same_as(begun):
                continue
            if done is None:
                unfinished[seed] = f"{len(folder.read_log())} of {wanted.epochs} epochs"
            else:
                results.append(done)
        bound = self.table.bound(row, self.config(row), self.options(row))
        if self.table.is_trained(row):
            results, outdated = _newest(results)
        else:
            outdated = None
        return Line(row=row, results=results, bound=bound, unfinished=unfinished, outdated=outdated)


def recorded_lines(table: Table, out: Path) -> list[Line]:
    """The rows of which a folder has records, with whatever settings they were trained.

    Parameters
    ----------
    table
        The table.
    out
        Its folder.
    """
    runs = out / "runs"
    found = {row.key: read_records(runs, row.key) for row in (*table.rows, *further_rows(table))}
    lines = []
    for row in (*table.rows, *further_rows(table)):
        if results := found[row.key]:
            data, settings = results[0]["data"], results[0]["settings"]
            config = DATASETS[row.probe].config.from_dict(data["config"])
            bound = table.bound(row, config, settings["options"])
            lines.append(Line(row=row, results=results, bound=bound))
    return lines


def _newest(results: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str | None]:
    """The results of what is here now; if there are none, all of them, and why they are not."""
    why = [why_outdated(one["name"], one["settings"]["probe"], one.get(KEY)) for one in results]
    now = [result for result, reason in zip(results, why, strict=True) if reason is None]
    return (now, None) if now or not why else (results, why[0])


def size_of(row: Row, config: Config, settings: TrainSettings) -> tuple[int, int]:
    """Channels of the network with a row's structure, for a preset that sets them.

    Where a probe matches parameters, as RDE does, these are the baseline's. A structure takes the
    width that comes nearest, and the rest is made up by hidden channels that are added to each
    scale or taken away. Of the widths at which no scale loses more than half of its hidden
    channels, the one that needs the fewest is taken.

    Parameters
    ----------
    row
        The row.
    config
        Of the samples.
    settings
        Those of the run, with the width of the baseline.

    Returns
    -------
    tuple
        The width, and the hidden channels that are added.
    """
    probe, width = PROBES[row.probe], settings.width
    assert width is not None
    baseline = probe.baseline
    if probe.parameters is None or baseline is None:
        return width, settings.added_hidden
    shape = probe.positions(config)
    halved = settings.down_samplings
    network: dict[str, Any] = {} if halved is None else {"down_samplings": halved}
    bare = build_bare(partial(probe.make, baseline, shape=shape, width=width, **network))
    wanted = count_parameters(bare)
    found: dict[int, int] = {}
    for one in range(1, width + 1):
        try:
            built = partial(
                probe.make, row.name, shape=shape, width=one, options=settings.options, **network
            )
            missing = wanted - count_parameters(build_bare(built))
        except SynthprobeError:  # heads that do not divide it
            continue
        added = round(missing / hidden_step(one, **network))
        if added >= -2 * one:
            found[one] = added
    if not found:
        raise SynthprobeError(f"{row.name} cannot be built with up to {width} channels.")
    best = min(found, key=lambda one: abs(found[one]) / one)
    return best, found[best]
