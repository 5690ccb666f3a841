"""Reading one file, row by row, in any order and from any process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from synthprobe_data.dataset import Block
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards import handles
from synthprobe_data.shards.chunks import decode_row, decode_rows
from synthprobe_data.shards.guard import check_file
from synthprobe_data.shards.header import Header, read_header
from synthprobe_data.shards.layout import Column
from synthprobe_data.shards.manifest import check_regular
from synthprobe_data.shards.reasons import reason_of

MAX_KEPT_BYTES: Final = 512 * 2**20
"""Decoded columns that a reader keeps in memory; what goes beyond is read in pieces."""


class ShardReader:
    """One file, validated before it is read.

    The file is opened when it is first read, once in each process: a reader may be pickled and may
    cross a fork, its file handle never does. When a process has too many files open, those that
    were not used for a while are closed, and opened again when they are next read.

    Parameters
    ----------
    path
        The file.
    trusted
        Open it at once; otherwise `synthprobe_data.shards.guard` validates it first.
    """

    def __init__(self, path: str | Path, *, trusted: bool = False) -> None:
        self.path = Path(path)
        self._file: h5py.File | None = None
        self._process = 0
        self.used = False
        """Whether the file was read since somebody last looked for files to close."""
        self._small: dict[str, NDArray[Any]] = {}
        self._pieces: dict[str, tuple[int, NDArray[Any]]] = {}
        self._rows: dict[str, Any] = {}
        with self._explained():
            check_regular(self.path)
            if not trusted:
                check_file(self.path)
            try:
                self.header: Header = read_header(self._opened())
            except BaseException:
                self.close()  # now: the error refers to this reader for as long as it is kept
                raise

    def __len__(self) -> int:
        return self.header.rows

    def read(self, name: str, row: int) -> NDArray[Any]:
        """One row of one dataset, decoded."""
        column = self._column(name)
        if not 0 <= row < self.header.rows:
            raise SynthprobeError(f"{self.path} has no row {row}: it has {self.header.rows}.")
        try:  # `_explained` takes time: it waits until something is wrong
            if column.chunked_by_row:
                return self._read_chunk(column, row)
            return self._read_small(column, row)
        except Exception:
            with self._explained(f"row {row} of {name}"):
                raise

    def small(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Rows of a dataset that is not chunked by row, all of them by default."""
        column = self._column(name)
        if column.chunked_by_row:
            raise SynthprobeError(f"{name} is read row by row.")
        stop = self.header.rows if stop is None else stop
        with self._explained(name):
            if self._keeps(column):
                return self._small[name][start:stop]
            return decode_rows(self._opened()[name], column, start, stop)

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
            handles.note_closed(self)
        self._file = None
        self._small, self._pieces, self._rows = {}, {}, {}

    def let_go(self) -> None:
        """Close the file as soon as nobody reads it; what is in memory stays."""
        self._file, self._rows = None, {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "header": self.header}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _file=None, _process=0, _small={}, _pieces={}, _rows={})
        self.used = False

    def _opened(self) -> h5py.File:
        self.used = True
        file = self._file
        if file is None or self._process != os.getpid():
            # Let go of a handle that came through a fork first, or HDF5 would go on with it.
            file = None
            self.let_go()
            check_regular(self.path)
            self._file = file = h5py.File(self.path, "r")
            self._process = os.getpid()
            handles.note_opened(self)
        return file

    def _column(self, name: str) -> Column:
        for column in self.header.columns:
            if column.name == name:
                return column
        raise SynthprobeError(f"{self.path} has no column {name!r}.")

    def _keeps(self, column: Column) -> bool:
        """Whether all rows of a dataset are in memory now: they are, if there is room for them."""
        if column.name not in self._small:
            kept = sum(rows.nbytes for rows in self._small.values())
            if kept + self.header.rows * column.row_bytes > MAX_KEPT_BYTES:
                return False
            stored = self._opened()[column.name]
            self._small[column.name] = decode_rows(stored, column, 0, self.header.rows)
        return True

    def _read_small(self, column: Column, row: int) -> NDArray[Any]:
        if self._keeps(column):
            return self._small[column.name][row]
        return self._read_piece(column, self._opened()[column.name], row)

    def _read_piece(self, column: Column, stored: h5py.Dataset, row: int) -> NDArray[Any]:
        """A row out of the chunk that has it, which is kept until another one is read."""
        first, rows = self._pieces.get(column.name, (0, np.empty(0)))
        if not first <= row < first + len(rows):
            length = stored.chunks[0] if stored.chunks else 1
            first = row // length * length
            rows = decode_rows(stored, column, first, min(first + length, self.header.rows))
            self._pieces[column.name] = first, rows
        values: NDArray[Any] = rows[row - first]
        return values

    def _read_chunk(self, column: Column, row: int) -> NDArray[Any]:
        file = self._opened()
        rows = self._rows  # another thread may close the file meanwhile
        if column.name not in rows:
            # Asking h5py for a dataset and its layout takes longer than decoding a row.
            stored = file[column.name]
            by_row = stored.chunks == (1, *column.shape) and stored.compression == "gzip"
            rows[column.name] = stored, by_row
        stored, by_row = rows[column.name]
        if not by_row:
            return self._read_piece(column, stored, row)
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
            reason = reason_of(str(error)) or type(error).__name__
            raise SynthprobeError(f"{what} cannot be read: {reason}.") from error
