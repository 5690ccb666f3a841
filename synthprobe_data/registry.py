"""All datasets, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from synthprobe_data.centered_square import CENTERED_SQUARE
from synthprobe_data.color_code import COLOR_CODE
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RDE

DATASETS: Final[Mapping[str, Dataset]] = {
    dataset.name: dataset for dataset in (RDE, CENTERED_SQUARE, COLOR_CODE)
}


def find_dataset(name: str) -> Dataset:
    """The dataset with this name; `SynthprobeError` if there is none."""
    if name not in DATASETS:
        raise SynthprobeError(f"there is no dataset {name!r}: take one of {', '.join(DATASETS)}.")
    return DATASETS[name]
