"""Write the small files that come with the package, synthprobe_data/ready/."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from synthprobe_data import DATASETS, make_file, ready

FOLDER = Path(ready.__file__).parent
SIZES: dict[str, dict[str, Any]] = {
    "rde": {"train": 240, "test": 60},
    "twins": {"train": 240, "validation": 0, "test": 60},
}
OTHERS: dict[str, Any] = {"train": 400, "test": 100}
"""Of datasets whose samples are drawn; of others, all that there are."""
MOST_BYTES = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=list(DATASETS), help="which (all)")
    for name in parser.parse_args().datasets:
        sizes = SIZES.get(name, OTHERS) if DATASETS[name].drawn else {}
        made = make_file(name, FOLDER / f"{name}.h5", **sizes, force=True, cards=False)
        print(f"{made.path.name}: {made.rows} samples, {made.path.stat().st_size} bytes")
    total = sum(path.stat().st_size for path in FOLDER.glob("*.h5"))
    assert total < MOST_BYTES, total


if __name__ == "__main__":
    main()
