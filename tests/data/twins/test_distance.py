"""The kernels of the information distance, against the reference and against SciPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import ndimage

from synthprobe_data.twins import reference
from synthprobe_data.twins.distance import keep_counted, mark_differences, spread_distances

SHAPES = arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=14)


@given(SHAPES, st.data())
def test_distances_are_those_of_the_reference_and_of_scipy(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    marked = data.draw(arrays.arrays(np.bool_, shape, fill=st.just(False)))
    marked.flat[data.draw(st.integers(0, marked.size - 1))] = True
    distance = np.where(marked, 0, 0xFFFF).astype(np.uint16)
    spread_distances(distance)
    assert (distance == reference.distance_to(marked)).all()
    assert (distance == ndimage.distance_transform_cdt(~marked, "chessboard")).all()


@given(SHAPES, st.data())
def test_pixels_that_differ_in_any_channel_are_marked(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    first = data.draw(arrays.arrays(np.uint8, (*shape, 3)))
    second = first.copy()
    for _ in range(data.draw(st.integers(0, 3))):
        second.flat[data.draw(st.integers(0, second.size - 1))] ^= 1
    distance = np.full(shape, 7, np.uint16)
    rows = shape[0], 3 * shape[1]
    found = mark_differences(first.reshape(rows), second.reshape(rows), distance)
    right = reference.differences(first, second)
    assert found == right.any()
    assert (distance == np.where(right, 0, 0xFFFF)).all()


@given(SHAPES, st.integers(0, 2), st.data())
def test_pixels_count_as_the_reference_says(
    shape: tuple[int, ...], k: int, data: st.DataObject
) -> None:
    label, rank = (
        data.draw(arrays.arrays(np.uint8, (2, *shape), elements=st.integers(0, 4))) for _ in "ab"
    )
    distance = data.draw(arrays.arrays(np.uint16, shape, elements=st.integers(0, 9)))
    found = distance.copy()
    farthest = keep_counted(k, label, rank, found)
    counted = reference.counts((label[0], label[1]), (rank[0], rank[1]), k)
    assert (found == np.where(counted, distance, 0)).all()
    assert farthest == found.max()
