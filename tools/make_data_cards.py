"""Write the cards of the canonical datasets into data_cards/, from real runs at full size.

A lab that generates a dataset compares its content digest with the one in the card.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from synthprobe_data import DATASETS
from synthprobe_data.shards.card_paths import card_paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data_cards"))
    parser.add_argument("datasets", nargs="*", default=list(DATASETS), help="which (all)")
    given = parser.parse_args()
    for name in given.datasets:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.h5"
            command: list[str | Path] = ["synthprobe_data.cli.gen", name, "--out", path]
            subprocess.run([sys.executable, "-m", *command], check=True)
            verify: list[str | Path] = ["synthprobe_data.cli.shards", "verify", path]
            subprocess.run([sys.executable, "-m", *verify], check=True)
            for card in card_paths(path, folder=False).all():
                shutil.copy(card, given.out / card.name)


if __name__ == "__main__":
    main()
