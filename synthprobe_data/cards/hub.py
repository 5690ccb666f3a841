"""The front matter of a card: YAML that the Hugging Face Hub reads."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from synthprobe_data.cards.facts import CardFacts
from synthprobe_data.shards.layout import Column

_SIZES: Final = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
)
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./* -]*")
_NOT_TEXT: Final = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
"""Words that YAML takes for something else than a text."""


def render_front_matter(facts: CardFacts) -> str:
    """The front matter, with the lines of dashes around it."""
    return as_front_matter(front_matter(facts))


def as_front_matter(values: dict[str, Any]) -> str:
    """Values as front matter."""
    lines = "\n".join(_yaml(values))
    return f"---\n{lines}\n---\n"


def front_matter(facts: CardFacts) -> dict[str, Any]:
    """What the Hugging Face Hub wants to know, under the names that it has for it."""
    about = facts.dataset.card
    row_bytes = sum(arrow_bytes(column) for column in facts.columns)
    paths, sizes = hub_splits(facts)
    return {
        "license": facts.dataset.license.lower(),
        "pretty_name": facts.dataset.title,
        "task_categories": list(about.task_categories),
        "tags": list(about.tags),
        "size_categories": [size_category(sum(facts.splits.values()))],
        "annotations_creators": ["machine-generated"],
        "source_datasets": ["original"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": name, "path": path} for name, path in paths.items()],
            }
        ],
        "dataset_info": {
            "features": [_feature(column) for column in facts.columns],
            "splits": [
                {"name": name, "num_bytes": row_bytes * size, "num_examples": size}
                for name, size in sizes.items()
            ],
            "download_size": sum(file.bytes for file in facts.files),
            "dataset_size": row_bytes * sum(sizes.values()),
        },
    }


def hub_splits(facts: CardFacts) -> tuple[dict[str, str], dict[str, int]]:
    """The splits as Hugging Face sees them: the files of each, and its size.

    For Hugging Face a file belongs to one split. A file that has several would be taken for the
    training split as a whole, so it is given a split of its own with a name that says what it is.
    """
    if facts.card_path_kind == "folder":
        return {name: f"{name}-*.h5" for name in facts.splits}, facts.splits
    name = "_and_".join(facts.splits)
    return {name: facts.files[0].name}, {name: sum(facts.splits.values())}


def size_category(rows: int) -> str:
    """The Hub's word for this many samples."""
    return next((name for limit, name in _SIZES if rows < limit), "100M<n<1B")


def arrow_bytes(column: Column) -> int:
    """Size of a row in Arrow, into which Hugging Face copies the data.

    An array of two or more dimensions is kept there as lists of lists, each list with an offset of
    four bytes.
    """
    dimensions = len(column.shape)
    if dimensions < 2:
        return column.row_bytes
    return column.row_bytes + 4 * sum(math.prod(column.shape[:k]) for k in range(dimensions))


def _feature(column: Column) -> dict[str, Any]:
    """A dataset of the file as a feature of Hugging Face."""
    dtype, shape = column.dtype.name, list(column.shape)
    if not shape:
        return {"name": column.name, "dtype": dtype}
    if len(shape) == 1:
        return {"name": column.name, "list": dtype, "length": shape[0]}
    array = {f"array{len(shape)}_d": {"shape": shape, "dtype": dtype}}
    return {"name": column.name, "dtype": array}


def _yaml(value: Any, indent: str = "") -> Iterator[str]:
    """The lines of a dict or a list in YAML."""
    for key, item in value.items() if isinstance(value, dict) else ((None, v) for v in value):
        start = f"{indent}-" if key is None else f"{indent}{key}:"
        if not isinstance(item, dict | list):
            yield f"{start} {_scalar(item)}"
        elif key is not None:
            yield start
            yield from _yaml(item, indent + "  " * isinstance(item, dict))
        else:
            first, *others = _yaml(item, indent + "  ")
            yield f"{start} {first.lstrip()}"
            yield from others


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return json.dumps(value)  # which is YAML, too
