"""One array of an HDF5 file that anybody may have written, read as warily as a shard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.chunks import decode_rows
from synthprobe_data.shards.guard import check_file
from synthprobe_data.shards.header import FILTERS, MAX_TEXT_BYTES, check_column, check_stored
from synthprobe_data.shards.layout import Column
from synthprobe_data.shards.manifest import check_regular
from synthprobe_data.shards.reasons import reason_of
from synthprobe_data.text import printable

_FILTERS: Final = (*FILTERS, [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE])
_KINDS: Final = "fiu"


class GuardedArray:
    """An array of numbers in an HDF5 file, of which some rows at a time are read.

    The file is untrusted: a child process with limits opens it first, only a plain dataset of
    the file itself is read, and no chunk is inflated to more than it may hold.

    Parameters
    ----------
    path
        The file.
    name
        Of the dataset; if the file has only one, that one is taken, whatever its name.
    """

    def __init__(self, path: str | Path, name: str) -> None:
        self.path = Path(path)
        with self._explained():
            check_regular(self.path)
            check_file(self.path)
            self._file = h5py.File(self.path, "r", locking=False)
        try:
            with self._explained():
                self._stored, self._column = _find(self._file, name)
        except BaseException:
            self._file.close()
            raise
        self.shape: tuple[int, ...] = self._stored.shape
        self.dtype: np.dtype[Any] = self._column.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """The rows from ``start`` up to ``stop``."""
        with self._explained(f"row {start} to {stop - 1} of {self._column.name}"):
            return decode_rows(self._stored, self._column, start, stop)

    def text(self, name: str) -> str | None:
        """An attribute of the file that is a text of fixed length; ``None`` without such a one."""
        with self._explained():
            if name not in self._file.attrs:
                return None
            stored = h5py.h5a.open(self._file.id, name.encode())
            # Texts of variable length stand on a heap, where a damaged file can hang the library.
            if stored.shape != () or stored.dtype.kind != "S":
                return None
            if stored.get_storage_size() > MAX_TEXT_BYTES:
                return None
            return bytes(self._file.attrs[name]).decode("utf-8", "replace")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explained(self, what: str = "") -> Iterator[None]:
        """One sentence, with the name of the file, for whatever is wrong with it."""
        try:
            yield
        except SynthprobeError as error:
            said = str(error)
        except Exception as error:  # there is no end to what a broken file can make them raise
            said = f"{reason_of(str(error) or type(error).__name__)}."
        else:
            return
        where = f"{what}: " if what else ""
        raise SynthprobeError(f"{self.path} cannot be read: {where}{said}")


def _find(file: h5py.File, name: str) -> tuple[h5py.Dataset, Column]:
    """The dataset, checked."""
    names = list(file.keys())
    if name not in names:
        if len(names) != 1:
            raise SynthprobeError(f"it has no dataset {name!r}.")
        name = names[0]
    shown = printable(name)[:40]
    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise SynthprobeError(f"its {shown} is a link to somewhere else.")
    if file.get(name, getclass=True) is not h5py.Dataset:
        raise SynthprobeError(f"its {shown} is not a dataset.")
    stored = file[name]
    dtype = stored.dtype
    if dtype.kind not in _KINDS or dtype.itemsize > 8:
        raise SynthprobeError(f"its {shown} is of type {dtype}: numbers of up to 64 bits are read.")
    if dtype.newbyteorder("<") != dtype:
        raise SynthprobeError(f"its {shown} is big-endian: write little-endian numbers.")
    if not stored.shape:
        raise SynthprobeError(f"its {shown} has no rows.")
    column = Column(shown, dtype, stored.shape[1:])
    rows = check_column(stored, column, _FILTERS)
    if rows > file.id.get_filesize():
        raise SynthprobeError(f"its {shown} has more rows than the file has bytes.")
    check_stored(stored, column)
    return stored, column
