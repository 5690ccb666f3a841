"""Train one small run for each probe that is quick to train, and export it to results/checkpoints.

    python tools/make_checkpoints.py
    python tools/make_checkpoints.py twins-lambda-pe

The structures are those whose rows in results/abilities are among the best. Each
is one run, seed 0, as a profile of the preset quick trains it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch

from synthprobe_models.data.source import open_source
from synthprobe_models.experiments.profile.profiler import Profiler
from synthprobe_models.experiments.samples import data_file
from synthprobe_models.probes import PROBES, find_probe
from synthprobe_models.training.exported import export_run
from synthprobe_models.training.run import train_run
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import Machine

HERE = Path(__file__).parents[1] / "results" / "checkpoints"
ROWS = {
    "twins-lambda-pe": ("lambda-pe", "twins"),
    "centered-square-inception": ("inception", "centered-square"),
    "color-code-transformer": ("transformer", "color-code"),
}
MOST_BYTES = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", nargs="*", default=list(ROWS), help="which (all)")
    torch.set_num_threads(1)
    for row in parser.parse_args().rows:
        with tempfile.TemporaryDirectory() as folder:
            make(row, Path(folder))
    total = sum(path.stat().st_size for path in HERE.glob("*/*"))
    print(f"together {total} bytes")
    assert total < MOST_BYTES


def make(row: str, folder: Path) -> None:
    name, probe = ROWS[row]
    settings = TrainSettings(
        **{
            **find_probe(probe).preset("quick"),
            "name": name,
            "probe": probe,
            "options": Profiler(out=folder, probes=(probe,)).options(name, probe),
        }
    )
    source = open_source(data_file(probe, PROBES[probe].samples("quick"), folder), probe=probe)
    result = train_run(settings, source, folder / "run", machine=Machine(), picture_every=0)
    export_run(folder / "run", HERE / row, force=True)
    print(f"{row}: {result['test']}, {result['parameters']} parameters, {result['seconds']:.0f} s")


if __name__ == "__main__":
    main()
