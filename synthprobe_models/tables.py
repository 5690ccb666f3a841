"""The paper's tables: every row trained here, beside what was published."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from synthprobe_data import (
    DATASETS,
    CenteredSquareConfig,
    ColorCodeConfig,
    SynthprobeError,
    make_file,
    open_dataset,
)
from synthprobe_data.color_code import ceiling
from synthprobe_data.settings import Config
from synthprobe_models.many_runs import Plan, finished_runs
from synthprobe_models.published import Row, find_rows, window_share
from synthprobe_models.run_folder import RunFolder
from synthprobe_models.settings import TrainSettings, preset
from synthprobe_models.source import Source, open_source
from synthprobe_models.table_files import TablePaths, write_table, write_text
from synthprobe_models.train import Machine


@dataclass(frozen=True, kw_only=True)
class TableData:
    """The samples that a table is made with."""

    config: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the canonical settings of the dataset."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Samples of each split; the canonical ones by default."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of a structure: options that suit these sizes."""


DATA: Final[Mapping[tuple[int, str], TableData]] = {
    (1, "paper"): TableData(),
    (2, "paper"): TableData(),
    (3, "paper"): TableData(config={"mode": "paper"}),
    (1, "mini"): TableData(
        config={
            "height": 32,
            "width": 32,
            "n_rectangles": 4,
            "n_vis": 3,
            "n_gap": 3,
            "n_par": 3,
        },
        sizes={"train": 12_000, "test": 2_000},
    ),
    (2, "mini"): TableData(
        config={"height": 24, "width": 24, "square": 9},
        options={"lambda-local-7": {"window": 3}, "lambda-local-19": {"window": 7}},
    ),
    (3, "mini"): TableData(sizes={"train": 4_000, "test": 1_000}),
}
"""By the number of a table and the name of a preset."""


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


def make_table(
    number: int,
    size: str,
    out: Path,
    *,
    seeds: int = 1,
    rows: Sequence[str] | None = None,
    epochs: int | None = None,
    jobs: int = 1,
    machine: Machine | None = None,
    command: str | None = None,
) -> TablePaths:
    """Train every row of a table, and write it.

    What is there already is kept: a run that is complete is not trained again, and one that was
    interrupted goes on. The table has all runs of the folder that were trained in the same way,
    asked for this time or earlier.

    Parameters
    ----------
    number
        Of the paper's table.
    size
        The preset: ``mini`` or ``paper``.
    out
        The folder of the table, for data, runs and the table itself.
    seeds
        Runs of each row, with the seeds from 0.
    rows
        Only these rows, by the names of their structures.
    epochs
        Instead of those of the preset.
    jobs
        How many runs to train at a time.
    machine
        Where and how to compute.
    command
        What the results say they came from.
    """
    if seeds < 1:
        raise SynthprobeError(f"seeds is {seeds}: it must be 1 or more.")
    table = _Table(number, size, out, epochs)
    chosen = _rows(number, rows)
    sources = {key_of(row): _source(row, table.data, out) for row in chosen}
    plans = [
        Plan(
            settings=table.settings(row, seed),
            source=sources[key_of(row)],
            out=table.run(row, seed),
        )
        for row in chosen
        for seed in range(seeds)
    ]
    for _ in finished_runs(plans, jobs=jobs, machine=machine, command=command):
        write_text(out, number, size, table.lines())
    return write_table(out, number, size, table.lines())


@dataclass(frozen=True)
class _Table:
    """A table in its folder."""

    number: int
    size: str
    out: Path
    epochs: int | None

    @property
    def data(self) -> TableData:
        return DATA[self.number, self.size]

    def settings(self, row: Row, seed: int) -> TrainSettings:
        """How a row is trained."""
        return TrainSettings(
            **{
                **preset(row.probe, self.size),
                "name": row.name,
                "probe": row.probe,
                "seed": seed,
                "options": self.options(row),
                **({} if self.epochs is None else {"epochs": self.epochs}),
            }
        )

    def options(self, row: Row) -> dict[str, Any]:
        """The options of a row's structure."""
        return dict(self.data.options.get(row.name, {}))

    def run(self, row: Row, seed: int) -> Path:
        """The folder of a run."""
        return self.out / "runs" / f"{key_of(row)}-{seed}"

    def lines(self) -> list[Line]:
        """The rows of which there are runs."""
        found = (self._line(row) for row in find_rows(self.number))
        return [line for line in found if line.results or line.unfinished]

    def _line(self, row: Row) -> Line:
        results, unfinished = [], {}
        prefix = f"{key_of(row)}-"
        seeds = (path.name.removeprefix(prefix) for path in (self.out / "runs").glob(f"{prefix}*"))
        for seed in sorted(int(seed) for seed in seeds if seed.isdecimal()):
            folder, wanted = RunFolder(self.run(row, seed)), self.settings(row, seed)
            if folder.read_settings() != wanted.to_dict():
                continue
            done = folder.read_result()
            if done is not None:
                results.append(done)
            else:
                unfinished[seed] = f"{len(folder.read_log())} of {wanted.epochs} epochs"
        config = DATASETS[row.probe].config.from_dict(dict(self.data.config))
        bound = _bound(row, config, self.options(row))
        return Line(row=row, results=results, bound=bound, unfinished=unfinished)


def key_of(row: Row) -> str:
    """A name for a row that no other row of its table has."""
    return f"{row.name}-ambiguous" if row.ambiguous else row.name


def _bound(row: Row, config: Config, chosen: Mapping[str, Any]) -> float | None:
    """The row's bound or ceiling in percent, for the sizes that it was trained with."""
    if row.bound is None:
        return None
    if isinstance(config, ColorCodeConfig):
        return 100 * float(ceiling(config, over="samples"))
    assert isinstance(config, CenteredSquareConfig)
    window = chosen.get("window", int(row.name.rpartition("-")[2]))
    return window_share(window, config.square)


def _rows(number: int, names: Sequence[str] | None) -> list[Row]:
    """The rows to train; `SynthprobeError` for a name that is not in the table."""
    rows = list(find_rows(number))
    if names is None:
        return rows
    there = [key_of(row) for row in rows]
    for name in names:
        if name not in there:
            raise SynthprobeError(
                f"table {number} has no row {name!r}: take of {', '.join(there)}."
            )
    return [row for row in rows if key_of(row) in names]


def _source(row: Row, data: TableData, out: Path) -> Source:
    """The samples of a row, generated unless they are there."""
    source = open_source(_file(row.probe, data, out / "data"), probe=row.probe)
    if not row.ambiguous:
        return source
    # Trained on ambiguous samples, tested like the other rows.
    ambiguous = _file(row.probe, _ambiguous(data), out / "data", "-ambiguous")
    return dataclasses.replace(open_source(ambiguous, probe=row.probe), test=source.test)


def _ambiguous(data: TableData) -> TableData:
    sizes = {**data.sizes, "test": 1}
    return dataclasses.replace(data, config={**data.config, "mode": "ambiguous"}, sizes=sizes)


def _file(dataset: str, data: TableData, folder: Path, mark: str = "") -> Path:
    """The file with these samples, in the folder."""
    path = folder / f"{dataset}{mark}.h5"
    config = DATASETS[dataset].config.from_dict(dict(data.config))
    if path.exists():
        with open_dataset(path) as there:
            if there.config != config:
                raise SynthprobeError(
                    f"{path} has other settings than the table needs: remove it, or take another "
                    f"folder."
                )
        return path
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (data.sizes.get(split) for split in ("train", "test"))
    make_file(dataset, path, config=config, train=train, test=test, progress=True, cards=False)
    return path
