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
from synthprobe_models.published import Row, find_rows, window_share
from synthprobe_models.runs import finished_run
from synthprobe_models.settings import TrainSettings, preset
from synthprobe_models.source import Source, open_source
from synthprobe_models.table_files import TablePaths, write_table
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
    (3, "mini"): TableData(
        # As many positions for a colour as published, and parts of a quarter of the positions.
        config={"positions": 48, "colors": 4, "mode": "paper"},
        sizes={"train": 16_000, "test": 2_000},
        options={
            "transformer": {"heads": 4},
            "nystromformer": {"heads": 4, "landmarks": 12},
            "linformer": {"heads": 4, "projected": 12},
            "reformer": {"heads": 4, "bucket": 12, "rounds": 1},
            "lambda": {"heads": 4},
            "lambda-tt": {"heads": 4},
        },
    ),
}
"""By the number of a table and the name of a preset."""

_DECIDED: Final = ("name", "probe", "seed", "options")
"""The settings of a run that its row decides."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of a table: what was published, and what was found here."""

    row: Row
    results: list[dict[str, Any]]
    """One for each seed."""
    bound: float | None
    """What no network of this kind can surpass on these samples, where it is known."""


def make_table(
    number: int,
    size: str,
    out: Path,
    *,
    seeds: int = 1,
    rows: Sequence[str] | None = None,
    epochs: int | None = None,
    config: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    machine: Machine | None = None,
    command: str | None = None,
) -> TablePaths:
    """Train every row of a table, and write it.

    What is there already is kept: a run that is complete is not trained again, and one that was
    interrupted goes on.

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
    config
        Settings of the dataset, instead of those of the preset, such as the mode of Color Code.
    training
        Settings of the runs, instead of those of the preset, such as the batch.
    machine
        Where and how to compute.
    command
        What the results say they came from.
    """
    if seeds < 1:
        raise SynthprobeError(f"seeds is {seeds}: it must be 1 or more.")
    for name in _DECIDED:
        if name in (training or {}):
            raise SynthprobeError(f"{name} is decided by the table: leave it out.")
    chosen = _rows(number, rows)
    data = DATA[number, size]
    data = dataclasses.replace(data, config={**data.config, **(config or {})})
    probe = chosen[0].probe

    def settings_of(row: Row, seed: int) -> TrainSettings:
        return TrainSettings.from_dict(
            {
                **preset(probe, size),
                **(training or {}),
                "name": row.name,
                "probe": probe,
                "seed": seed,
                "options": dict(data.options.get(row.name, {})),
                **({} if epochs is None else {"epochs": epochs}),
            }
        )

    settings_of(chosen[0], 0)  # what is wrong with them is said before samples are made
    lines: list[Line] = []
    for row in chosen:
        source = _source(row, data, out)
        options = data.options.get(row.name, {})
        line = Line(row=row, results=[], bound=_bound(row, source, options))
        lines.append(line)
        for seed in range(seeds):
            run = out / "runs" / f"{key_of(row)}-{seed}"
            line.results.append(
                finished_run(settings_of(row, seed), source, run, machine=machine, command=command)
            )
            paths = write_table(out, number, size, lines)
    return paths


def key_of(row: Row) -> str:
    """A name for a row that no other row of its table has."""
    return f"{row.name}-ambiguous" if row.ambiguous else row.name


def _bound(row: Row, source: Source, chosen: Mapping[str, Any]) -> float | None:
    """The row's bound or ceiling in percent, for the sizes that it was trained with."""
    config = source.facts.config
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
