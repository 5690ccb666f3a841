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
    draw_64,
    draw_below,
    draw_two_pairs,
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


def plain_words(seed: int, split: str, index: int) -> Iterator[int]:
    return numpy_words(seed, domain("rde", split), index)


def plain_below(words: Iterator[int], n: int) -> int:
    """Lemire's method with the lower half of each word."""
    while True:
        upper, lower = divmod(next(words) % 2**32 * n, 2**32)
        if lower >= 2**32 % n:
            return upper


def plain_two_pairs(words: Iterator[int], n: int, m: int) -> tuple[int, ...]:
    """Lemire's method with the four quarters of each word."""
    while True:
        word = next(words)
        products = [
            divmod((word >> 16 * i) % 2**16 * bound, 2**16) for i, bound in enumerate((n, n, m, m))
        ]
        surplus = (2**16 % n, 2**16 % n, 2**16 % m, 2**16 % m)
        if all(lower >= least for (_, lower), least in zip(products, surplus, strict=True)):
            return tuple(upper for upper, _ in products)


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
def test_a_stream_is_numpys_philox_from_the_index_on(seed: int, split: str, index: int) -> None:
    stream = opened(seed, split, index)
    expected = list(itertools.islice(plain_words(seed, split, index), 40))
    assert [int(draw_64(stream)) for _ in range(40)] == expected


def test_opening_a_stream_again_starts_it_anew() -> None:
    stream = opened(5, "train", 7)
    first = [int(draw_64(stream)) for _ in range(13)]
    open_stream(stream, stream_key(5, "rde", "train"), 7)
    assert [int(draw_64(stream)) for _ in range(13)] == first


@given(seeds(), splits(), indices)
def test_neighbouring_streams_differ_in_every_word(seed: int, split: str, index: int) -> None:
    def words(*place: object) -> np.ndarray:
        stream = opened(*place)  # type: ignore[arg-type]
        return np.array([draw_64(stream) for _ in range(12)], np.uint64)

    own = words(seed, split, index)
    for other in (
        words((seed + 1) % 2**64, split, index),
        words(seed, "test" if split == "train" else "train", index),
        words(seed, split, index + 1),
        words(seed, split, index, "color-code"),
        words(seed ^ 2**63, split, index),
    ):
        assert (own != other).all()


def test_blocks_of_a_stream_are_not_those_of_the_next_index() -> None:
    streams = [opened(0, "train", index) for index in range(50)]
    words = [[int(draw_64(stream)) for _ in range(64)] for stream in streams]
    assert len(np.unique(words)) == np.size(words)


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
    stream, words = opened(seed, split, index), plain_words(seed, split, index)
    for n in limits:
        found = int(draw_below(stream, n))
        assert 0 <= found < n
        assert found == plain_below(words, n)
    assert int(draw_64(stream)) == next(words)  # no word more, none less


quarter_bounds = st.sampled_from([1, 2, 3, 129, 2**15 + 1, 2**16 - 1, 2**16]) | st.integers(
    1, 2**16
)


@given(seeds(), splits(), indices, st.lists(st.tuples(quarter_bounds, quarter_bounds), max_size=20))
def test_draw_two_pairs_equals_plain_arithmetic(
    seed: int, split: str, index: int, limits: list[tuple[int, int]]
) -> None:
    stream, words = opened(seed, split, index), plain_words(seed, split, index)
    for n, m in limits:
        found = draw_two_pairs(stream, n, m)
        assert all(0 <= value < bound for value, bound in zip(found, (n, n, m, m), strict=True))
        assert found == plain_two_pairs(words, n, m)
    assert int(draw_64(stream)) == next(words)


def fed(*words: int) -> np.ndarray:
    """A stream whose next draws are these (at most four)."""
    stream = opened(0, "train", 0)
    stream[_WORDS : _WORDS + len(words)] = words
    stream[_USED] = 0
    return stream


def words_for(value: int, n: int, bits: int) -> tuple[int, int, int]:
    """The words of this many bits that the mapping to 0..n - 1 has for a value.

    From the first to the second (excluded) they are passed over, from there to the third taken.
    """
    start = -(-value * 2**bits // n)
    taken = -(-(value * 2**bits + 2**bits % n) // n)
    end = -(-(value + 1) * 2**bits // n)
    assert end - taken == 2**bits // n  # equally many for every value
    return start, taken, end


@given(bounds, st.data())
def test_draw_below_takes_equally_many_words_for_every_number(n: int, data: st.DataObject) -> None:
    value = data.draw(st.sampled_from([0, n - 1]) | st.integers(0, n - 1))
    start, taken, end = words_for(value, n, 32)
    above = data.draw(st.integers(0, 2**32 - 1)) << 32  # of no account
    for word in {taken, (taken + end) // 2, end - 1}:
        stream = fed(above | word)
        assert draw_below(stream, n) == value
        assert stream[_USED] == 1
    for word in range(start, taken):
        stream = fed(above | word, end - 1)
        assert draw_below(stream, n) == value
        assert stream[_USED] == 2


@given(quarter_bounds, quarter_bounds, st.data())
def test_draw_two_pairs_takes_equally_many_words_for_every_number(
    n: int, m: int, data: st.DataObject
) -> None:
    limits = (n, n, m, m)
    values = [data.draw(st.sampled_from([0, b - 1]) | st.integers(0, b - 1)) for b in limits]
    quarters = [words_for(v, b, 16) for v, b in zip(values, limits, strict=True)]
    ends = [data.draw(st.sampled_from([taken, end - 1])) for _, taken, end in quarters]
    good = sum(word << 16 * i for i, word in enumerate(ends))
    stream = fed(good)
    assert draw_two_pairs(stream, n, m) == tuple(values)
    assert stream[_USED] == 1
    for i, (start, taken, _) in enumerate(quarters):
        for passed_over in range(start, taken):
            bad = good + (passed_over - ends[i] << 16 * i)
            stream = fed(bad, good)
            assert draw_two_pairs(stream, n, m) == tuple(values)
            assert stream[_USED] == 2


@pytest.mark.parametrize(("n", "m"), [(5, 7), (129, 9)])
def test_draw_two_pairs_is_even_in_each_place(n: int, m: int) -> None:
    stream = opened(13, "train", 3)
    draws = np.array([draw_two_pairs(stream, n, m) for _ in range(100 * n)])
    for values, bound in zip(draws.T, (n, n, m, m), strict=True):
        assert stats.chisquare(np.bincount(values, minlength=bound)).pvalue > 1e-3
    assert abs(np.corrcoef(draws.T) - np.eye(4)).max() < 0.2


@pytest.mark.parametrize("n", [2, 7, 129])
def test_draw_below_is_even(n: int) -> None:
    stream = opened(11, "train", 3)
    counts = np.bincount([draw_below(stream, n) for _ in range(200 * n)], minlength=n)
    assert stats.chisquare(counts).pvalue > 1e-3


@given(seeds(), indices, st.integers(0, 63))
def test_shuffle_equals_plain_fisher_yates(seed: int, index: int, n: int) -> None:
    values = np.arange(n, dtype=np.uint8)
    shuffle(opened(seed, "train", index), values)
    expected, words = list(range(n)), plain_words(seed, "train", index)
    for i in reversed(range(1, n)):
        j = plain_below(words, i + 1)
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
