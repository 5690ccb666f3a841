"""Write the golden digests of RDE: what some samples are, for good.

The tests compare with them. They change only together with the version of the dataset.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synthprobe_data import rde
from synthprobe_data.shards.digest import content_digest

ROWS = 48
CASES: list[dict[str, Any]] = [
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
]


def main() -> None:
    for case in CASES:
        config = rde.RdeConfig.from_dict(case["config"])
        block, _ = rde.RDE.generate_block(config, case["seed"], case["split"], case["start"], ROWS)
        case["rows"] = ROWS
        case["content_digest"] = content_digest(block)
    golden = {"version": rde.RDE.version, "cases": CASES}
    path = Path(rde.__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
