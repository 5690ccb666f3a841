"""The runs of a table: how each row is trained, where it is kept, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from synthprobe_data import (
    DATASETS,
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    SynthprobeError,
)
from synthprobe_data.color_code import ceiling
from synthprobe_data.settings import Config
from synthprobe_models.counting import build_bare, count_parameters
from synthprobe_models.probes import PROBES, fitting
from synthprobe_models.published import Row, find_rows, further_row, probe_of, window_share
from synthprobe_models.registry import NETWORKS, STRUCTURES
from synthprobe_models.run_folder import RunFolder
from synthprobe_models.run_key import KEY, why_outdated
from synthprobe_models.settings import TrainSettings, preset
from synthprobe_models.solver_row import SOLVER


@dataclass(frozen=True, kw_only=True)
class TableData:
    """The samples that a table is made with."""

    config: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the canonical settings of the dataset."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Samples of each split; the canonical ones by default."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of a structure: options that suit these sizes."""


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


def key_of(row: Row) -> str:
    """A name for a row that no other row of its table has."""
    return f"{row.name}-ambiguous" if row.ambiguous else row.name


def rows_of(number: int) -> list[Row]:
    """The rows of a table: those that were published, and in Table 1 the reference solver."""
    return [*find_rows(number), *([SOLVER] if number == SOLVER.table else [])]


def further_rows(number: int) -> list[Row]:
    """A row for every other structure and network of the registry that fits the table's probe."""
    there = {key_of(row) for row in rows_of(number)}
    titles = {name: entry.title for name, entry in STRUCTURES.items()}
    titles |= {name: entry.title for name, entry in NETWORKS.items()}
    return [
        further_row(number, name, title)
        for name, title in titles.items()
        if name not in there and probe_of(number) in fitting(name)
    ]


@dataclass(frozen=True, kw_only=True)
class TableRuns:
    """All runs of a table in its folder."""

    number: int
    size: str
    out: Path
    data: TableData
    training: Mapping[str, Any]
    """Settings instead of those of the preset."""

    def settings(self, row: Row, seed: int) -> TrainSettings:
        """How a row is trained."""
        given = {**preset(row.probe, self.size), **self.training}
        options = self.options(row)
        decided = {"name": row.name, "probe": row.probe, "seed": seed, "options": options}
        settings = TrainSettings.from_dict({**given, **decided})
        if row.name in NETWORKS or settings.width is None:
            return settings
        return replace(settings, width=width_of(row, self.config(row), settings))

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
        return RunFolder(self.out / "runs" / f"{key_of(row)}-{seed}")

    def lines(self) -> list[Line]:
        """The rows of which there are runs, complete or not, that were trained in this way.

        A structure that is not of the paper is among them if the registry has it.
        """
        begun = {path.name.rpartition("-")[0] for path in (self.out / "runs").glob("*")}
        further = [row for row in further_rows(self.number) if key_of(row) in begun]
        found = [self._line(row) for row in (*rows_of(self.number), *further)]
        return [line for line in found if line.results or line.unfinished]

    def _line(self, row: Row) -> Line:
        results, unfinished = [], {}
        prefix = f"{key_of(row)}-"
        ends = (path.name.removeprefix(prefix) for path in (self.out / "runs").glob(f"{prefix}*"))
        for seed in sorted(int(end) for end in ends if end.isdecimal()):
            folder = self.folder(row, seed)
            done = folder.read_result()
            if done is not None and not self.is_trained_on(row, done["data"]):
                continue
            if row is SOLVER:
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
        bound = bound_of(row, self.config(row), self.options(row))
        results, outdated = (results, None) if row is SOLVER else _newest(results)
        return Line(row=row, results=results, bound=bound, unfinished=unfinished, outdated=outdated)


def _newest(results: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str | None]:
    """The results of what is here now; if there are none, all of them, and why they are not."""
    why = [why_outdated(one["name"], one["settings"]["probe"], one.get(KEY)) for one in results]
    now = [result for result, reason in zip(results, why, strict=True) if reason is None]
    return (now, None) if now or not why else (results, why[0])


def bound_of(row: Row, config: Config, options: Mapping[str, Any]) -> float | None:
    """A row's bound or ceiling in percent, for samples with these settings."""
    if row.bound is None:
        return None
    if isinstance(config, ColorCodeConfig):
        return 100 * float(ceiling(config, over="samples"))
    assert isinstance(config, CenteredSquareConfig)
    window = options.get("window", int(row.name.rpartition("-")[2]))
    return window_share(window, config.square)


def width_of(row: Row, config: Config, settings: TrainSettings) -> int:
    """Channels of the network with a row's structure, for a preset that sets them.

    In RDE these are the baseline's, and a structure takes the width that gives its network the
    number of parameters nearest to that of the baseline, as in the paper.

    Parameters
    ----------
    row
        The row.
    config
        Of the samples.
    settings
        Those of the run, with the width of the baseline.
    """
    probe, width = PROBES[row.probe], settings.width
    assert width is not None
    if not isinstance(config, RdeConfig):
        return width
    shape = (config.height, config.width)
    halved = settings.down_samplings
    network: dict[str, Any] = {} if halved is None else {"down_samplings": halved}
    baseline = build_bare(partial(probe.make, "unet", shape=shape, width=width, **network))
    return probe.width_with(
        row.name,
        shape,
        parameters=count_parameters(baseline),
        largest=width,
        options=settings.options,
        **network,
    )
