"""What a file says about itself, and whether it may be believed.

Shards may be untrusted. Before anything is decoded, a file is validated: only hard links to
plain numeric datasets are followed, and only the names, types, shapes, chunks and filters that the
format has for the config in the file are accepted. As the settings of a config are bounded, so is
what reading a row can cost; and as every row must really be in the file, its size bounds their
number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import h5py
import numpy as np

from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.registry import DATASETS
from synthprobe_data.shards.layout import Column, columns_of
from synthprobe_data.shards.selection import (
    INDEX,
    SELECTED_FROM,
    SELECTION,
    Selection,
    check_indices,
    with_index,
)
from synthprobe_data.text import is_utf_8

MAX_ROWS: Final = 100_000_000
MAX_TEXT_BYTES: Final = 60_000
MAX_CHUNK_BYTES: Final = 64 * 2**20
FILTERS: Final[tuple[list[int], ...]] = ([], [h5py.h5z.FILTER_DEFLATE])
"""What the datasets of a shard may be packed with."""
_INDEX_LIMIT: Final = 2**63


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a file says about itself, checked."""

    dataset: Dataset
    version: str
    config: Config
    seed: int
    splits: dict[str, tuple[int, int]]
    """The rows of each split: start and stop."""
    index_start: dict[str, int]
    """The index, within its split, of the first of these rows."""
    content_digest: str
    columns: list[Column]
    rows: int
    selection: Selection | None = None
    """Where the samples were taken from, if they are selected ones, with indices of their own."""

    def is_config(self, settings: Any) -> bool:
        """Whether these settings are the config; those that are left out have their defaults."""
        try:
            return bool(self.dataset.config.from_dict(settings) == self.config)
        except (SynthprobeError, TypeError, AttributeError):
            return False


def read_header(file: h5py.File) -> Header:
    """Validate a file and read its header; `SynthprobeError` says what is wrong with it."""
    version = _whole(file, "synthprobe_format", 0, 2**31)
    if version not in _READERS:
        known = " or ".join(map(str, _READERS))
        raise SynthprobeError(f"it is of format {version}, and this program reads format {known}.")
    return _READERS[version](file)


def _read_version_1(file: h5py.File) -> Header:
    text = {name: _text(file, name) for name in ("dataset", "version", "content_digest")}
    if text["dataset"] not in DATASETS:
        raise SynthprobeError(f"its dataset {text['dataset'][:40]!r} is not known.")
    dataset = DATASETS[text["dataset"]]
    settings = _json_object(file, "config")
    try:
        config = dataset.config.from_dict(settings)
    except (SynthprobeError, TypeError) as error:
        raise SynthprobeError(f"its config is wrong: {error}") from None
    if len(text["content_digest"]) != 64 or set(text["content_digest"]) - set("0123456789abcdef"):
        raise SynthprobeError("its content_digest is not a SHA-256.")
    columns = columns_of(dataset, config)
    selection = None
    if SELECTED_FROM in file.attrs or SELECTION in file.attrs:
        selection = Selection(
            selected_from=_text(file, SELECTED_FROM), selection=_text(file, SELECTION)
        )
        columns = with_index(columns)
    rows = _check_columns(file, columns)
    splits = _check_splits(_json_object(file, "splits"), rows)
    starts = _json_object(file, "index_start")
    if set(starts) != set(splits) or not all(
        _is_whole(v, 0, _INDEX_LIMIT) for v in starts.values()
    ):
        raise SynthprobeError("its index_start does not fit its splits.")
    if selection is not None:
        check_indices(file[INDEX.name], splits, starts)
    return Header(
        dataset=dataset,
        version=text["version"],
        config=config,
        seed=_whole(file, "seed", 0, 2**64 - 1),
        splits=splits,
        index_start=starts,
        content_digest=text["content_digest"],
        columns=columns,
        rows=rows,
        selection=selection,
    )


_READERS: Final = {1: _read_version_1}
"""One for each format that was ever released; none is removed."""


def _check_columns(file: h5py.File, columns: list[Column]) -> int:
    """Check the datasets of a file against those that it must have; return the number of rows."""
    expected = {column.name: column for column in columns}
    links = list(file.keys())
    if sorted(links) != sorted(expected):
        raise SynthprobeError(f"its datasets are not {', '.join(expected)}.")
    rows: set[int] = set()
    for name, column in expected.items():
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise SynthprobeError(f"its {name} is a link to somewhere else.")
        if file.get(name, getclass=True) is not h5py.Dataset:
            raise SynthprobeError(f"its {name} is not a dataset.")
        rows.add(check_column(file[name], column))
    if len(rows) != 1:
        raise SynthprobeError("its datasets differ in their number of rows.")
    if max(rows) > file.id.get_filesize():  # samples differ: each takes more than a byte
        raise SynthprobeError("it has more rows than bytes.")
    for name, column in expected.items():
        check_stored(file[name], column)
    return rows.pop()


