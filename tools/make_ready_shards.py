"""Write the small files that come with the package, synthprobe_data/ready/."""

from __future__ import annotations

import argparse

from synthprobe_data import DATASETS, make_file
from synthprobe_data.ready import ready_path

SIZES = {
    "rde": {"train": 240, "test": 60},
    "centered-square": {},  # all that there are
    "color-code": {"train": 400, "test": 100},
}
MOST_BYTES = 2_000_000


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name in DATASETS:
        made = make_file(name, ready_path(name), **SIZES[name], force=True, cards=False)
        print(f"{made.path.name}: {made.rows} samples, {made.path.stat().st_size} bytes")
    total = sum(ready_path(name).stat().st_size for name in DATASETS)
    assert total < MOST_BYTES, total


if __name__ == "__main__":
    main()
