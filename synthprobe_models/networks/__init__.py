"""Networks that take a structure in, and whole networks, which this puts into the registry."""

from __future__ import annotations

from synthprobe_models.networks import (
    adaptive_depth,
    anynet,
    deeplab,
    googlenet,
    mobile,
    resnets,
    two_task_attention,
    unet,
    vit,
)

__all__ = [
    "adaptive_depth",
    "anynet",
    "deeplab",
    "googlenet",
    "mobile",
    "resnets",
    "two_task_attention",
    "unet",
    "vit",
]
