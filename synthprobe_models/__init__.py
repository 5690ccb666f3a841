"""The model side of synthprobe, which knows of the generator only the shards and samples it gives.

PyTorch, which it needs, comes with the extra ``models``.
"""

from __future__ import annotations

from synthprobe_models.data import ShardDataset, StreamDataset, to_network

__all__ = ["ShardDataset", "StreamDataset", "to_network"]
