"""The compressed scene against the painted one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data.rde import reference
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.kernels.grid import (
    MAX_CELLS,
    Grid,
    compress,
    copy_with,
    empty_grid,
    empty_sides,
)
from synthprobe_data.strategies import rectangle_lists

sizes = st.integers(1, 40)


def sides_of(rectangles: np.ndarray) -> np.ndarray:
    sides = empty_sides()
    sides[:, : len(rectangles)] = rectangles.T
    return sides


def compressed(rectangles: np.ndarray, height: int, width: int) -> Grid:
    grid = empty_grid()
    grid.label.fill(255)  # what is not set must not be read
    grid.cover_x.fill(2**64 - 1)
    grid.cover_y.fill(2**64 - 1)
    compress(sides_of(rectangles), len(rectangles), width, height, grid)
    return grid


def painted(grid: Grid) -> np.ndarray:
    """Every cell as large as it is."""
    columns, rows = grid.size
    label = grid.label[:rows, :columns]
    return label.repeat(np.diff(grid.y[: rows + 1]), 0).repeat(np.diff(grid.x[: columns + 1]), 1)


def in_use(grid: Grid) -> dict[str, list]:
    columns, rows = grid.size
    return {
        "size": grid.size.tolist(),
        "x": grid.x[: columns + 1].tolist(),
        "y": grid.y[: rows + 1].tolist(),
        "cover_x": grid.cover_x[:columns].tolist(),
        "cover_y": grid.cover_y[:rows].tolist(),
        "label": grid.label[:rows, :columns].tolist(),
    }


def any_63(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """As many rectangles as there can be, on many different lines."""
    x = np.sort([rng.choice(width + 1, 2, replace=False) for _ in range(MAX_RECTANGLES)], axis=1)
    y = np.sort([rng.choice(height + 1, 2, replace=False) for _ in range(MAX_RECTANGLES)], axis=1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)


@given(st.data(), sizes, sizes, st.integers(0, 2))
def test_the_cells_are_the_label_map(
    data: st.DataObject, height: int, width: int, beyond: int
) -> None:
    scenes = rectangle_lists(height=height, width=width, min_rectangles=0, beyond=beyond)
    rectangles = data.draw(scenes)
    expected = reference.paint(rectangles, height, width)
    assert painted(compressed(rectangles, height, width)).tolist() == expected.tolist()


@given(st.data(), sizes, sizes)
def test_the_lines_are_the_sides_and_the_borders(
    data: st.DataObject, height: int, width: int
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, min_rectangles=0, beyond=1))
    grid = in_use(compressed(rectangles, height, width))
    for axis, name, size in ((0, "x", width), (1, "y", height)):
        clipped = np.clip(rectangles[:, axis::2], 0, size).ravel().tolist()
        assert grid[name] == sorted({0, size, *clipped})


@given(st.data(), sizes, sizes)
def test_the_masks_say_who_reaches_over_a_column_or_row(
    data: st.DataObject, height: int, width: int
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, beyond=1))
    grid = in_use(compressed(rectangles, height, width))
    for axis, lines, cover in ((0, grid["x"], grid["cover_x"]), (1, grid["y"], grid["cover_y"])):
        for line, mask in zip(lines, cover, strict=False):
            reach = [k for k, r in enumerate(rectangles) if r[axis] <= line < r[axis + 2]]
            assert mask == sum(1 << k for k in reach)


@given(st.data(), sizes, sizes)
def test_one_more_on_top_is_the_same_as_all_at_once(
    data: st.DataObject, height: int, width: int
) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, beyond=1))
    n = len(rectangles) - 1
    before, goal = compressed(rectangles[:n], height, width), empty_grid()
    unchanged = in_use(before)
    copy_with(before, sides_of(rectangles), n, goal)
    assert in_use(goal) == in_use(compressed(rectangles, height, width))
    assert in_use(before) == unchanged


def test_there_is_room_for_the_largest_scene() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        rectangles = any_63(rng, 200, 300)
        grid = compressed(rectangles, 200, 300)
        assert painted(grid).tolist() == reference.paint(rectangles, 200, 300).tolist()
    lines = np.arange(1, MAX_RECTANGLES + 1)
    staircase = np.stack([lines, lines, 200 - lines, 200 - lines], axis=1)
    grid = compressed(staircase, 200, 200)
    assert grid.size.tolist() == [MAX_CELLS, MAX_CELLS]
    assert painted(grid).max() == MAX_RECTANGLES
