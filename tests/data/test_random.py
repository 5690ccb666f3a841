"""The random stream against NumPy's Philox and plain whole-number arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.random import (
    _USED,
    _WORDS,
    MAX_SEED,
    STREAM_LENGTH,
    check_seed,
    domain,
    draw_32,
    draw_below,
    open_stream,
    philox,
    shuffle,
    stream_key,
)
from synthprobe_data.strategies import seeds, splits

indices = st.sampled_from([0, 1]) | st.integers(0, 2**62)
DATASETS = ("rde", "centered-square", "color-code")


def opened(seed: int, split: str, index: int, dataset: str = "rde") -> np.ndarray:
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, dataset, split), index)
    return stream


def numpy_words(seed: int, domain: int, index: int) -> Iterator[int]:
    """The 64-bit words of NumPy's Philox from the counter (0, 0, index, 0) on."""
    counter = ((index << 128) - 1) % 2**256  # NumPy counts up before each block
    generator = np.random.Philox(key=seed | domain << 64, counter=counter)
    while True:
        yield int(generator.random_raw())


def halves(words: Iterator[int]) -> Iterator[int]:
    for word in words:
        yield word & 0xFFFFFFFF
        yield word >> 32


def plain_below(draws: Iterator[int], n: int) -> int:
    """Lemire's method, every draw checked."""
    surplus = 2**32 % n
    while True:
        upper, lower = divmod(next(draws) * n, 2**32)
        if lower >= surplus:
            return upper


def plain_draws(seed: int, split: str, index: int) -> Iterator[int]:
    return halves(numpy_words(seed, domain("rde", split), index))


# ----------------------------------------------------------------------------------------- raw bits


@given(st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))
@example([0] * 6)
@example([2**64 - 1] * 6)
def test_philox_equals_numpys_at_any_counter_and_key(values: list[int]) -> None:
    *counter, k0, k1 = values
    whole = sum(c << 64 * i for i, c in enumerate(counter))
    expected = np.random.Philox(key=k0 | k1 << 64, counter=(whole - 1) % 2**256).random_raw(4)
    assert [int(w) for w in philox(*map(np.uint64, values))] == expected.tolist()


@given(seeds(), splits(), indices)
def test_stream_is_numpys_philox_low_half_first(seed: int, split: str, index: int) -> None:
    stream = opened(seed, split, index)
    expected = list(itertools.islice(plain_draws(seed, split, index), 40))
    assert [int(draw_32(stream)) for _ in range(40)] == expected


def test_opening_a_stream_again_starts_it_anew() -> None:
    stream = opened(5, "train", 7)
    first = [int(draw_32(stream)) for _ in range(13)]
    open_stream(stream, stream_key(5, "rde", "train"), 7)
    assert [int(draw_32(stream)) for _ in range(13)] == first


@given(seeds(), splits(), indices)
def test_neighbouring_streams_differ_in_every_word(seed: int, split: str, index: int) -> None:
    def words(*place: object) -> np.ndarray:
        stream = opened(*place)  # type: ignore[arg-type]
        return np.array([int(draw_32(stream)) for _ in range(16)]).reshape(-1, 2)

    own = words(seed, split, index)
    for other in (
        words((seed + 1) % 2**64, split, index),
        words(seed, "test" if split == "train" else "train", index),
        words(seed, split, index + 1),
        words(seed, split, index, "color-code"),
        words(seed ^ 2**63, split, index),
    ):
        assert (own != other).any(axis=1).all()


def test_blocks_of_a_stream_are_not_those_of_the_next_index() -> None:
    streams = [opened(0, "train", index) for index in range(50)]
    words = [[int(draw_32(stream)) for _ in range(64)] for stream in streams]
    assert len(np.unique(words)) > 0.999 * np.size(words)


def test_domains_differ_for_every_dataset_and_split() -> None:
    domains = {domain(d, s) for d in DATASETS for s in ("train", "test", "validation")}
    assert len(domains) == 9
    assert all(0 <= d < 2**64 for d in domains)


# ----------------------------------------------------------------------------------- whole numbers

bounds = st.sampled_from([1, 2, 3, 129, 2**31, 2**31 + 1, 2**32 - 1, 2**32]) | st.integers(1, 2**32)


@given(seeds(), splits(), indices, st.lists(bounds, min_size=1, max_size=30))
def test_draw_below_equals_plain_arithmetic(
    seed: int, split: str, index: int, limits: list[int]
) -> None:
    stream, draws = opened(seed, split, index), plain_draws(seed, split, index)
    for n in limits:
        found = int(draw_below(stream, n))
        assert 0 <= found < n
        assert found == plain_below(draws, n)
    assert int(draw_32(stream)) == next(draws)  # no draw more, none less


def fed(first: int, second: int) -> np.ndarray:
    """A stream whose next two draws are these."""
    stream = opened(0, "train", 0)
    stream[_WORDS] = first | second << 32
    stream[_USED] = 0
    return stream


@given(bounds, st.data())
def test_draw_below_gives_every_number_equally_many_words(n: int, data: st.DataObject) -> None:
    value = data.draw(st.sampled_from([0, n - 1]) | st.integers(0, n - 1))
    lowest = -(-value * 2**32 // n)
    end = -(-(value + 1) * 2**32 // n)
    first = -(-(value * 2**32 + 2**32 % n) // n)  # what lies below is drawn again
    assert end - first == 2**32 // n
    for word in {first, (first + end) // 2, end - 1}:
        stream = fed(word, 0)
        assert draw_below(stream, n) == value
        assert stream[_USED] == 1
    for word in range(lowest, first):
        stream = fed(word, end - 1)
        assert draw_below(stream, n) == value
        assert stream[_USED] == 2


@pytest.mark.parametrize("n", [2, 7, 129])
def test_draw_below_is_even(n: int) -> None:
    stream = opened(11, "train", 3)
    counts = np.bincount([draw_below(stream, n) for _ in range(200 * n)], minlength=n)
    assert 1e-3 < stats.chisquare(counts).pvalue < 1 - 1e-3


@given(seeds(), indices, st.integers(0, 63))
def test_shuffle_equals_plain_fisher_yates(seed: int, index: int, n: int) -> None:
    values = np.arange(n, dtype=np.uint8)
    shuffle(opened(seed, "train", index), values)
    expected, draws = list(range(n)), plain_draws(seed, "train", index)
    for i in reversed(range(1, n)):
        j = plain_below(draws, i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    assert values.tolist() == expected
    assert sorted(expected) == list(range(n))


def test_shuffle_gives_every_order_alike() -> None:
    orders = list(itertools.permutations(range(4)))
    stream, counts = opened(12, "test", 0), dict.fromkeys(orders, 0)
    for _ in range(200 * len(orders)):
        values = np.arange(4, dtype=np.uint8)
        shuffle(stream, values)
        counts[tuple(values.tolist())] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


# -------------------------------------------------------------------------------------------- seeds


@pytest.mark.parametrize("seed", [0, 1, 2**63, MAX_SEED])
def test_every_seed_of_64_bits_is_valid(seed: int) -> None:
    assert check_seed(seed) == seed
    assert int(stream_key(seed, "rde", "train")[0]) == seed


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.5, 0.0, "x", None, float("nan")])
def test_anything_else_is_refused_by_name_and_value(seed: object) -> None:
    with pytest.raises(SynthprobeError) as error:
        stream_key(seed, "rde", "train")  # type: ignore[arg-type]
    assert "seed" in str(error.value)
    assert repr(seed) in str(error.value)
    assert "0 to 2**64 - 1" in str(error.value)
