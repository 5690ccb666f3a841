"""What deflate writes for a symbol, against the tables of RFC 1951 and against zlib's decoder."""

from __future__ import annotations

import zlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data.shards.deflate_tables import (
    END,
    SYMBOLS,
    Bits,
    block_header,
    code_lengths,
    codes_of,
    distance_symbol,
    length_symbol,
)


@pytest.mark.parametrize(
    ("length", "symbol", "extra"),
    # From the table in section 3.2.5.
    [
        (3, 257, (0, 0)),
        (10, 264, (0, 0)),
        (11, 265, (0, 1)),
        (18, 268, (1, 1)),
        (35, 273, (0, 3)),
        (114, 279, (15, 4)),
        (130, 280, (15, 4)),
        (131, 281, (0, 5)),
        (257, 284, (30, 5)),
        (258, 285, (0, 0)),
    ],
)
def test_lengths_have_the_symbols_of_the_rfc(
    length: int, symbol: int, extra: tuple[int, int]
) -> None:
    assert length_symbol(length) == (symbol, extra)


@pytest.mark.parametrize(
    ("distance", "symbol", "extra"),
    [
        (1, 0, (0, 0)),
        (4, 3, (0, 0)),
        (5, 4, (0, 1)),
        (6, 4, (1, 1)),
        (128, 13, (31, 5)),
        (384, 16, (127, 7)),
        (24577, 29, (0, 13)),
        (32768, 29, (8191, 13)),
    ],
)
def test_distances_have_the_symbols_of_the_rfc(
    distance: int, symbol: int, extra: tuple[int, int]
) -> None:
    assert distance_symbol(distance) == (symbol, extra)


def test_codes_are_those_of_the_example_of_the_rfc() -> None:
    """Section 3.2.2: the lengths 3, 3, 3, 3, 3, 2, 4, 4 for A to H."""
    codes = codes_of(dict(enumerate([3, 3, 3, 3, 3, 2, 4, 4])))
    written = ["010", "011", "100", "101", "110", "00", "1110", "1111"]
    assert [f"{b.value:0{b.width}b}"[::-1] for _, b in sorted(codes.items())] == written


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=40))
def test_lengths_make_a_full_code_as_short_as_the_merged_weights(weights: list[int]) -> None:
    lengths = code_lengths(dict(enumerate(weights)))
    assert sum(Fraction(1, 2**length) for length in lengths.values()) == 1
    left, cost = sorted(weights), 0  # the cost of a tree is the sum of its inner weights
    while len(left) > 1:
        merged = left[0] + left[1]
        cost += merged
        left = sorted([*left[2:], merged])
    assert sum(weights[symbol] * length for symbol, length in lengths.items()) == cost


@given(
    st.lists(st.integers(1, 60), min_size=SYMBOLS, max_size=SYMBOLS),
    st.dictionaries(st.integers(0, 29), st.integers(1, 9), min_size=1),
    st.binary(max_size=50),
)
def test_zlib_reads_a_block_with_any_codes(
    weights: list[int], distances: dict[int, int], data: bytes
) -> None:
    lengths = code_lengths(dict(enumerate(weights)))
    codes = codes_of(lengths)
    bits = block_header(lengths, code_lengths(distances))
    for symbol in [*data, END]:
        bits = bits.then(codes[symbol])
    stream = zlib.decompressobj(-15)
    assert stream.decompress(bits.value.to_bytes(-(-bits.width // 8), "little")) == data
    assert stream.eof


@pytest.mark.parametrize("most", [7, 15])
def test_no_code_is_longer_than_deflate_allows(most: int) -> None:
    lengths = code_lengths({symbol: 2**symbol for symbol in range(30)}, most)
    assert max(lengths.values()) <= most
    assert sum(Fraction(1, 2**length) for length in lengths.values()) == 1


def test_bits_follow_one_another_from_the_lowest_on() -> None:
    assert Bits(0b01, 2).then(Bits(0b11, 3)) == (0b01101, 5)
    assert Bits(0, 0).then(Bits(1, 1)) == (1, 1)
