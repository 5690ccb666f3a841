"""Predictions from files, which are untrusted: HDF5, ``.npy``, ``.npz``, or a folder.

A file has one row for each sample of the split, in the order of their positions. A folder has one
file for each, named by the position from 0, with or without zeros before it: 16-bit grey PNG, or
``.npy``. No file can make the reader run code, nor take much more memory than the predictions that
are expected.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from synthprobe_data import GuardedArray, SynthprobeError

DATASET: Final = "prediction"
"""The name of the dataset in HDF5, and of the array in ``.npz``."""
_NAME: Final = re.compile(r"0*(\d{1,9})\.(png|npy)", re.IGNORECASE)
_GREY_16: Final = ("I;16", "I;16L", "I;16B", "I;16N")
_MOST_PNG_BYTES_A_PIXEL: Final = 8
_ROOM: Final = 2**20
"""Bytes of a small file beside its numbers."""


class PredictionFile(ABC):
    """Predictions for so many samples, each of this shape, by row.

    Parameters
    ----------
    path
        The file or the folder.
    count
        How many samples there are.
    shape
        That of the prediction for one of them; an axis of length 1 before it may be there.
    """

    def __init__(self, path: Path, count: int, shape: Sequence[int]) -> None:
        self.path = path
        self.count = count
        self.shape = tuple(shape)

    def rows(self, numbers: Sequence[int]) -> NDArray[np.float64]:
        """These rows; `SynthprobeError` that names a row with what is no finite number."""
        found = np.stack([self._row(number) for number in numbers]).astype(np.float64)
        found = found.reshape(len(numbers), *self.shape)
        finite = np.isfinite(found)
        if not finite.all():
            row, *place = np.argwhere(~finite)[0].tolist()
            value = found[(row, *place)]
            raise SynthprobeError(
                f"row {numbers[row]} of {self.path} has {value} at {tuple(place)}: every value "
                f"must be a finite number."
            )
        return found

    @abstractmethod
    def _row(self, number: int) -> NDArray[Any]:
        """One row."""

    def made_for(self) -> dict[str, str]:
        """What the file says of the samples that it is for, by name, as far as it does."""
        return {}

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Close what is open."""

    def _check(self, shape: Sequence[int], dtype: np.dtype[Any], where: str) -> None:
        """Check the number of rows, their shape and their type."""
        if dtype.kind not in "fiu" or dtype.itemsize > 8:
            raise SynthprobeError(f"{where} has numbers of type {dtype}: take float32.")
        if len(shape) == 0 or tuple(shape[1:]) not in (self.shape, (1, *self.shape)):
            raise SynthprobeError(
                f"row 0 of {where} has the shape {tuple(shape[1:])}: it must be {self.shape}."
            )
        if shape[0] != self.count:
            there = f"there is no row {shape[0]}"
            if shape[0] > self.count:
                there = f"row {self.count} is one too many"
            raise SynthprobeError(f"{where} has {shape[0]} rows for {self.count} samples: {there}.")


def open_predictions(path: Path, count: int, shape: Sequence[int]) -> PredictionFile:
    """Open predictions by what the path is: a folder, or a file by the end of its name.

    Parameters
    ----------
    path, count, shape
        As for `PredictionFile`.
    """
    if path.is_dir():
        return _Folder(path, count, shape)
    if not path.is_file():
        raise SynthprobeError(f"there is no file {path}.")
    kinds: dict[str, type[PredictionFile]] = {
        ".h5": _Hdf5,
        ".hdf5": _Hdf5,
        ".npy": _Npy,
        ".npz": _Npz,
    }
    if path.suffix.lower() not in kinds:
        raise SynthprobeError(
            f"{path} is no file of predictions: its name must end in .h5, .npy or .npz, or it must "
            f"be a folder."
        )
    return kinds[path.suffix.lower()](path, count, shape)


