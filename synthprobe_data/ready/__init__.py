"""Small files that come with the package, for a first look without generating anything.

They have the first samples of the canonical datasets, and of Centered Square all of them.
"""

from __future__ import annotations

from pathlib import Path

from synthprobe_data.registry import find_dataset
from synthprobe_data.shards.opened import OpenDataset, open_dataset


def ready_path(dataset: str) -> Path:
    """The file with samples of this dataset.

    Parameters
    ----------
    dataset
        A name in `synthprobe_data.DATASETS`.
    """
    return Path(__file__).with_name(f"{find_dataset(dataset).name}.h5")


def ready_dataset(dataset: str) -> OpenDataset:
    """Samples of this dataset, as `synthprobe_data.open_dataset` gives them."""
    return open_dataset(ready_path(dataset), trusted=True)
