"""Rows read in blocks, of columns whose chunks reach over several of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import ColorCodeConfig, make_file, open_dataset
from synthprobe_data.dataset import Block
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.layout import SMALL_ROWS_PER_CHUNK

CONFIG = ColorCodeConfig(positions=16, colors=3)
ROWS = 2 * SMALL_ROWS_PER_CHUNK + 300


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Block]:
    path = tmp_path_factory.mktemp("blocks") / "a.h5"
    make_file("color-code", path, train=ROWS, test=0, config=CONFIG)
    with open_dataset(path, trusted=True) as data:
        return path, data["train"].read(range(ROWS))


blocks = st.tuples(st.integers(0, ROWS - 1), st.integers(1, 1200), st.integers(1, 5))


@given(st.lists(blocks, min_size=1, max_size=5))
def test_blocks_in_any_order_have_the_rows_of_the_file(
    made: tuple[Path, Block], asked: list[tuple[int, int, int]]
) -> None:
    path, whole = made
    with BlockReader(path, trusted=True) as reader:
        small = [c.name for c in reader.header.columns if not c.chunked_by_row]
        assert small
        for start, count, step in asked:
            rows = list(range(start, min(start + count, ROWS), step))
            found = reader.read_block(rows, small)
            for name in small:
                assert np.array_equal(found[name], whole[name][rows]), name
