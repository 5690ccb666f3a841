"""Files of runs and reports: written whole or not at all, and JSON that every program can read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synthprobe_data import SynthprobeError, in_place_of


class FolderError(SynthprobeError):
    """What a run is kept in cannot be used: in the way, damaged, or not to be written to."""


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary name, as by `in_place_of`, with one sentence if the file cannot be written."""
    try:
        with in_place_of(path) as part:
            yield part
    except OSError as error:
        raise FolderError(f"{path} could not be written: {error.strerror}.") from error


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    with replaced(path) as part:
        part.write_text(text, encoding="utf-8")


def make_folder(path: Path) -> None:
    """Make a folder unless it is there; `FolderError` if it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"the folder {path} could not be made: {error.strerror}.") from error


def plain_json(value: Any, indent: int | None = None) -> str:
    """The text of some values, with null for numbers that JSON does not have."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
