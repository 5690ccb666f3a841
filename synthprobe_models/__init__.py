"""The model side of synthprobe, which knows of the generator only the shards and samples it gives.

PyTorch, which it needs, comes with the extra ``models``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from synthprobe_models.data.torch_datasets import ShardDataset, StreamDataset, to_network
    from synthprobe_models.metrics import METRICS, Metric
    from synthprobe_models.networks.stack import LayerStack
    from synthprobe_models.networks.unet import UNet
    from synthprobe_models.probes.ability import Ability, Evidence, Outcome
    from synthprobe_models.probes.probe import PresetData, Probe, scaled
    from synthprobe_models.registry import structure
    from synthprobe_models.scoring.score import Score, score
    from synthprobe_models.training.exported import export_run, load_exported

__all__ = [
    "METRICS",
    "Ability",
    "Evidence",
    "LayerStack",
    "Metric",
    "Outcome",
    "PresetData",
    "Probe",
    "Score",
    "ShardDataset",
    "StreamDataset",
    "UNet",
    "export_run",
    "load_exported",
    "scaled",
    "score",
    "structure",
    "to_network",
]

_HOMES: Final = {
    "Ability": "probes.ability",
    "Evidence": "probes.ability",
    "LayerStack": "networks.stack",
    "METRICS": "metrics",
    "Metric": "metrics",
    "Outcome": "probes.ability",
    "PresetData": "probes.probe",
    "Probe": "probes.probe",
    "Score": "scoring.score",
    "ShardDataset": "data.torch_datasets",
    "StreamDataset": "data.torch_datasets",
    "UNet": "networks.unet",
    "export_run": "training.exported",
    "load_exported": "training.exported",
    "scaled": "probes.probe",
    "score": "scoring.score",
    "structure": "registry",
    "to_network": "data.torch_datasets",
}


def __getattr__(name: str) -> Any:
    """Load what needs PyTorch when it is asked for: the command must start without it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
