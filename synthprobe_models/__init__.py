"""The model side of synthprobe, which knows of the generator only the shards and samples it gives.

PyTorch, which it needs, comes with the extra ``models``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from synthprobe_models.data import ShardDataset, StreamDataset, to_network
    from synthprobe_models.registry import structure

__all__ = ["ShardDataset", "StreamDataset", "structure", "to_network"]

_HOMES: Final = {
    "ShardDataset": "data",
    "StreamDataset": "data",
    "structure": "registry",
    "to_network": "data",
}


def __getattr__(name: str) -> Any:
    """Load what needs PyTorch when it is asked for: the command must start without it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
