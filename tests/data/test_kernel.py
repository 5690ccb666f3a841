"""The two machine instructions against Python's own whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from synthprobe_data.kernel import highest_bit, multiply_high

words = st.integers(0, 2**64 - 1)


@njit
def upper_half(a: Any, b: Any) -> Any:
    return multiply_high(a, b)


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
