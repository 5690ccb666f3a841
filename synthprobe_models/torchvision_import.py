"""torchvision beside a PyTorch that its compiled part was not built for.

The torchvision of the package index is built for GPUs. Beside a PyTorch for CPUs its operators
cannot be loaded, and it then fails to import, as it describes operators that are not there. Its
Python part, which is all that transformers and timm need of it, works once these are declared.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from typing import Any, Final

import torch

_SIGNATURE: Final = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_OPERATORS: Final = ("nms", "qnms")
_declared: list[Any] = []
"""Kept, as declarations end with their library."""


def import_torchvision() -> None:
    """Import torchvision, if it is installed, with its operators declared where they are missing.

    An operator that is only declared fails when it is called.
    """
    if find_spec("torchvision") is None or "torchvision" in sys.modules:
        return
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error) or "does not exist" not in str(error):
            raise
    else:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in _OPERATORS:
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}{_SIGNATURE}")
    _declared.append(library)
    importlib.import_module("torchvision")
