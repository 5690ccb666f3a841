"""Reading one file, row by row, in any order and from any process."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.header import Header, read_header
from synthprobe_data.shards.layout import Column

_inflate: Any
try:
    from isal import isal_zlib as _inflate
except ImportError:  # no wheel for this platform
    _inflate = zlib

_REASONS: Final = {
    "file signature not found": "it is not an HDF5 file",
    "truncated file": "it is truncated, as after a copy or a download that was cut off",
}
"""What HDF5 says of the commonest mistakes, in words for people."""


def decode_row(column: Column, mask: int, chunk: bytes) -> NDArray[Any]:
    """A row from the chunk that it is stored in; not compressed if HDF5's filter mask is set."""
    if mask == 0:
        # One byte more than there may be, so that a chunk that holds more is found out.
        stream = _inflate.decompressobj()
        chunk = stream.decompress(chunk, column.row_bytes + 1)
        if not stream.eof:
            raise SynthprobeError("its compressed data do not end where the row ends.")
    if len(chunk) != column.row_bytes:
        raise SynthprobeError("it does not have the size of a row.")
    return np.frombuffer(chunk, column.dtype.newbyteorder("<")).reshape(column.shape)


class ShardReader:
    """One file, looked over before it is read.

    The file is opened when it is first read, once in each process: a reader may be pickled and may
    cross a fork, its file handle never does.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file: h5py.File | None = None
        self._process = 0
        self._small: dict[str, NDArray[Any]] = {}
        self._rows: dict[str, Any] = {}
        with self._explained():
            self.header: Header = read_header(self._opened())

    def __len__(self) -> int:
        return self.header.rows

    def read(self, name: str, row: int) -> NDArray[Any]:
        """One row of one dataset, decoded."""
        column = self._column(name)
        if not 0 <= row < self.header.rows:
            raise SynthprobeError(f"{self.path} has no row {row}: it has {self.header.rows}.")
        with self._explained(f"row {row} of {name}"):
            if column.chunked_by_row:
                return self._read_chunk(column, row)
            return self.small(name)[row]

    def small(self, name: str) -> NDArray[Any]:
        """All rows of a dataset that is not chunked by row."""
        column = self._column(name)
        if column.chunked_by_row:
            raise SynthprobeError(f"{name} is read row by row.")
        if name not in self._small:
            with self._explained(name):
                self._small[name] = self._opened()[name][()]
        return self._small[name]

    def read_rows(self, start: int, stop: int, names: Sequence[str] | None = None) -> Block:
        """The rows from ``start`` up to ``stop``, of all datasets or of those that are named."""
        columns = [self._column(name) for name in names or [c.name for c in self.header.columns]]
        block: Block = {}
        for column in columns:
            rows = np.empty((stop - start, *column.shape), column.dtype)
            for i in range(start, stop):
                rows[i - start] = self.read(column.name, i)
            block[column.name] = rows
        return block

    def close(self) -> None:
        """Close the file; it is opened again when it is next read."""
        if self._file is not None and self._process == os.getpid():
            self._file.close()
        self._file = None
        self._small = {}
        self._rows = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "header": self.header}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _file=None, _process=0, _small={}, _rows={})

    def _opened(self) -> h5py.File:
        if self._file is None or self._process != os.getpid():
            # Let go of a handle that came through a fork first, or HDF5 would go on with it.
            self._file, self._rows = None, {}
            self._file = h5py.File(self.path, "r")
            self._process = os.getpid()
        return self._file

    def _column(self, name: str) -> Column:
        for column in self.header.columns:
            if column.name == name:
                return column
        raise SynthprobeError(f"{self.path} has no dataset {name!r}.")

    def _read_chunk(self, column: Column, row: int) -> NDArray[Any]:
        file = self._opened()
        if column.name not in self._rows:
            # Asking h5py for a dataset and its layout takes longer than decoding a row.
            stored = file[column.name]
            by_row = stored.chunks == (1, *column.shape) and stored.compression == "gzip"
            self._rows[column.name] = stored, by_row
        stored, by_row = self._rows[column.name]
        if not by_row:
            return np.asarray(stored[row], column.dtype)
        mask, packed = stored.id.read_direct_chunk((row, *(0,) * len(column.shape)))
        return decode_row(column, mask, packed)

    @contextmanager
    def _explained(self, where: str = "") -> Iterator[None]:
        """Turn whatever the HDF5 library and zlib make of a broken file into one sentence."""
        what = f"{self.path}, {where}," if where else f"{self.path}"
        try:
            yield
        except FileNotFoundError:
            raise SynthprobeError(f"{self.path} does not exist.") from None
        except SynthprobeError as error:
            raise SynthprobeError(f"{what} cannot be read: {error}") from error
        except Exception as error:  # there is no end to what a broken file can make them raise
            said = str(error).split("\n")[0] or type(error).__name__
            reason = next((ours for words, ours in _REASONS.items() if words in said), said)
            raise SynthprobeError(f"{what} cannot be read: {reason}.") from error
