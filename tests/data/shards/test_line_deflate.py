"""Pictures compressed by their lines: any zlib decodes them, and the plain twin writes the same."""

from __future__ import annotations

import zlib
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from synthprobe_data.rde import RDE, RdeConfig
from synthprobe_data.shards.line_deflate import deflate_lines, has_lines, line_codes
from synthprobe_data.shards.line_deflate_reference import deflate_picture

shapes = st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 40)) | st.tuples(
    st.integers(1, 3), st.integers(1, 9), st.integers(1, 30), st.integers(1, 4)
)


@st.composite
def pictures(draw: st.DrawFn) -> NDArray[np.uint8]:
    """Noise of few or many values, of which some stretches are copied from above or before."""
    shape = draw(shapes)
    most = draw(st.sampled_from([0, 1, 2, 255]))
    block = draw(arrays(np.uint8, shape, elements=st.integers(0, most)))
    rows = block.reshape(shape[0], -1)
    line, pixel, size = int(np.prod(shape[2:])), int(np.prod(shape[3:])), rows.shape[1]
    for _ in range(draw(st.integers(0, 6))):
        row, distance = draw(st.integers(0, shape[0] - 1)), draw(st.sampled_from([line, pixel]))
        start, stop = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
        for place in range(max(start, distance), stop):
            rows[row, place] = rows[row, place - distance]
    return block


def pieces(packed: bytes, lengths: list[int]) -> list[bytes]:
    ends = accumulate(lengths)
    return [packed[end - length : end] for length, end in zip(lengths, ends, strict=True)]


def assert_right(block: NDArray[np.uint8]) -> None:
    packed, lengths = deflate_lines(block)
    assert sum(lengths) == len(packed)
    for picture, piece in zip(block, pieces(packed, lengths), strict=True):
        assert zlib.decompress(piece) == picture.tobytes()
        assert piece == deflate_picture(picture)


@given(pictures())
def test_zlib_decodes_pictures_and_the_plain_twin_writes_the_same(block: NDArray[np.uint8]) -> None:
    assert_right(block)


@pytest.mark.parametrize(
    "shape", [(2, 3, 300), (1, 2, 259, 2), (1, 1, 1), (1, 700, 1), (1, 70, 64)]
)
@pytest.mark.parametrize("value", [0, 7, 255])
def test_long_stretches_are_cut_where_deflate_ends(shape: tuple[int, ...], value: int) -> None:
    assert_right(np.full(shape, value, np.uint8))


@pytest.mark.parametrize("shape", [(2, 90, 97), (1, 40, 60, 3), (1, 2, 8192, 4)])
def test_noise_takes_no_more_room_than_there_is(shape: tuple[int, ...]) -> None:
    noise = np.random.default_rng(0)
    block = noise.integers(0, 256, shape, np.uint8)
    assert_right(block)
    rare = max(range(256), key=lambda value: line_codes(1, 97).byte[value].width)
    distinct = np.where(block % 2 == 0, rare, block)
    assert_right(distinct.astype(np.uint8))


@pytest.mark.parametrize("pixel", [1, 3, 4])
@pytest.mark.parametrize("line", [1, 3, 64, 384, 32_768])
def test_no_code_is_longer_than_its_room(pixel: int, line: int) -> None:
    codes = line_codes(pixel, line)
    assert max(bits.width for bits in [*codes.byte, codes.end]) <= 15
    for matches in (codes.above, codes.before):
        # 7 bits wait at most, and 64 are written at once; 16 bits a byte are made room for.
        assert all(bits.width <= min(57, 16 * length) for length, bits in matches.items())


def test_checksums_of_long_pictures_are_those_of_zlib() -> None:
    assert_right(np.full((1, 130, 64), 255, np.uint8))
    packed, _ = deflate_lines(np.full((1, 1000, 1000), 255, np.uint8))
    assert zlib.decompress(packed) == b"\xff" * 10**6


def test_pictures_of_rde_are_smaller_than_by_zlib() -> None:
    block = RDE.generate_block(RdeConfig(), 5, "train", 0, 8)
    names = ("image", "rank", "label")
    for name in names:
        assert_right(block[name])
    packed = sum(len(deflate_lines(block[name])[0]) for name in names)
    general = sum(len(zlib.compress(picture, 1)) for name in names for picture in block[name])
    assert packed < 0.9 * general


def test_parts_of_other_arrays_are_taken_too() -> None:
    block = np.arange(4 * 8 * 9).reshape(4, 8, 9).astype(np.uint8)
    assert deflate_lines(block[::2, :, ::3]) == deflate_lines(block[::2, :, ::3].copy())


@pytest.mark.parametrize(
    ("shape", "dtype", "fits"),
    [
        ((8, 9), np.uint8, True),
        ((8, 9, 3), np.uint8, True),
        ((2, 32_768), np.uint8, True),
        ((2, 32_769), np.uint8, False),
        ((8,), np.uint8, False),
        ((8, 9, 3, 2), np.uint8, False),
        ((8, 9), np.uint16, False),
        ((8, 0), np.uint8, False),
        ((0, 8), np.uint8, False),
    ],
)
def test_only_lines_of_bytes_that_deflate_can_look_back_over(
    shape: tuple[int, ...], dtype: Any, fits: bool
) -> None:
    assert has_lines(shape, np.dtype(dtype)) == fits
