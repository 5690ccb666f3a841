"""The paper's tables: every row trained here, beside what was published."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
from synthprobe_models.counting import build_bare, count_parameters
from synthprobe_models.probes import PROBES
from synthprobe_models.published import Row, find_rows, window_share
from synthprobe_models.registry import NETWORKS
from synthprobe_models.run_folder import RunFolder
from synthprobe_models.runs import finished_run
from synthprobe_models.settings import TrainSettings, preset
from synthprobe_models.solver_row import SOLVER, solver_result
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
        # A strip: for its pixels, cues have far to go, and with one down-sampling the baseline sees
        # about 24 pixels to each side.
        config={
            "height": 16,
            "width": 96,
            "n_rectangles": 3,
            "n_vis": 3,
            "n_gap": 3,
            "n_par": 3,
            "min_size": 0.25,
        },
        sizes={"train": 14_000, "test": 2_000},
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


def make_table(
    number: int,
    size: str,
    out: Path,
    *,
    seeds: int = 1,
    rows: Sequence[str] | None = None,
    epochs: int | None = None,
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
    machine
        Where and how to compute.
    command
        What the results say they came from.
    """
    if seeds < 1:
        raise SynthprobeError(f"seeds is {seeds}: it must be 1 or more.")
    chosen = _rows(number, rows)
    data = DATA[number, size]
    probe = chosen[0].probe
    lines: list[Line] = []
    for row in chosen:
        source = _source(row, data, out)
        options = dict(data.options.get(row.name, {}))
        line = Line(row=row, results=[], bound=_bound(row, source, options))
        lines.append(line)
        given = preset(probe, size)
        if row is SOLVER:
            folder = RunFolder(out / "runs" / row.name)
            line.results.append(solver_result(source, given["loss"], command))
            folder.path.mkdir(parents=True, exist_ok=True)
            folder.finish(line.results[0])
            paths = write_table(out, number, size, lines)
            continue
        if row.name not in NETWORKS and "width" in given:
            given["width"] = width_of(row, source.facts.input_shape[1:], given, options)
        for seed in range(seeds):
            settings = TrainSettings(
                **{
                    **given,
                    "name": row.name,
                    "probe": probe,
                    "seed": seed,
                    "options": options,
                    **({} if epochs is None else {"epochs": epochs}),
                }
            )
            run = out / "runs" / f"{key_of(row)}-{seed}"
            line.results.append(
                finished_run(settings, source, run, machine=machine, command=command)
            )
            paths = write_table(out, number, size, lines)
    return paths


def key_of(row: Row) -> str:
    """A name for a row that no other row of its table has."""
    return f"{row.name}-ambiguous" if row.ambiguous else row.name


def width_of(
    row: Row, shape: Sequence[int], given: Mapping[str, Any], options: Mapping[str, Any]
) -> int:
    """Channels of the network with a row's structure, for a preset that sets them.

    In RDE these are the baseline's, and a structure takes the width that gives its network the
    number of parameters nearest to that of the baseline, as in the paper.

    Parameters
    ----------
    row
        The row.
    shape
        The positions.
    given
        The preset.
    options
        Options of the structure.
    """
    probe, width = PROBES[row.probe], int(given["width"])
    if probe.parameters is None:
        return width
    network = {"down_samplings": given["down_samplings"]} if "down_samplings" in given else {}
    baseline = build_bare(partial(probe.make, "unet", shape=shape, width=width, **network))
    return probe.width_with(
        row.name,
        shape,
        parameters=count_parameters(baseline),
        largest=width,
        options=options,
        **network,
    )


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
    rows = [*find_rows(number), *([SOLVER] if number == SOLVER.table else [])]
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
