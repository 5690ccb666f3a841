"""Samples by list, array, mask and column, as NumPy users name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.convert.merge_split import split
from synthprobe_data.shards.collection import OpenDataset
from synthprobe_data.shards.indexing import parse_rows, positions, rows_text

CONFIG = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3, trials=20)


@pytest.fixture(scope="module", params=["file", "folder"])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OpenDataset:
    folder = tmp_path_factory.mktemp("data")
    make_file("rde", folder / "rde.h5", train=11, test=4, config=CONFIG, cards=False)
    if request.param == "file":
        return open_dataset(folder / "rde.h5")
    split(folder / "rde.h5", folder / "rde", 5)
    return open_dataset(folder / "rde")


WAYS: dict[str, tuple[Any, list[int]]] = {
    "a list": ([1, 5], [1, 5]),
    "in any order, twice": ([5, 1, 5], [5, 1, 5]),
    "from the end": ([-1, 0], [10, 0]),
    "an array": (np.array([2, 3]), [2, 3]),
    "an array of bytes": (np.array([2, 3], np.uint8), [2, 3]),
    "a tuple": ((1, 2), [1, 2]),
    "a range": (range(3, 6), [3, 4, 5]),
    "a slice": (slice(-3, None), [8, 9, 10]),
    "a mask": (np.arange(11) % 5 == 0, [0, 5, 10]),
    "a mask as a list": ([True] + 10 * [False], [0]),
    "none": ([], []),
    "an empty mask": (np.zeros(11, bool), []),
}


@pytest.mark.parametrize(("index", "expected"), WAYS.values(), ids=WAYS.keys())
def test_several_samples_are_read_at_once(
    data: OpenDataset, index: Any, expected: list[int]
) -> None:
    train = data["train"]
    block = train[index]
    assert set(block) == set(train[0])
    for name, array in block.items():
        assert len(array) == len(expected)
        for row, position in zip(array, expected, strict=True):
            assert (row == train[position][name]).all()


def test_one_sample_is_named_by_any_whole_number(data: OpenDataset) -> None:
    train = data["train"]
    for index in (np.int64(10), np.uint8(10), np.int32(-1), -1, np.array(10)[()]):
        assert (train[index]["image"] == train[10]["image"]).all()
        assert train[index]["image"].ndim == 3


@pytest.mark.parametrize(
    "index",
    [
        11,
        -12,
        np.int64(11),
        [0, 11],
        [-12],
        np.ones(10, bool),
        1.5,
        [0.5],
        [[0, 1], [1, 2]],
        [[0], [1, 2]],
        True,
        None,
        np.bool_(True),
    ],
)
def test_what_names_no_sample_is_an_index_error(data: OpenDataset, index: Any) -> None:
    with pytest.raises(IndexError, match="train"):
        data["train"][index]


def test_a_column_has_the_values_of_all_samples(data: OpenDataset) -> None:
    train = data["train"]
    for name in ("image", "rank", "n_rectangles", "rectangles"):
        column = train[name]
        expected = np.stack([sample[name] for sample in train])
        assert column.dtype == expected.dtype
        assert (column == expected).all()
    assert train["index"].tolist() == list(range(11))
    depths = [train.difficulty(i).depth for i in range(11)]
    assert train["depth"].tolist() == depths  # which the file does not store
    assert train["depth"].tolist() == train["rectangle_rank"].max(axis=1).tolist()
    with pytest.raises(SynthprobeError, match="there is no column 'colour': take above, "):
        train["colour"]


def test_what_is_opened_says_what_it_is(data: OpenDataset) -> None:
    said = repr(data)
    for word in ("rde", data.path.name, "train 11", "test 4", "seed 0", data.content_digest[:16]):
        assert word in said
    said = repr(data["train"])
    for word in ("train", "rde", "11 samples", "image uint8 40x32x3", "n_rectangles uint8"):
        assert word in said
    assert "\n" not in said


def test_an_empty_split_is_empty_in_every_way(tmp_path: Path) -> None:
    make_file("rde", tmp_path / "a.h5", train=2, test=0, config=CONFIG, cards=False)
    with open_dataset(tmp_path / "a.h5") as data:
        assert len(data["train"][[]]["image"]) == 0
        assert data["train"].where("depth > 100").tolist() == []


def test_pixels_of_a_condition_are_read_in_pieces(
    data: OpenDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = data["train"].where("sum(rank) > 800")
    monkeypatch.setattr("synthprobe_data.shards.columns._BYTES_AT_ONCE", 3000)
    after = data["train"].where("sum(rank) > 800")
    sums = data["train"]["rank"].astype(int).sum(axis=(1, 2))
    assert before.tolist() == after.tolist() == np.flatnonzero(sums > 800).tolist()
    assert 0 < len(after) < 11


@given(st.data())
def test_positions_are_those_of_numpy(draw: st.DataObject) -> None:
    length = draw.draw(st.integers(0, 20))
    places = np.arange(length)
    numbers = st.lists(st.integers(-length, length - 1)) if length else st.just([])
    index = draw.draw(
        st.one_of(
            numbers,
            numbers.map(lambda found: np.array(found, np.int16)),
            st.slices(length),
            st.lists(st.booleans(), min_size=length, max_size=length).map(
                lambda found: np.array(found, bool)
            ),
        )
    )
    expected = places[index if len(np.atleast_1d(index)) else np.zeros(0, int)]
    assert positions(index, length, "x").tolist() == expected.tolist()


@given(st.sets(st.integers(0, 60)))
def test_rows_as_a_text_are_the_same_rows(rows: set[int]) -> None:
    text = rows_text(sorted(rows))
    if rows:
        assert [row for span in parse_rows(text) for row in span] == sorted(rows)
    assert rows_text(range(0, 100_000, 2)) == "0,...,99998 (50000 rows)"
    assert len(rows_text(range(0, 900, 2))) < 100
