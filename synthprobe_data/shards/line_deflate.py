"""Compressing pictures whose lines mostly repeat the line above.

A general encoder of deflate looks for repetitions everywhere. In a picture of rectangles, what
follows is mostly what stands in the line above, or the pixel before once more: so only these two
places are looked at, and the codes are the same for all pictures of a shape. Any zlib decodes it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.kernel import highest_bit, kernel, load_8_bytes, store_8_bytes
from synthprobe_data.shards.deflate_tables import (
    END,
    MAX_DISTANCE,
    MAX_LENGTH,
    MIN_LENGTH,
    SYMBOLS,
    Bits,
    block_header,
    code_lengths,
    codes_of,
    distance_symbol,
    length_symbol,
)

ZLIB_HEADER: Final = b"\x78\x01"
ADLER_BASE: Final = 65_521
_BYTE_WEIGHTS: Final = {0: 40, 255: 13}
"""How frequent these bytes are, if others count 1, as measured on RDE: colours are saturated."""
_LENGTH_WEIGHT: Final = 2
_MAX_LENGTH_WEIGHT: Final = 20
_LITTLE_ENDIAN: Final = sys.byteorder == "little"
_ADLER_PIECE: Final = 4096
"""So many bytes at once: 255 times the sum of 1 to this fits into 32 bits."""
_ADLER_WEIGHTS: Final = np.arange(_ADLER_PIECE, 0, -1).astype(np.uint32)

# What stands for the next bytes: the byte itself, or so many as they stand above, or before.
_BYTE, _ABOVE, _BEFORE = range(3)


class LineCodes(NamedTuple):
    """What is written for pictures with pixels and lines of so many bytes."""

    pixel: int
    line: int
    header: Bits
    byte: list[Bits]
    end: Bits
    above: dict[int, Bits]
    """By length: so many bytes as they stand one line above."""
    before: dict[int, Bits]
    """By length: so many bytes as they stand one pixel before."""


@functools.cache
def line_codes(pixel: int, line: int) -> LineCodes:
    """The codes for pictures with pixels and lines of so many bytes."""
    weights = dict.fromkeys(range(SYMBOLS), 1) | _BYTE_WEIGHTS
    weights |= dict.fromkeys(range(END + 1, SYMBOLS), _LENGTH_WEIGHT)
    weights[SYMBOLS - 1] = _MAX_LENGTH_WEIGHT
    lengths = code_lengths(weights)
    distance_lengths = code_lengths({distance_symbol(d)[0]: 1 for d in (pixel, line)})
    codes, distance_codes = codes_of(lengths), codes_of(distance_lengths)

    def matches(distance: int) -> dict[int, Bits]:
        far, far_extra = distance_symbol(distance)
        found = {}
        for length in range(MIN_LENGTH, MAX_LENGTH + 1):
            symbol, extra = length_symbol(length)
            bits = codes[symbol].then(extra)
            found[length] = bits.then(distance_codes[far]).then(far_extra)
        return found

    return LineCodes(
        pixel=pixel,
        line=line,
        header=block_header(lengths, distance_lengths),
        byte=[codes[value] for value in range(END)],
        end=codes[END],
        above=matches(line),
        before=matches(pixel),
    )


class _Tables(NamedTuple):
    """The codes in the form in which the kernel takes them."""

    pixel: int
    line: int
    header: NDArray[np.uint8]
    header_width: int
    """How many bits of the header there are; the last byte may be half empty."""
    value: NDArray[np.uint64]
    """By what stands for the next bytes, and by byte or length."""
    width: NDArray[np.uint64]
    adler_weights: NDArray[np.uint32]


@functools.cache
def _tables(pixel: int, line: int) -> _Tables:
    codes = line_codes(pixel, line)
    tables = np.zeros((2, 3, MAX_LENGTH + 1), np.uint64)
    by_kind = {_BYTE: dict(enumerate([*codes.byte, codes.end]))}
    by_kind |= {_ABOVE: codes.above, _BEFORE: codes.before}
    for kind, bits_of in by_kind.items():
        for place, bits in bits_of.items():
            tables[:, kind, place] = bits.value, bits.width
    header = codes.header.value.to_bytes(codes.header.width // 8 + 1, "little")
    return _Tables(
        pixel=pixel,
        line=line,
        header=np.frombuffer(ZLIB_HEADER + header, np.uint8).copy(),
        header_width=8 * len(ZLIB_HEADER) + codes.header.width,
        value=tables[0],
        width=tables[1],
        adler_weights=_ADLER_WEIGHTS,
    )


def has_lines(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether `deflate_lines` takes such pictures: of bytes, with lines that are not too long."""
    small = len(shape) in (2, 3) and dtype == np.uint8 and 0 < np.prod(shape[1:]) <= MAX_DISTANCE
    return bool(small and shape[0] > 0 and _LITTLE_ENDIAN)


