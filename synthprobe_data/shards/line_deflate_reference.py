"""What `line_deflate` must write, byte by byte, slowly and plainly."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.shards.deflate_tables import MAX_LENGTH, MIN_LENGTH
from synthprobe_data.shards.line_deflate import ZLIB_HEADER, line_codes


def deflate_picture(picture: NDArray[np.uint8]) -> bytes:
    """Compress one picture: ``(height, width)``, or with one axis more for the bytes of a pixel.

    From left to right, the next bytes are either the longest stretch that stands just so in the
    line above, or one pixel before; the line above is taken if both are as long. Or they are one
    byte, if both are shorter than deflate can say.
    """
    data = picture.tobytes()
    codes = line_codes(int(np.prod(picture.shape[2:])), int(np.prod(picture.shape[1:])))
    bits, place = codes.header, 0
    while place < len(data):
        above = common(data, place, codes.line)
        before = common(data, place, codes.pixel)
        if max(above, before) < MIN_LENGTH:
            bits = bits.then(codes.byte[data[place]])
            place += 1
        else:
            bits = bits.then(codes.above[above] if above >= before else codes.before[before])
            place += max(above, before)
    bits = bits.then(codes.end)
    stream = bits.value.to_bytes(-(-bits.width // 8), "little")
    return ZLIB_HEADER + stream + zlib.adler32(data).to_bytes(4, "big")


def common(data: bytes, place: int, distance: int) -> int:
    """How many bytes from here on are the same as those at this distance before."""
    length = 0
    if place < distance:
        return length
    while (
        length < min(MAX_LENGTH, len(data) - place)
        and data[place + length] == data[place + length - distance]
    ):
        length += 1
    return length
