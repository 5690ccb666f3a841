"""Structures, one file each; importing this package puts all of them into the registry."""

from __future__ import annotations

from synthprobe_models.layers import (
    aspp,
    bottleneck,
    convnext,
    inception,
    mobilenet_v2,
    residual,
    resnext,
)

__all__ = ["aspp", "bottleneck", "convnext", "inception", "mobilenet_v2", "residual", "resnext"]
