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
    flags: Mapping[tuple[str, Any], str]
    """Settings that the command line spells as a flag: (name, value) to flag."""
    checks: Callable[[Any], str]
    """``checks(config)``: which checks every sample has passed; Markdown."""
    figures: Callable[[OpenDataset], tuple[Tally, ...]]
    panels: Callable[[Block], list[NDArray[np.uint8]]]
    """The rows of the picture, top to bottom: RGB pictures of the samples of a block."""
    panel_names: str
    """What the rows of the picture show."""
    picture_columns: tuple[str, ...]
    """The datasets that `panels` needs."""
    input_name: str
    """The dataset that a network is given."""
    target_name: str
    """The dataset that it must find."""
    torch_item: str
    """Python that makes tensors ``input`` and ``target`` of ``row`` of ``file``."""
