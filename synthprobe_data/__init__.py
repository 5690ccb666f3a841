"""Synthetic datasets in which every cue is known: generate, write, read, check."""

from __future__ import annotations

from synthprobe_data.api import iter_samples, make_file, make_sample
from synthprobe_data.centered_square import CenteredSquareConfig
from synthprobe_data.color_code import ColorCodeConfig
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RdeConfig
from synthprobe_data.ready import ready_dataset, ready_path
from synthprobe_data.registry import DATASETS
from synthprobe_data.run import RunSummary
from synthprobe_data.shards.opened import open_dataset

__version__ = "0.1.0"

__all__ = [
    "DATASETS",
    "CenteredSquareConfig",
    "ColorCodeConfig",
    "RdeConfig",
    "RunSummary",
    "SynthprobeError",
    "iter_samples",
    "make_file",
    "make_sample",
    "open_dataset",
    "ready_dataset",
    "ready_path",
]