class _Hdf5(PredictionFile):
    def __init__(self, path: Path, count: int, shape: Sequence[int]) -> None:
        super().__init__(path, count, shape)
        self.array = GuardedArray(path, DATASET)
        try:
            self._check(self.array.shape, self.array.dtype, str(path))
        except SynthprobeError:
            self.array.close()
            raise
        self._start, self._kept = 0, np.empty(0)

    def _row(self, number: int) -> NDArray[Any]:
        # Chunks of foreign files have any shape: what is inflated is kept for the next rows.
        if not self._start <= number < self._start + len(self._kept):
            step = max(1, 2**24 // (8 * math.prod(self.shape)))
            self._start = number // step * step
            stop = min(self._start + step, self.count)
            self._kept = self.array.rows(self._start, stop)
        return self._kept[number - self._start]

    def made_for(self) -> dict[str, str]:
        texts = {name: self.array.text(name) for name in ("dataset", "split", "content_digest")}
        return {name: text for name, text in texts.items() if text is not None}

    def close(self) -> None:
        self.array.close()


class _Npy(PredictionFile):
    def __init__(self, path: Path, count: int, shape: Sequence[int]) -> None:
        super().__init__(path, count, shape)
        self.array = _mapped(path)
        self._check(self.array.shape, self.array.dtype, str(path))

    def _row(self, number: int) -> NDArray[Any]:
        return np.asarray(self.array[number])


class _Npz(PredictionFile):
    def __init__(self, path: Path, count: int, shape: Sequence[int]) -> None:
        super().__init__(path, count, shape)
        with (
            _explained(f"{path} is not a .npz file, or it is damaged."),
            _Archive(path) as file,
            zipfile.ZipFile(file) as archive,
        ):
            file.most = None
            with archive.open(self._member(archive)) as stream:
                self.array = self._read(stream)

    def _member(self, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        named = [info for info in members if info.filename == f"{DATASET}.npy"]
        if not named and len(members) != 1:
            raise SynthprobeError(f"{self.path} has no array {DATASET!r}.")
        member = (named or members)[0]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SynthprobeError(f"{self.path} is packed otherwise than np.savez does.")
        return member

    def _read(self, stream: IO[bytes]) -> NDArray[Any]:
        """The array, of which no more is read than its header says, once that is what it must."""
        shape, fortran, dtype = _read_header(stream)
        self._check(shape, dtype, str(self.path))
        size = math.prod(shape) * dtype.itemsize
        content = stream.read(size)
        if len(content) != size:
            raise ValueError("too short")
        return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")

    def _row(self, number: int) -> NDArray[Any]:
        return self.array[number]


class _Folder(PredictionFile):
    def __init__(self, path: Path, count: int, shape: Sequence[int]) -> None:
        super().__init__(path, count, shape)
        self.files: dict[int, Path] = {}
        for file in sorted(path.iterdir()):
            named = _NAME.fullmatch(file.name)
            if named is None:
                continue
            number = int(named[1])
            if number in self.files:
                raise SynthprobeError(
                    f"{path} has two files for row {number}: {self.files[number].name} and "
                    f"{file.name}."
                )
            self.files[number] = file
        for number in range(count):
            if number not in self.files:
                raise SynthprobeError(
                    f"{path} has no file for row {number}: name it {number}.png or {number}.npy."
                )
            if not self.files[number].is_file():  # to open a pipe would wait for ever
                raise SynthprobeError(f"row {number}, {self.files[number]}, is no file.")
        if len(self.files) > count:
            raise SynthprobeError(
                f"{path} has {len(self.files)} files for {count} samples: row {max(self.files)} is "
                f"one too many."
            )

    def _row(self, number: int) -> NDArray[Any]:
        file = self.files[number]
        if file.suffix.lower() == ".png":
            return self._picture(file, number)
        array = _mapped(file)
        if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
            raise SynthprobeError(
                f"row {number}, {file}, has numbers of type {array.dtype}: take float32."
            )
        if array.shape not in (self.shape, (1, *self.shape)):
            raise SynthprobeError(
                f"row {number}, {file}, has the shape {array.shape}: it must be {self.shape}."
            )
        return np.asarray(array).reshape(self.shape)

    def _picture(self, file: Path, number: int) -> NDArray[Any]:
        if len(self.shape) != 2:
            raise SynthprobeError(f"{file} is a picture, but rows have the shape {self.shape}.")
        most = _ROOM + _MOST_PNG_BYTES_A_PIXEL * math.prod(self.shape)
        if file.stat().st_size > most:
            raise SynthprobeError(f"row {number}, {file}, has more than {most} bytes.")
        with _explained(f"row {number}, {file}, is no PNG, or it is damaged."):
            with warnings.catch_warnings():
                # A picture of far too many pixels is refused below, before it is decoded.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                picture = Image.open(file, formats=("PNG",))
            with picture:
                size = (picture.height, picture.width)
                if size != self.shape:
                    raise SynthprobeError(
                        f"row {number}, {file}, has {size[0]} x {size[1]} pixels: it must have "
                        f"{self.shape[0]} x {self.shape[1]}."
                    )
                if picture.mode not in _GREY_16:
                    raise SynthprobeError(f"row {number}, {file}, is no 16-bit grey PNG.")
                return np.asarray(picture).astype(np.uint16)


@contextmanager
def _explained(sentence: str) -> Iterator[None]:
    """Say this of a file, whatever a library makes of it: there is no end to what that can be."""
    try:
        yield
    except SynthprobeError:
        raise
    except Exception as error:
        raise SynthprobeError(sentence) from error


class _Archive(io.FileIO):
    """A file of which not much is read at once until its directory was read, which is kept."""

    most: int | None = _ROOM

    def read(self, size: int | None = -1, /) -> bytes | Any:
        """So many bytes, or all that are left."""
        if self.most is None:
            return super().read(size)
        whole = size is None or not 0 <= size <= self.most
        content = super().read(self.most + 1 if whole else size)
        if len(content) > self.most:
            raise ValueError("its directory is too large")
        return content


def _mapped(path: Path) -> NDArray[Any]:
    """A ``.npy`` file, mapped into memory; one with Python objects is refused."""
    with _explained(f"{path} is not a .npy file of numbers, or it is damaged."):
        with open(path, "rb") as stream:
            shape, fortran, dtype = _read_header(stream)
            offset = stream.tell()
        if dtype.hasobject or math.prod(shape) * dtype.itemsize > path.stat().st_size - offset:
            raise ValueError("objects, or too short")
        order: Any = "F" if fortran else "C"
        if 0 in shape:
            return np.empty(shape, dtype)
        return np.memmap(path, dtype, "r", offset, shape, order)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of the array that begins here, read as a literal and bounded."""
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version}")
    shape, fortran, dtype = readers[version](stream)
    if any(not 0 <= n < 2**40 for n in shape) or len(shape) > 8:
        raise ValueError("no shape")
    return shape, fortran, dtype
