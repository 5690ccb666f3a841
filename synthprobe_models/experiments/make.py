"""The paper's tables: every row trained here, beside what was published."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError
from synthprobe_models.data.source import Source, open_source
from synthprobe_models.experiments.profile.standing import standings
from synthprobe_models.experiments.rates import FOLDER as RATES
from synthprobe_models.experiments.rates import check_rates, choose_rates, read_choices
from synthprobe_models.experiments.records import restore_records
from synthprobe_models.experiments.render import TablePaths, write_table
from synthprobe_models.experiments.samples import data_file
from synthprobe_models.experiments.table import Row, Table, find_table
from synthprobe_models.experiments.table_runs import TableRuns, further_rows, recorded_lines
from synthprobe_models.files import make_folder
from synthprobe_models.probes import find_probe
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.training.parallel import Plan, check_jobs, finished_runs
from synthprobe_models.training.progress import run_label, say
from synthprobe_models.training.run import check_kept
from synthprobe_models.training.trainer import DivergedError, Machine

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
    rates: Sequence[float] | None = None,
    rate_epochs: int = 1,
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
    rates
        Learning rates to choose from, instead of that of the preset: each row takes the one with
        the least loss on validation samples after a short run with seed 0.
    rate_epochs
        Of the short runs.
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
    if rates is not None:
        check_rates(rates, rate_epochs)
        if "rate" in training:
            raise SynthprobeError("rate is chosen among the rates: leave one of the two out.")
    table = find_table(number)
    data = table.samples(size)
    data = dataclasses.replace(data, config={**data.config, **(config or {})})
    runs = TableRuns(table=table, size=size, out=out, data=data, training=training)
    chosen = _rows(table, rows)
    trained = [row for row in chosen if table.is_trained(row)]
    # What is wrong with the settings is said before samples are made.
    short = {row.key: runs.settings(row, 0) for row in trained}
    for settings in short.values():
        for rate in rates or ():
            dataclasses.replace(settings, rate=rate)
    make_folder(out)
    sources = {row.key: _source(row, data, out) for row in chosen}
    if rates is not None:
        choices = choose_rates(
            {key: (settings, sources[key]) for key, settings in short.items()},
            rates,
            rate_epochs,
            out / RATES,
            jobs=jobs,
            machine=machine,
            command=command,
        )
        # Rows that were not asked for this time keep what was chosen for them.
        choices = {**read_choices(out / RATES), **choices}
        runs = dataclasses.replace(runs, rates={key: one.rate for key, one in choices.items()})
    wanted = [(row, runs.settings(row, seed)) for row in trained for seed in range(seeds)]
    plans = [
        Plan(
            settings=settings,
            source=sources[row.key],
            out=runs.folder(row, settings.seed).path,
            label=run_label(row.key, row.probe, settings.seed, seeds, (i, len(wanted))),
        )
        for i, (row, settings) in enumerate(wanted, 1)
    ]
    restore_records(out / "runs")
    for plan in plans:
        check_kept(plan.settings, plan.source, plan.out)
    if machine is None or machine.progress:
        for line in standings([(plan.settings, plan.out) for plan in plans]):
            say(line)
    for one in table.untrained:
        if one.row.key not in sources:
            continue
        beside = {**find_probe(table.probe).preset(size), **training}
        folder = runs.folder(one.row, 0)
        if machine is None or machine.progress:
            say(f"{table.probe}, {one.row.name}: {one.does}")
        make_folder(folder.path)
        folder.finish(one.result(sources[one.row.key], beside, command))
    try:
        for _ in finished_runs(plans, jobs=jobs, machine=machine, command=command):
            _write(runs, plot=False)
    except DivergedError:  # of one row, which ends after the others
        _write(runs)
        raise
    return _write(runs)


def remake_table(number: int, size: str, out: Path) -> TablePaths:
    """Write a table again from the records of its runs, without training anything.

    Parameters
    ----------
    number
        Of the paper's table.
    size
        The preset that it was made with.
    out
        The folder of the table, with ``runs``.
    """
    table = find_table(number)
    table.samples(size)
    lines = recorded_lines(table, out)
    if not lines:
        raise SynthprobeError(f"{out / 'runs'} has no results of runs of table {number}.")
    return write_table(out, table, size, lines)


def _write(runs: TableRuns, *, plot: bool = True) -> TablePaths:
    lines = runs.lines()
    runs.keep_records(lines)
    return write_table(runs.out, runs.table, runs.size, lines, plot=plot)


def _rows(table: Table, names: Sequence[str] | None) -> list[Row]:
    """The rows to train; `SynthprobeError` for a name that is not in the table and cannot be."""
    rows = table.rows
    if names is None:
        return rows
    there = [row.key for row in rows]
    rows += further_rows(table)
    for name in names:
        if name not in [row.key for row in rows]:
            raise SynthprobeError(
                f"table {table.number} has no row {name!r}: take of {', '.join(there)}, or any "
                f"other structure that fits the probe {table.probe}."
            )
    return [row for row in rows if row.key in names]


def _source(row: Row, data: PresetData, out: Path) -> Source:
    """The samples of a row, generated unless they are there."""
    source = open_source(data_file(row.probe, data, out / "data"), probe=row.probe)
    if not row.ambiguous:
        return source
    # Trained on ambiguous samples, tested like the other rows.
    ambiguous = data_file(row.probe, _ambiguous(data), out / "data", "-ambiguous")
    return dataclasses.replace(open_source(ambiguous, probe=row.probe), test=source.test)


def _ambiguous(data: PresetData) -> PresetData:
    sizes = {**data.sizes, "test": 1}
    return dataclasses.replace(data, config={**data.config, "mode": "ambiguous"}, sizes=sizes)
