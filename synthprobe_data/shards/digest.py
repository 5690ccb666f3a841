"""The content digest: the same for the same rows, however they are stored.

The digest of a row is SHA-256 over the bytes of its entries in all datasets, in the order of their
names, little-endian and row-major. The digest of some rows is SHA-256 over the digests of the
rows, one after another.
"""

from __future__ import annotations

import hashlib

import numpy as np

from synthprobe_data.dataset import Block


def row_digests(block: Block) -> bytes:
    """The digests of all rows of a block, 32 bytes each."""
    columns = [_little_endian(block[name]) for name in sorted(block)]
    digests = []
    for entries in zip(*columns, strict=True):
        row = hashlib.sha256()
        for entry in entries:
            row.update(entry)
        digests.append(row.digest())
    return b"".join(digests)


class ContentDigest:
    """The digest of rows that come one block after another."""

    def __init__(self) -> None:
        self._rows = hashlib.sha256()

    def update(self, digests: bytes) -> None:
        """Go on with the rows that have these digests."""
        self._rows.update(digests)

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        return self._rows.hexdigest()


def digest_of_rows(digests: bytes) -> str:
    """The digest of all rows that have these digests."""
    digest = ContentDigest()
    digest.update(digests)
    return digest.hexdigest()


def content_digest(block: Block) -> str:
    """The digest of all rows of a block."""
    return digest_of_rows(row_digests(block))


def _little_endian(column: np.ndarray) -> np.ndarray:
    column = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
    # A row that is a single number still needs a buffer of its own.
    return column if column.ndim > 1 else column[:, None]
