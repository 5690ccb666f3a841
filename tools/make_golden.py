"""Write the golden digests of all datasets: what some samples are, for good.

The tests compare with them. They change only together with the version of the dataset.
"""

from __future__ import annotations

import argparse
import inspect
import json
from pathlib import Path
from typing import Any

from synthprobe_data import DATASETS
from synthprobe_data.shards.digest import content_digest


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for dataset in DATASETS.values():
        # Its cases stand in the file itself; a new one needs no digest yet.
        path = Path(inspect.getfile(dataset.config)).with_name("golden.json")
        if not path.is_file():  # of another package
            continue
        cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cases"]
        for case in cases:
            config = dataset.config.from_dict(case["config"])
            block = dataset.generate_block(
                config, case["seed"], case["split"], case["start"], case["rows"]
            )
            case["content_digest"] = content_digest(block)
        golden = {"version": dataset.version, "cases": cases}
        path.write_text(json.dumps(golden, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
