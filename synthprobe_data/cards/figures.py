"""The figures of a dataset, as its card shows them."""

from __future__ import annotations

from synthprobe_data.cards.registry import find_about
from synthprobe_data.cards.tally import Tally
from synthprobe_data.shards.opened import OpenDataset


def collect_figures(data: OpenDataset) -> tuple[Tally, ...]:
    """Count what the card of this dataset shows; reads no pixels."""
    return find_about(data.dataset.name).figures(data)