def check_column(
    stored: h5py.Dataset, column: Column, filters_allowed: Sequence[Sequence[int]] = FILTERS
) -> int:
    """Check one dataset; return its number of rows."""
    name, properties = column.name, stored.id.get_create_plist()
    if stored.dtype != column.dtype.newbyteorder("<"):
        raise SynthprobeError(f"its {name} is of type {stored.dtype}, not {column.dtype}.")
    if stored.shape is None or stored.shape[1:] != column.shape:
        raise SynthprobeError(f"its {name} has rows of another shape than {column.shape}.")
    if stored.shape[0] > MAX_ROWS:
        raise SynthprobeError(f"its {name} has more than {MAX_ROWS} rows.")
    if properties.get_external_count():
        raise SynthprobeError(f"its {name} is stored outside the file.")
    layout = properties.get_layout()
    if layout not in (h5py.h5d.CHUNKED, h5py.h5d.CONTIGUOUS):
        raise SynthprobeError(f"its {name} is neither chunked nor contiguous.")
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    if filters not in filters_allowed:
        raise SynthprobeError(f"its {name} has a filter other than deflate.")
    if layout == h5py.h5d.CHUNKED:
        chunk_bytes = int(np.prod(stored.chunks, dtype=np.float64)) * column.dtype.itemsize
        if chunk_bytes > MAX_CHUNK_BYTES:
            raise SynthprobeError(f"its {name} has chunks of {chunk_bytes} bytes.")
    return int(stored.shape[0])


def check_stored(stored: h5py.Dataset, column: Column) -> None:
    """Check that all rows of a dataset are in the file: HDF5 reads what is missing as zeros."""
    if stored.chunks is None:
        size = stored.shape[0] * column.row_bytes
        if size and (stored.id.get_offset() is None or stored.id.get_storage_size() != size):
            raise SynthprobeError(f"its {column.name} was never written.")
        if size > stored.file.id.get_filesize():
            raise SynthprobeError(f"its {column.name} is larger than the file.")
        return
    expected = math.prod(-(-n // step) for n, step in zip(stored.shape, stored.chunks, strict=True))
    found = stored.id.get_num_chunks()
    if found != expected:
        raise SynthprobeError(f"its {column.name} has {found} of {expected} chunks.")


def _check_splits(splits: dict[str, Any], rows: int) -> dict[str, tuple[int, int]]:
    """Check that the splits lie one after another and have all rows."""
    checked: dict[str, tuple[int, int]] = {}
    end = 0
    for name, span in splits.items():
        if not is_utf_8(name):
            raise SynthprobeError("its splits have a name that is not UTF-8.")
        if not (
            isinstance(span, list) and len(span) == 2 and all(_is_whole(v, 0, rows) for v in span)
        ):
            raise SynthprobeError("its splits are not spans of its rows.")
        if span[0] != end or span[1] < end:
            raise SynthprobeError("its splits do not follow one another.")
        checked[name] = (span[0], span[1])
        end = span[1]
    if end != rows:
        raise SynthprobeError("its splits do not have all of its rows.")
    return checked


def _attribute(file: h5py.File, name: str) -> Any:
    if name not in file.attrs:
        raise SynthprobeError(f"it has no attribute {name}.")
    stored = h5py.h5a.open(file.id, name.encode())
    if stored.shape != () or stored.get_storage_size() > MAX_TEXT_BYTES:
        raise SynthprobeError(f"its attribute {name} is not a single value.")
    # Texts of variable length stand on a heap, where a damaged file can hang the HDF5 library.
    if stored.dtype.kind not in "Siu":
        raise SynthprobeError(f"its attribute {name} is neither a whole number nor a fixed text.")
    return file.attrs[name]


def _text(file: h5py.File, name: str) -> str:
    value = _attribute(file, name)
    if not isinstance(value, bytes):
        raise SynthprobeError(f"its attribute {name} is not a text.")
    return value.decode("utf-8")


def _whole(file: h5py.File, name: str, low: int, high: int) -> int:
    value = _attribute(file, name)
    if not isinstance(value, np.integer) or not low <= int(value) <= high:
        raise SynthprobeError(f"its attribute {name} is not a whole number from {low} to {high}.")
    return int(value)


def _json_object(file: h5py.File, name: str) -> dict[str, Any]:
    try:
        value = json.loads(_text(file, name))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise SynthprobeError(f"its attribute {name} is not a JSON object.")
    return value


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
