"""All datasets, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RDE

DATASETS: Final[Mapping[str, Dataset]] = {RDE.name: RDE}


def find_dataset(name: str) -> Dataset:
    """The dataset with this name; `SynthprobeError` if there is none."""
    if name not in DATASETS:
        raise SynthprobeError(f"there is no dataset {name!r}: take one of {', '.join(DATASETS)}.")
    return DATASETS[name]
