"""The options that structures are built with for profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

WINDOWS: Final = {"lambda-local-7": {"window": 3}, "lambda-local-19": {"window": 7}}
"""Of Centered Square: windows that suit its size."""
_ATTENDING: Final = (
    "transformer",
    "nystromformer",
    "linformer",
    "reformer",
    "window-attention",
    "iwsa",
    "window-attention-lem",
    "ssa",
    "encoder-pre-norm",
    "encoder-post-norm",
)
_LAMBDA: Final = (
    "lambda",
    "lambda-cosine-sum-qkv",
    "lambda-cosine-sum-qv",
    "lambda-cosine-decor",
    "lambda-pe",
    "lambda-tt",
    "lambda-pe-tt",
    "lambda-coordconv",
    "lambda-local-7",
    "lambda-local-19",
)
# The U-Nets have 12 channels: two heads of 6, and 16 keys for each, as published.
RDE_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{name: {"heads": 2} for name in _ATTENDING},
    **{name: {"heads": 2, "keys": 32, **WINDOWS.get(name, {})} for name in _LAMBDA},
    "deformable": {"size": 3},
}
"""Of RDE, by the name of a structure."""
