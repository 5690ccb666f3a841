"""What deflate (RFC 1951) writes: Huffman codes, lengths, distances, and the header of a block."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from typing import Final, NamedTuple

END: Final = 256
"""The symbol that ends a block; those below are the bytes themselves."""
MIN_LENGTH: Final = 3
MAX_LENGTH: Final = 258
MAX_DISTANCE: Final = 32_768

_FIRST_LENGTH: Final = 257
_LENGTH_EXTRA: Final = [max(0, i // 4 - 1) for i in range(28)]
_LENGTHS: Final = list(accumulate((2**extra for extra in _LENGTH_EXTRA), initial=MIN_LENGTH))[:-1]
_DISTANCE_EXTRA: Final = [max(0, i // 2 - 1) for i in range(30)]
_DISTANCES: Final = list(accumulate((2**extra for extra in _DISTANCE_EXTRA), initial=1))[:-1]
SYMBOLS: Final = _FIRST_LENGTH + len(_LENGTHS) + 1
"""Bytes, the end, and lengths; the last symbol is the greatest length alone."""

_REPEAT: Final = 16
"""In a header: the length of the code before, 3 to 6 times more."""
_HEADER_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)


class Bits(NamedTuple):
    """Some bits of a stream, of which the first is the lowest of the value."""

    value: int
    width: int

    def then(self, more: Bits) -> Bits:
        """These, and more after them."""
        return Bits(self.value | more.value << self.width, self.width + more.width)


NO_BITS: Final = Bits(0, 0)


def code_lengths(weights: Mapping[int, int], most: int = 15) -> dict[int, int]:
    """How many bits Huffman gives each symbol, when symbols are as frequent as the weights.

    Where that is more than deflate allows, the weights are made more alike.
    """
    lengths = dict.fromkeys(weights, 0)
    heap: list[tuple[int, tuple[int, ...]]] = [
        (weight, (symbol,)) for symbol, weight in weights.items()
    ]
    if len(heap) == 1:
        return dict.fromkeys(weights, 1)
    heapq.heapify(heap)
    while len(heap) > 1:
        (weight, symbols), (more_weight, more) = heapq.heappop(heap), heapq.heappop(heap)
        for symbol in symbols + more:
            lengths[symbol] += 1
        heapq.heappush(heap, (weight + more_weight, symbols + more))
    if max(lengths.values()) > most:
        return code_lengths({symbol: weight // 2 + 1 for symbol, weight in weights.items()}, most)
    return lengths


def codes_of(lengths: Mapping[int, int]) -> dict[int, Bits]:
    """The codes with these lengths: in the order of lengths, then of symbols."""
    codes: dict[int, Bits] = {}
    code = before = 0
    for length, symbol in sorted((length, symbol) for symbol, length in lengths.items()):
        code <<= length - before
        # A code stands in the stream from its highest bit on.
        codes[symbol] = Bits(int(f"{code:0{length}b}"[::-1], 2), length)
        code, before = code + 1, length
    return codes


def length_symbol(length: int) -> tuple[int, Bits]:
    """The symbol of a length, and the bits that say which of its lengths."""
    if length == MAX_LENGTH:
        return SYMBOLS - 1, NO_BITS
    place = bisect_right(_LENGTHS, length) - 1
    return _FIRST_LENGTH + place, Bits(length - _LENGTHS[place], _LENGTH_EXTRA[place])


def distance_symbol(distance: int) -> tuple[int, Bits]:
    """The symbol of a distance, and the bits that say which of its distances."""
    place = bisect_right(_DISTANCES, distance) - 1
    return place, Bits(distance - _DISTANCES[place], _DISTANCE_EXTRA[place])


def block_header(lengths: Mapping[int, int], distance_lengths: Mapping[int, int]) -> Bits:
    """The header of a last block that has its own codes: the lengths of all of them.

    ``lengths`` has every symbol from 0 to `SYMBOLS`.
    """
    distances = max(distance_lengths) + 1
    told = [lengths[symbol] for symbol in range(SYMBOLS)]
    told += [distance_lengths.get(symbol, 0) for symbol in range(distances)]
    words = _words(told)
    word_lengths = code_lengths(Counter(word for word, _ in words), most=7)
    codes = codes_of(word_lengths)
    named = max(place for place, word in enumerate(_HEADER_ORDER) if word in codes) + 1
    bits = Bits(1, 1).then(Bits(2, 2))
    for count, least, width in ((SYMBOLS, 257, 5), (distances, 1, 5), (named, 4, 4)):
        bits = bits.then(Bits(count - least, width))
    for word in _HEADER_ORDER[:named]:
        bits = bits.then(Bits(word_lengths.get(word, 0), 3))
    for word, extra in words:
        bits = bits.then(codes[word]).then(extra)
    return bits


def _words(lengths: Sequence[int]) -> list[tuple[int, Bits]]:
    """The lengths as a header has them: what is repeated is said once."""
    words: list[tuple[int, Bits]] = []
    for length, group in groupby(lengths):
        words.append((length, NO_BITS))
        left = len(list(group)) - 1
        while left >= MIN_LENGTH:
            times = min(left, 6)
            words.append((_REPEAT, Bits(times - 3, 2)))
            left -= times
        words += [(length, NO_BITS)] * left
    return words
