"""Hypothesis strategies for the datasets: settings, scenes and samples to test against.

Each dataset names a module with its own strategies; their public names are found here, too. Without
another name in front they are of RDE.

They need the extra ``testing`` (``pip install synthprobe[testing]``). A test of your own may read::

    from hypothesis import given
    from synthprobe_data import strategies

    @given(strategies.generated_samples(strategies.configs(mode="certified")))
    def test_my_reader(drawn):
        assert (my_ranks(drawn.sample["image"]) == drawn.sample["rank"]).all()
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from synthprobe_data.registry import DATASETS
from synthprobe_data.strategies.common import seeds, splits

__all__ = ["seeds", "splits"]


def _modules() -> Iterator[ModuleType]:
    """Those of the datasets, in the order of the datasets."""
    for dataset in DATASETS.values():
        if dataset.strategies is not None:
            yield importlib.import_module(dataset.strategies)


def __getattr__(name: str) -> Any:
    """A strategy of the first dataset that has one of this name."""
    if not name.startswith("_"):
        for module in _modules():
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names of all strategies."""
    return sorted({*globals(), *(name for module in _modules() for name in module.__all__)})
