"""Write the golden digests of all datasets: what some samples are, for good.

The tests compare with them. They change only together with the version of the dataset.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import synthprobe_data
from synthprobe_data import DATASETS
from synthprobe_data.shards.digest import content_digest

ROWS = 48
CASES: dict[str, list[dict[str, Any]]] = {
    "rde": [
        *({"seed": seed, "split": "train", "start": 0, "config": {}} for seed in (0, 1, 2**64 - 1)),
        {"seed": 0, "split": "test", "start": 0, "config": {}},
        {"seed": 0, "split": "train", "start": 49_952, "config": {}},
        {"seed": 7, "split": "train", "start": 0, "config": {"mode": "rules"}},
        {"seed": 7, "split": "train", "start": 0, "config": {"mode": "ambiguous"}},
        {
            "seed": 3,
            "split": "test",
            "start": 5,
            "config": {"height": 48, "width": 72, "n_rectangles": 5, "n_vis": 4, "n_par": 2},
        },
        {"seed": 4, "split": "x", "start": 0, "config": {"height": 256, "width": 256, "blur": 1.5}},
    ],
    "centered-square": [
        {"seed": 0, "split": "train", "start": 0, "config": {}},
        {"seed": 0, "split": "test", "start": 1_404, "config": {}},
        {
            "seed": 0,
            "split": "test",
            "start": 3,
            "config": {"height": 17, "width": 24, "square": 9},
        },
    ],
    "color-code": [
        *({"seed": seed, "split": "train", "start": 0, "config": {}} for seed in (0, 1, 2**64 - 1)),
        {"seed": 0, "split": "test", "start": 0, "config": {}},
        {"seed": 0, "split": "train", "start": 19_952, "config": {}},
        {"seed": 7, "split": "train", "start": 0, "config": {"mode": "paper"}},
        {
            "seed": 3,
            "split": "x",
            "start": 5,
            "config": {
                "positions": 33,
                "colors": 20,
                "masked": 0.85,
                "bits": 9,
                "min_distance": 30,
            },
        },
    ],
}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, cases in CASES.items():
        dataset = DATASETS[name]
        for case in cases:
            config = dataset.config.from_dict(case["config"])
            block, _ = dataset.generate_block(
                config, case["seed"], case["split"], case["start"], ROWS
            )
            case["rows"] = ROWS
            case["content_digest"] = content_digest(block)
        golden = {"version": dataset.version, "cases": cases}
        folder = Path(synthprobe_data.__file__).with_name(name.replace("-", "_"))
        (folder / "golden.json").write_text(json.dumps(golden, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
