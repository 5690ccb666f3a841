"""What a worker hands to the writer."""

from __future__ import annotations

import importlib
import sys
import zlib
from itertools import accumulate

import pytest

from synthprobe_data.rde import RDE, RdeConfig
from synthprobe_data.shards import pack
from synthprobe_data.shards.layout import columns_of

SMALL = RdeConfig(height=40, width=40, n_rectangles=3)
TASK = pack.Task(split="train", start=3, count=5, row=0)


def unpacked_rows_are_the_block() -> bool:
    columns = columns_of(RDE, SMALL)
    packed = pack.pack_block(RDE, SMALL, columns, 9, TASK)
    block = RDE.generate_block(SMALL, 9, "train", 3, 5)
    assert set(packed.chunks) == {"image", "label", "rank"}
    assert set(packed.chunks) | set(packed.small) == set(block)
    return all(
        zlib.decompress(chunks[end - length : end]) == block[name][i].tobytes()
        for name, (chunks, lengths) in packed.chunks.items()
        for i, (length, end) in enumerate(zip(lengths, accumulate(lengths), strict=True))
    ) and all((packed.small[name] == block[name]).all() for name in packed.small)


def test_the_packed_rows_unpack_to_the_block() -> None:
    assert unpacked_rows_are_the_block()


def test_the_standard_library_serves_where_isal_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    importlib.reload(pack)
    try:
        assert pack._compress is zlib.compress
        assert unpacked_rows_are_the_block()
    finally:
        monkeypatch.undo()
        importlib.reload(pack)
