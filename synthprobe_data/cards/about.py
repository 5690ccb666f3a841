"""What the card of a dataset says beside what can be read off its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.cards.tally import Tally
from synthprobe_data.dataset import Block
from synthprobe_data.shards.opened import OpenDataset


@dataclass(frozen=True, kw_only=True)
class About:
    """The words, the figures and the picture of one dataset."""

    summary: str
    """What a sample is and what the task is, in two or three sentences."""
    good_for: tuple[str, ...]
    not_for: tuple[str, ...]
    task_categories: tuple[str, ...]
    """As the Hugging Face Hub names them."""
    tags: tuple[str, ...]
    columns: Mapping[str, str]
    """What each dataset of the file means."""
    attributes: str
    """What attributes of its own a file has; Markdown."""
    settings: Mapping[str, str]
    """What those settings mean that have no range."""
    checks: Callable[[Any], str]
    """``checks(config)``: which checks every sample has passed; Markdown."""
    figures: Callable[[OpenDataset], tuple[Tally, ...]]
    picture: Callable[[Block], NDArray[np.uint8]]
    """The picture of the card, RGB: all samples of a block."""
    picture_shows: str
    """What is to be seen on it."""
    picture_samples: int
    """How many samples are on it."""
    picture_spread: bool = False
    """Whether they are spread over the split, rather than the first ones."""
    picture_columns: tuple[str, ...]
    """The datasets that it needs."""
    h5py_items: str
    """Python that makes arrays ``inputs`` and ``targets`` of rows ``start:stop`` of ``file``."""
    sample_item: str
    """Python that makes arrays ``input`` and ``target`` of ``sample``, a dict of arrays."""
    torch_item: str
    """Python that makes tensors ``input`` and ``target`` of ``row`` of ``file``."""
