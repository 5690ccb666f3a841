"""The paper's tables: every row trained here, beside what was published."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_data import DATASETS, SynthprobeError, make_file, open_dataset
from synthprobe_models.checkpoint import make_folder
from synthprobe_models.many_runs import Plan, check_jobs, finished_runs
from synthprobe_models.progress import say
from synthprobe_models.published import Row, probe_of
from synthprobe_models.runs import check_kept
from synthprobe_models.settings import preset
from synthprobe_models.solver_row import SOLVER, solver_result
from synthprobe_models.source import Source, open_source
from synthprobe_models.standing import standings
from synthprobe_models.table_files import TablePaths, write_table
from synthprobe_models.table_runs import TableData, TableRuns, further_rows, key_of, rows_of
from synthprobe_models.train import DivergedError, Machine

DATA: Final[Mapping[tuple[int, str], TableData]] = {
    (1, "paper"): TableData(),
    (2, "paper"): TableData(),
    (3, "paper"): TableData(config={"mode": "paper"}),
    (1, "mini"): TableData(
        # A strip: for its pixels, cues have far to go, and with one down-sampling the baseline sees
        # about 24 pixels to each side. Two rectangles: what a T-junction means is soon learnt.
        config={
            "height": 12,
            "width": 96,
            "n_rectangles": 2,
            "n_vis": 3,
            "n_gap": 3,
            "n_par": 3,
            "min_size": 0.3,
        },
        sizes={"train": 12_000, "test": 2_000},
        # Heads of 16 keys each, as published; a kernel that leaves the network some width.
        options={
            "lambda-cosine-sum-qkv": {"heads": 2, "keys": 32},
            "lambda-pe": {"heads": 2, "keys": 32},
            "lambda-pe-tt": {"heads": 2, "keys": 32},
            "deformable": {"size": 3},
        },
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
    jobs: int = 1,
    machine: Machine | None = None,
    command: str | None = None,
) -> TablePaths:
    """Train every row of a table, and write it.

    What is there already is kept: a run that is complete is not trained again, and one that was
    interrupted goes on. A run that is wanted, but was made from another source of its structure or
    by another version of synthprobe, is set aside and trained again. The table has all runs of the
    folder that were trained in the same way, asked for this time or earlier. One with other
    settings or on other data is not replaced: then nothing is trained, and `SynthprobeError` says
    so.

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
        Only these rows, by the names of their structures. Any other structure or network that fits
        the table's probe is a further row, with nothing in the paper's columns.
    epochs
        Instead of those of the preset.
    config
        Settings of the dataset, instead of those of the preset, such as the mode of Color Code.
    training
        Settings of the runs, instead of those of the preset, such as the batch.
    jobs
        How many runs to train at a time.
    machine
        Where and how to compute.
    command
        What the results say they came from.
    """
    if seeds < 1:
        raise SynthprobeError(f"seeds is {seeds}: it must be 1 or more.")
    check_jobs(jobs)
    training = dict(training or {})
    for name in _DECIDED:
        if name in training:
            raise SynthprobeError(f"{name} is decided by the table: leave it out.")
    if epochs is not None:
        training["epochs"] = epochs
    data = DATA[number, size]
    data = dataclasses.replace(data, config={**data.config, **(config or {})})
    table = TableRuns(number=number, size=size, out=out, data=data, training=training)
    chosen = _rows(number, rows)
    # What is wrong with the settings is said before samples are made.
    wanted = [
        (row, table.settings(row, seed))
        for row in chosen
        if row is not SOLVER
        for seed in range(seeds)
    ]
    make_folder(out)
    sources = {key_of(row): _source(row, data, out) for row in chosen}
    plans = [
        Plan(
            settings=settings,
            source=sources[key_of(row)],
            out=table.folder(row, settings.seed).path,
        )
        for row, settings in wanted
    ]
    for plan in plans:
        check_kept(plan.settings, plan.source, plan.out)
    if machine is None or machine.progress:
        for line in standings([(plan.settings, plan.out) for plan in plans]):
            say(line)
    if SOLVER in chosen:
        loss = preset(SOLVER.probe, size)["loss"]
        folder = table.folder(SOLVER, 0)
        make_folder(folder.path)
        folder.finish(solver_result(sources[key_of(SOLVER)], loss, command))
    try:
        for _ in finished_runs(plans, jobs=jobs, machine=machine, command=command):
            write_table(out, number, size, table.lines(), plot=False)
    except DivergedError:  # of one row, which ends after the others
        write_table(out, number, size, table.lines())
        raise
    return write_table(out, number, size, table.lines())


def _rows(number: int, names: Sequence[str] | None) -> list[Row]:
    """The rows to train; `SynthprobeError` for a name that is not in the table and cannot be."""
    rows = rows_of(number)
    if names is None:
        return rows
    there = [key_of(row) for row in rows]
    rows += further_rows(number)
    for name in names:
        if name not in map(key_of, rows):
            raise SynthprobeError(
                f"table {number} has no row {name!r}: take of {', '.join(there)}, or any other "
                f"structure that fits the probe {probe_of(number)}."
            )
    return [row for row in rows if key_of(row) in names]


def _source(row: Row, data: TableData, out: Path) -> Source:
    """The samples of a row, generated unless they are there."""
    source = open_source(data_file(row.probe, data, out / "data"), probe=row.probe)
    if not row.ambiguous:
        return source
    # Trained on ambiguous samples, tested like the other rows.
    ambiguous = data_file(row.probe, _ambiguous(data), out / "data", "-ambiguous")
    return dataclasses.replace(open_source(ambiguous, probe=row.probe), test=source.test)


def _ambiguous(data: TableData) -> TableData:
    sizes = {**data.sizes, "test": 1}
    return dataclasses.replace(data, config={**data.config, "mode": "ambiguous"}, sizes=sizes)


def data_file(dataset: str, data: TableData, folder: Path, mark: str = "") -> Path:
    """The file with these samples in the folder, generated unless it is there.

    Parameters
    ----------
    dataset
        Its name.
    data
        The settings and the number of samples.
    folder
        Where it is, or will be.
    mark
        Added to its name.
    """
    path = folder / f"{dataset}{mark}.h5"
    config = DATASETS[dataset].config.from_dict(dict(data.config))
    if path.exists():
        with open_dataset(path) as there:
            if there.config != config:
                raise SynthprobeError(
                    f"{path} has other settings than are needed here: remove it, or take another "
                    f"folder."
                )
        return path
    make_folder(folder)
    train, test = (data.sizes.get(split) for split in ("train", "test"))
    make_file(dataset, path, config=config, train=train, test=test, progress=True, cards=False)
    return path
