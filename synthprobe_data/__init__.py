"""Synthetic datasets in which every cue is known: generate, write, read, check."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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

_HOMES: Final = {
    "DATASETS": "registry",
    "CenteredSquareConfig": "centered_square",
    "ColorCodeConfig": "color_code",
    "RdeConfig": "rde",
    "RunSummary": "run",
    "SynthprobeError": "errors",
    "iter_samples": "api",
    "make_file": "api",
    "make_sample": "api",
    "open_dataset": "shards.opened",
    "ready_dataset": "ready",
    "ready_path": "ready",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for: the commands start without Numba, to say that they were ended."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
