"""Kernels that call kernels give what plain Python gives, and are compiled in one piece."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import types

from synthprobe_data.kernel_parts import Kernel


@Kernel  # as `kernel` does, but kept nowhere
def weighted(values: Any, weight: int) -> int:
    """The sum of some bytes, times a weight."""
    total = 0
    for value in values:
        total += weight * value
    return total


@Kernel
def doubled(value: int) -> int:
    return value + value


@Kernel
def halves(values: Any, count: Any) -> int:
    """Calls a part with literals, with a byte and with whole numbers."""
    first = weighted(values[:count], 1)
    second = weighted(values[count:], 2)
    return first + second + doubled(count) + doubled(first)


bytes_and_place = st.lists(st.integers(0, 255), max_size=20).flatmap(
    lambda values: st.tuples(st.just(values), st.integers(0, len(values)))
)


@given(bytes_and_place)
def test_a_kernel_of_parts_gives_what_plain_python_gives(drawn: tuple[list[int], int]) -> None:
    values, place = drawn
    first = sum(values[:place])
    right = first + 2 * sum(values[place:]) + 2 * place + 2 * first
    # The place is a byte, which must not wrap around in a part.
    assert halves(np.array(values, np.uint8), np.uint8(place)) == right


def test_a_byte_does_not_wrap_around_in_a_part() -> None:
    assert halves(np.zeros(200, np.uint8), np.uint8(200)) == 400


def test_a_part_is_translated_once_for_literals_and_narrow_numbers() -> None:
    halves(np.zeros(2, np.uint8), np.uint8(1))
    assert len(weighted.parts) == 1
    assert list(doubled.parts) == [(types.int64,)]


def test_a_part_is_no_machine_code_by_itself() -> None:
    halves(np.zeros(2, np.uint8), np.uint8(1))
    assert not weighted.overloads
    assert len(halves.overloads) == 1
    wholes: list[Any] = list(halves.overloads.values())
    names = [function.name for function in wholes[0].library.get_defined_functions()]
    assert not any("weighted" in name for name in names)


def test_a_part_can_be_called_from_python_too() -> None:
    assert weighted(np.array([1, 2], np.uint8), 3) == 9


class Kept:
    """A cache as `kernel_cache` has, in memory: what it has was pickled."""

    def __init__(self) -> None:
        self.kept: dict[Any, bytes] = {}

    def load_overload(self, key: Any, _target: Any) -> Any:
        return pickle.loads(self.kept[key]) if key in self.kept else None

    def save_overload(self, key: Any, part: Any) -> None:
        self.kept[key] = pickle.dumps(part.reduced())


def test_a_part_that_is_kept_need_not_be_translated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()

    def caller() -> Any:
        shared = Kernel(_five_times, kept_parts=kept)

        def whole(value: int) -> int:
            return shared(value) + 1

        return Kernel(whole), shared

    first, _ = caller()
    assert first(7) == 36
    assert list(kept.kept) == [(types.int64,)]
    second, shared = caller()
    monkeypatch.setattr(shared._part_compiler, "compile", None)  # it would fail if it were asked
    assert second(7) == 36


def _five_times(value: int) -> int:
    return doubled(doubled(value)) + value
