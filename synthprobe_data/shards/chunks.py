"""Decoding what a dataset stores, and never more of it than its chunks may hold.

HDF5 itself inflates a chunk to whatever its compressed data hold, which can be a thousand times as
much as the chunk in an untrusted file.
"""

from __future__ import annotations

import math
import zlib
from itertools import product
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.layout import Column

_inflate: Any
try:
    from isal import isal_zlib as _inflate
except ImportError:  # no wheel for this platform
    _inflate = zlib


def decode_row(column: Column, mask: int, chunk: bytes) -> NDArray[Any]:
    """A row from the chunk that it is stored in; not compressed if HDF5's filter mask is set."""
    return _decode(chunk, mask, column.row_bytes, column, column.shape, "row")


def decode_rows(stored: h5py.Dataset, column: Column, start: int, stop: int) -> NDArray[Any]:
    """The rows of a dataset from ``start`` up to ``stop``, however it is chunked."""
    if stored.compression != "gzip":
        return np.asarray(stored[start:stop], column.dtype)
    shape: tuple[int, ...] = stored.chunks
    size = math.prod(shape) * column.dtype.itemsize
    rows = np.empty((stop - start, *column.shape), column.dtype)
    first = start // shape[0] * shape[0]
    axes = [range(first, stop, shape[0])]
    axes += [range(0, n, step) for n, step in zip(column.shape, shape[1:], strict=True)]
    for corner in product(*axes):
        mask, packed = stored.id.read_direct_chunk(corner)
        chunk = _decode(packed, mask, size, column, shape, "chunk", shuffled=stored.shuffle)
        low, high = max(corner[0], start), min(corner[0] + shape[0], stop)
        target = rows[(slice(low - start, high - start), *(slice(p, None) for p in corner[1:]))]
        # Where the last chunk of an axis reaches beyond the rows, the rest of it means nothing.
        inner = [slice(n) for n in target.shape[1:]]
        piece = chunk[(slice(low - corner[0], high - corner[0]), *inner)]
        target[tuple(slice(n) for n in piece.shape)] = piece
    return rows


def _decode(
    packed: bytes,
    mask: int,
    size: int,
    column: Column,
    shape: tuple[int, ...],
    what: str,
    *,
    shuffled: bool = False,
) -> NDArray[Any]:
    if shuffled and mask:
        raise SynthprobeError(f"a {what} is packed otherwise than the others.")
    if mask == 0:
        # One byte more than there may be, so that a chunk that holds more is found out.
        stream = _inflate.decompressobj()
        packed = stream.decompress(packed, size + 1)
        if not stream.eof:
            raise SynthprobeError(f"its compressed data do not end where the {what} ends.")
    if len(packed) != size:
        raise SynthprobeError(f"it does not have the size of a {what}.")
    if shuffled:  # first the first bytes of all numbers, then the second ones, ...
        apart = np.frombuffer(packed, np.uint8).reshape(column.dtype.itemsize, -1)
        packed = apart.T.tobytes()
    return np.frombuffer(packed, column.stored_dtype).reshape(shape)