def deflate_lines(pictures: NDArray[np.uint8]) -> tuple[bytes, list[int]]:
    """Compress pictures one by one (`line_deflate_reference.deflate_picture`).

    Parameters
    ----------
    pictures
        ``(n, height, width)``, or with one axis more, for the bytes of a pixel.

    Returns
    -------
    packed
        The compressed pictures, end to end.
    lengths
        The size of each of them.
    """
    number = len(pictures)
    tables = _tables(int(np.prod(pictures.shape[3:])), int(np.prod(pictures.shape[2:])))
    rows = np.ascontiguousarray(pictures).reshape(number, -1)
    # A byte takes at most 2; the end, a checksum and what is stored too much, 16.
    packed = np.empty(number * (2 * rows.shape[1] + len(tables.header) + 16) + 8, np.uint8)
    lengths = np.zeros(number, np.int64)
    _deflate_rows(rows, tables, packed, lengths)
    return packed[: lengths.sum()].tobytes(), lengths.tolist()


@kernel
def _deflate_rows(
    rows: NDArray[np.uint8],
    tables: _Tables,
    packed: NDArray[np.uint8],
    lengths: NDArray[np.int64],
) -> None:
    """Compress rows one after another."""
    goal = 0
    for r in range(len(rows)):
        start = goal
        goal = _deflate_row(rows[r], tables, packed, start)
        checksum = _adler(rows[r], tables.adler_weights)
        for i in range(4):
            packed[goal + i] = checksum >> (24 - 8 * i) & 255
        goal += 4
        lengths[r] = goal - start


@kernel
def _deflate_row(
    row: NDArray[np.uint8], tables: _Tables, packed: NDArray[np.uint8], goal: int
) -> int:
    """Compress a row to ``packed``, from ``goal`` on; return where it ends.

    Bits that do not make a byte yet are kept in ``waiting``, which is written as a whole, and over
    again from the byte on that is not complete.
    """
    line, pixel, size = tables.line, tables.pixel, len(row)
    whole = tables.header_width >> 3
    for i in range(whole):
        packed[goal + i] = tables.header[i]
    goal += whole
    waiting, bits = np.uint64(tables.header[whole]), np.uint64(tables.header_width & 7)
    place = 0
    while place <= size:
        most = min(size - place, MAX_LENGTH)
        above = _common(row, place, line, most) if place >= line else 0
        before = _common(row, place, pixel, most) if place >= pixel and above < most else 0
        kind, code, step = _BYTE, END, 1
        if max(above, before) >= MIN_LENGTH:
            step = max(above, before)
            kind, code = _ABOVE if above >= before else _BEFORE, step
        elif place < size:
            code = int(row[place])
        waiting |= tables.value[kind, code] << bits
        bits += tables.width[kind, code]
        store_8_bytes(packed, goal, waiting)
        goal += int(bits >> np.uint64(3))
        waiting >>= bits & ~np.uint64(7)
        bits &= np.uint64(7)
        place += step
    return goal + int(bits > 0)


@kernel
def _common(row: NDArray[np.uint8], place: int, distance: int, most: int) -> int:
    """How many bytes, at most, are the same as those at this distance before."""
    length = 0
    while length + 8 <= most:
        here = load_8_bytes(row, place + length)
        other = here ^ load_8_bytes(row, place + length - distance)
        if other:
            return length + ((highest_bit(other & (~other + np.uint64(1))) - 1) >> 3)
        length += 8
    while length < most and row[place + length] == row[place + length - distance]:
        length += 1
    return length


@kernel
def _adler(row: NDArray[np.uint8], weights: NDArray[np.uint32]) -> int:
    """The checksum of zlib (`zlib.adler32`)."""
    low, high = 1, 0
    for start in range(0, len(row), len(weights)):
        piece = row[start : start + len(weights)]
        weight = weights[len(weights) - len(piece) :]
        total, weighted = np.uint32(0), np.uint32(0)
        for i in range(len(piece)):
            # Of 32 bits each, so that many are added at once.
            value = np.uint32(piece[i])
            total = np.uint32(total + value)
            weighted = np.uint32(weighted + value * weight[i])
        high = (high + len(piece) * low + int(weighted)) % ADLER_BASE
        low = (low + int(total)) % ADLER_BASE
    return high << 16 | low
