"""The random stream of a sample: counter-based, and ours down to the last bit.

A stream is Philox4x64-10 with the key (seed, domain) and the counter (block, 0, index, 0). The
domain names the version of the streams, the dataset and the split, so that no two samples of any
seed, split or index share a stream, and no sample depends on how many others there are. NumPy's
``Philox`` gives the same raw bits, which the tests use; the mapping to integers is ours, because
NumPy keeps only the raw bits of its generators stable.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.kernel import kernel, multiply_high

STREAM_VERSION: Final = 1
"""Part of the domain: another version would make every sample a different one."""
MAX_SEED: Final = 2**64 - 1

# Where things stand in the array that holds a stream.
_SEED, _DOMAIN, _BLOCK, _INDEX, _USED, _WORDS = range(6)
_WORDS_IN_BLOCK: Final = np.uint64(4)
STREAM_LENGTH: Final = 10

_LOW: Final = np.uint64(0xFFFFFFFF)
_QUARTER: Final = np.uint64(0xFFFF)
_QUARTER_RANGE: Final = np.uint64(0x10000)
_16: Final = np.uint64(16)
_32: Final = np.uint64(32)
_48: Final = np.uint64(48)
_MULTIPLIER_0: Final = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1: Final = np.uint64(0xCA5A826395121157)
_WEYL_0: Final = np.uint64(0x9E3779B97F4A7C15)
_WEYL_1: Final = np.uint64(0xBB67AE8584CAA73B)
_ZERO: Final = np.uint64(0)
_ONE: Final = np.uint64(1)


def check_seed(seed: int) -> int:
    """Return the seed, or raise `SynthprobeError` if it is not one."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise SynthprobeError(f"seed is {seed!r}: it must be a whole number from 0 to 2**64 - 1.")
    return seed


def domain(dataset: str, split: str) -> int:
    """The half of the key that tells datasets and splits apart."""
    name = f"synthprobe/{STREAM_VERSION}/{dataset}/{split}".encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "little")


def stream_key(seed: int, dataset: str, split: str) -> NDArray[np.uint64]:
    """The Philox key of a split: the seed and the domain."""
    return np.array([check_seed(seed), domain(dataset, split)], dtype=np.uint64)


@kernel
def open_stream(stream: NDArray[np.uint64], key: NDArray[np.uint64], index: int) -> None:
    """Set the stream to the start of the sample with this index."""
    stream[_SEED] = key[0]
    stream[_DOMAIN] = key[1]
    stream[_BLOCK] = _ZERO
    stream[_INDEX] = np.uint64(index)
    stream[_USED] = _WORDS_IN_BLOCK


@kernel
def philox(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Ten rounds of Philox4x64; equals ``numpy.random.Philox`` at the same counter and key."""
    for _ in range(10):
        high_0 = multiply_high(_MULTIPLIER_0, c0)
        high_1 = multiply_high(_MULTIPLIER_1, c2)
        low_0 = _MULTIPLIER_0 * c0
        low_1 = _MULTIPLIER_1 * c2
        c0, c1, c2, c3 = high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0
        k0 += _WEYL_0
        k1 += _WEYL_1
    return c0, c1, c2, c3


@kernel
def draw_64(stream: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits."""
    if stream[_USED] == _WORDS_IN_BLOCK:
        block = stream[_BLOCK]
        words = philox(block, _ZERO, stream[_INDEX], _ZERO, stream[_SEED], stream[_DOMAIN])
        for i in range(4):
            stream[_WORDS + i] = words[i]
        stream[_BLOCK] = block + _ONE
        stream[_USED] = _ZERO
    used = stream[_USED]
    stream[_USED] = used + _ONE
    return stream[np.uint64(_WORDS) + used]


@kernel
def draw_below(stream: NDArray[np.uint64], n: int) -> int:
    """A whole number, exactly uniform over ``0..n - 1``, for n up to 2**32.

    The upper half of the product of n and the lower 32 bits of a word. The few words that would
    favour some numbers, by their lower half, are passed over.
    """
    bound = np.uint64(n)
    surplus = (_LOW + _ONE) % bound
    while True:
        product = (draw_64(stream) & _LOW) * bound
        if product & _LOW >= surplus:
            return int(product >> _32)


@kernel
def draw_two_pairs(stream: NDArray[np.uint64], n: int, m: int) -> tuple[int, int, int, int]:
    """Two whole numbers below n and two below m, exactly uniform, from one word; n, m up to 2**16.

    As `draw_below`, with the four quarters of a word, from the lowest on; if one of them would
    favour some numbers, the word is passed over.
    """
    bound_n, bound_m = np.uint64(n), np.uint64(m)
    surplus_n, surplus_m = _QUARTER_RANGE % bound_n, _QUARTER_RANGE % bound_m
    while True:
        word = draw_64(stream)
        a = (word & _QUARTER) * bound_n
        b = (word >> _16 & _QUARTER) * bound_n
        c = (word >> _32 & _QUARTER) * bound_m
        d = (word >> _48) * bound_m
        fair_n = (a & _QUARTER >= surplus_n) & (b & _QUARTER >= surplus_n)
        fair_m = (c & _QUARTER >= surplus_m) & (d & _QUARTER >= surplus_m)
        if fair_n & fair_m:
            return int(a >> _16), int(b >> _16), int(c >> _16), int(d >> _16)


@kernel
def shuffle(stream: NDArray[np.uint64], values: NDArray[np.uint8]) -> None:
    """Put the values into a uniformly random order, in place (Fisher and Yates, from the end)."""
    for i in range(len(values) - 1, 0, -1):
        j = draw_below(stream, i + 1)
        values[i], values[j] = values[j], values[i]
