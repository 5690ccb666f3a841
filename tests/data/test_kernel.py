"""The two machine instructions against Python's own whole numbers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from synthprobe_data.kernel import highest_bit, load_8_bytes, multiply_high, store_8_bytes

words = st.integers(0, 2**64 - 1)


@njit
def upper_half(a: Any, b: Any) -> Any:
    return multiply_high(a, b)


@njit
def copy_8_bytes(array: Any, place: int, goal: Any, goal_place: int) -> Any:
    word = load_8_bytes(array, place)
    store_8_bytes(goal, goal_place, word)
    return word


@given(st.binary(min_size=24, max_size=24), st.integers(0, 16), st.integers(0, 16))
def test_8_bytes_are_loaded_and_stored_at_any_place(data: bytes, place: int, to: int) -> None:
    goal = np.zeros(24, np.uint8)
    word = copy_8_bytes(np.frombuffer(data, np.uint8), place, goal, to)
    assert int(word).to_bytes(8, sys.byteorder) == data[place : place + 8]
    assert goal.tobytes() == bytes(to) + data[place : place + 8] + bytes(16 - to)


@given(words, words)
@example(0, 0)
@example(2**64 - 1, 2**64 - 1)
@example(2**32, 2**32)
@example(2**63, 2)
def test_multiply_high_is_the_upper_half_of_the_product(a: int, b: int) -> None:
    assert int(upper_half(np.uint64(a), np.uint64(b))) == a * b >> 64


@given(words)
def test_highest_bit_is_the_bit_length(mask: int) -> None:
    assert highest_bit(np.uint64(mask)) == mask.bit_length()


@pytest.mark.parametrize("place", range(64))
def test_highest_bit_at_every_place(place: int) -> None:
    for mask in (2**place - 1, 2**place, 2**place + 1, 2 ** (place + 1) - 1):
        assert highest_bit(np.uint64(mask)) == mask.bit_length()
