"""Networks that take a structure in, and whole networks, which this puts into the registry."""

from __future__ import annotations

from synthprobe_models.networks import adaptive_depth, deeplab, two_task_attention, unet

__all__ = ["adaptive_depth", "deeplab", "two_task_attention", "unet"]
