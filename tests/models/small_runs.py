"""Small data and small runs for the tests of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from synthprobe_data import RdeConfig, make_file
from synthprobe_models.training.settings import TrainSettings

CONFIG = RdeConfig(height=16, width=16, n_rectangles=2, n_vis=2, n_gap=2, n_par=2)


def small_file(path: Path, train: int = 10, test: int = 5, seed: int = 0) -> Path:
    """Rectangles of 16 x 16 pixels, in one file."""
    make_file("rde", path, config=CONFIG, train=train, test=test, seed=seed, workers=1, cards=False)
    return path


def small_settings(**others: Any) -> TrainSettings:
    """A run of six steps."""
    chosen: dict[str, Any] = {
        "name": "unet",
        "probe": "rde",
        "epochs": 2,
        "batch": 4,
        "rate": 1e-3,
        "optimizer": "adamw",
        "loss": "mse",
        "width": 3,
        "down_samplings": 1,
    }
    return TrainSettings(**{**chosen, **others})
