"""Fill results/board from our own tables, and write its page.

    python tools/make_board.py

Each row of results/table-*/table.csv becomes a record. The samples of a table are generated again
for their content digest, which decides what a row may be ranked with.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scipy import stats

from synthprobe_data import DATASETS, __version__, open_dataset
from synthprobe_models.experiments.samples import data_file
from synthprobe_models.experiments.table import Table, find_table
from synthprobe_models.metrics import METRICS
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.scoring.board import (
    ELSEWHERE,
    FORMAT,
    PAGE,
    read_board,
    render_board,
    submit,
)

ROOT = Path(__file__).parents[1]
BOARD = ROOT / "results" / "board"
WHO = "the synthprobe developers"


def main() -> None:
    for old in BOARD.glob("*.json"):
        if json.loads(old.read_text(encoding="utf-8")).get("kind") == "table":
            old.unlink()
    BOARD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((ROOT / "results").glob("table-*/table.csv")):
            for record in records_of(path, Path(folder)):
                submit(record, BOARD)
    (BOARD / PAGE).write_text(render_board(read_board(BOARD)), encoding="utf-8")


def records_of(path: Path, folder: Path) -> Iterable[dict[str, Any]]:
    """The records of a table: one for each row, over its seeds."""
    named = re.fullmatch(r"table-(\d)-([a-z]+)(?:-(.+))?", path.parent.name)
    assert named is not None
    table, preset = find_table(int(named[1])), named[2]
    changed = dict(zip(table.named_settings, [named[3]], strict=False)) if named[3] else {}
    plain, ambiguous = _samples(table, preset, changed, folder)
    rows: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["row"], row["name"]), []).append(row)
    for (title, name), runs in rows.items():
        trained: str | None = plain["content_digest"]
        if any(row.title == title and row.ambiguous for row in table.published):
            trained = ambiguous
        if any(one.row.title == title for one in table.untrained):
            trained = None
        yield {
            "synthprobe_board": FORMAT,
            "name": f"{title}, table {table.number}, {preset}",
            "who": WHO,
            "licence": "MIT",
            "kind": "table",
            "data": {key: value for key, value in plain.items() if key != "samples"},
            "samples": plain["samples"],
            "align": "none",
            "trained_on": trained or ELSEWHERE,
            "epochs": None if trained is None else int(runs[0]["epochs"]),
            "settings": {
                "structure": name,
                "parameters": int(runs[0]["parameters"] or 0),
                "table": table.number,
                "preset": preset,
            },
            "seeds": [] if trained is None else [int(run["seed"]) for run in runs],
            "metrics": _metrics(table, runs),
            "synthprobe": __version__,
            "commit": runs[0]["commit"],
            "command": f"synthprobe-probe table {table.number} --preset {preset}",
        }


def _samples(
    table: Table, preset: str, changed: Mapping[str, Any], folder: Path
) -> tuple[dict[str, Any], str]:
    """What decides the samples of a table, and the digest of its ambiguous ones, if it has any."""
    data = table.samples(preset)
    config = {**data.config, **changed}
    mark = f"-{table.number}-{preset}-{'-'.join(map(str, changed.values()))}"
    path = data_file(table.probe, PresetData(config=config, sizes=data.sizes), folder, mark)
    with open_dataset(path) as there:
        facts = {
            "dataset": table.probe,
            "version": there.version,
            "config": there.config.to_dict(),
            "seed": there.seed,
            "split": "test",
            "content_digest": there.content_digest,
            "samples": there.splits["test"],
        }
    path.unlink()
    if not any(row.ambiguous for row in table.published):
        return facts, ""
    other = PresetData(config={**config, "mode": "ambiguous"}, sizes=data.sizes)
    path = data_file(table.probe, other, folder, f"{mark}-ambiguous")
    with open_dataset(path) as there:
        digest = there.content_digest
    path.unlink()
    assert DATASETS[table.probe].config.from_dict(dict(other.config))
    return facts, digest


def _metrics(table: Table, runs: list[Mapping[str, str]]) -> dict[str, Any]:
    """The metrics of the test samples: the mean over seeds, and Student's interval of that."""
    found = {}
    for figure in table.columns:
        if figure.path[0] != "test" or figure.path[-1] == "loss":
            continue
        values = [float(run[figure.published]) / figure.times for run in runs]
        mean, low, high = statistics.fmean(values), None, None
        if len(values) > 1:
            reach = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
            low, high = mean - float(reach), mean + float(reach)
        metric = METRICS[figure.path[-1]]
        found[metric.name] = {
            "title": metric.title,
            "value": mean,
            "low": low,
            "high": high,
            "interval": "95% over seeds" if len(values) > 1 else "none: one seed",
            "higher_is_better": metric.higher_is_better,
        }
    return found


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    main()
