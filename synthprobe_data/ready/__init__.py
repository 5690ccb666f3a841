"""Small files that come with the package, for a first look without generating anything.

They have the first samples of the canonical datasets, and of Centered Square all of them.
"""

from __future__ import annotations

from pathlib import Path

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.registry import DATASETS, find_dataset
from synthprobe_data.shards.collection import OpenDataset, open_dataset


def ready_names() -> list[str]:
    """The datasets of which there is such a file."""
    folder = Path(__file__).parent
    return [name for name in DATASETS if (folder / f"{name}.h5").is_file()]


def ready_path(dataset: str) -> Path:
    """The file with samples of this dataset.

    Parameters
    ----------
    dataset
        A name in `synthprobe_data.DATASETS`.
    """
    path = Path(__file__).with_name(f"{find_dataset(dataset).name}.h5")
    if not path.is_file():
        raise SynthprobeError(
            f"no small file of {dataset} comes with the package: take one of "
            f"{', '.join(ready_names())}, or make a file with synthprobe-gen."
        )
    return path


def ready_dataset(dataset: str) -> OpenDataset:
    """Samples of this dataset, as `synthprobe_data.open_dataset` gives them."""
    return open_dataset(ready_path(dataset), trusted=True)
