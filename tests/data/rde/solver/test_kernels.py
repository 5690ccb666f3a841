"""Each kernel of the solver against its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import strategies
from synthprobe_data.rde import reference as generator
from synthprobe_data.rde.solver import colors, deblur, order, reference, regions
from tests.data.rde.solver.pictures import painted, picture

BLURS = (0.0, 0.2, 0.5, 0.7, 0.8)


def label_maps(size: int = 20) -> st.SearchStrategy[np.ndarray]:
    """Label maps of painted rectangles, and of anything else."""
    sizes = st.tuples(st.integers(8, size), st.integers(8, size))
    scenes = sizes.flatmap(
        lambda s: strategies.rectangle_lists(height=s[0], width=s[1]).map(
            lambda rectangles: painted(rectangles, *s)
        )
    )
    blocks = st.integers(0, 2**32 - 1).map(
        lambda seed: (
            np.random.default_rng(seed).integers(0, 4, (4, 5)).astype(np.uint8).repeat(3, 0)
        )
    )
    return scenes | blocks.filter(lambda label: len(np.unique(label[label > 0])) == label.max() > 0)


@pytest.mark.parametrize("blur", [*BLURS, 0.125, 0.84, 1.3, 4.0])
def test_the_weights_of_the_blur_are_those_of_the_generator(blur: float) -> None:
    one_side = deblur.fixed_point_weights(blur)
    both_sides = [*one_side[:0:-1].tolist(), *one_side.tolist()]
    assert both_sides == generator.blur_weights(blur).tolist()


@settings(max_examples=40)
@given(label_maps(), st.sampled_from(BLURS))
def test_deblurring_is_the_dense_solution_and_within_its_bound(
    label: np.ndarray, blur: float
) -> None:
    image, inverse = picture(label, blur=blur), deblur.deblurring(blur)
    height, width = label.shape
    sharp = np.empty((height, 3 * width), np.float32)
    margin = np.empty(3 * (width + 2 * len(inverse.taps) - 2), np.float32)
    rows = image.reshape(height, 3 * width).astype(np.float32)
    deblur.deblur(rows, inverse.taps, margin, sharp)
    dense = reference.deblur(image, inverse.weights)
    assert abs(sharp.reshape(height, width, 3) - dense).max() < 0.3
    truth = picture(label, blur=0).reshape(height, 3 * width)
    assert abs(sharp - truth).max() <= inverse.error


def test_the_bound_of_the_error_is_nearly_reached_by_the_worst_picture() -> None:
    # A rounding of half a level, with the sign of the inverse's taps around one pixel.
    inverse = deblur.deblurring(0.7)
    taps = np.concatenate([inverse.taps[:0:-1], inverse.taps])
    worst = np.sign(np.outer(taps, taps)) / 2
    size = len(worst)
    image = np.repeat(worst[:, :, None], 3, axis=2)
    reached = reference.deblur(image, inverse.weights)[size // 2, size // 2, 0]
    assert 0.97 * inverse.error < abs(reached) <= inverse.error


@settings(max_examples=40)
@given(label_maps(), st.sampled_from(BLURS))
def test_rendering_is_the_twin_and_the_generators(label: np.ndarray, blur: float) -> None:
    n = int(label.max())
    palette = np.concatenate([np.zeros((1, 3), np.uint8), generator.palette(n)])
    weights = deblur.fixed_point_weights(blur)
    image = reference.render(label, palette, weights)
    assert image.tolist() == picture(label, blur=blur).tolist()
    height, width = label.shape
    for changed in (0, 3):
        spoiled = image.reshape(height, 3 * width).copy()
        spoiled.flat[:changed] ^= 1
        off = regions.levels_off(
            regions.find_cells(label),
            palette.astype(np.uint32),
            weights,
            spoiled,
            np.empty(3 * (width + 2 * len(weights) - 2), np.uint32),
            np.empty((height, 3 * width), np.uint32),
            np.empty(height, np.int64),
            np.empty(3 * width, np.uint32),
        )
        assert off == changed


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_hues_and_nearest_colours_are_those_of_the_twins(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    palette = np.concatenate([np.zeros((1, 3)), generator.palette(n)]).astype(np.float32)
    noise = rng.normal(0, rng.choice([0.0, 3.0, 60.0]), (9, 11, 3))
    image = (palette[rng.integers(0, n + 1, (9, 11))] + noise).astype(np.float32)
    rows = np.ascontiguousarray(image.reshape(9, 33))
    count = np.zeros(colors.CIRCLE, np.int64)
    colors.count_hues(rows, count)
    assert count.tolist() == reference.count_hues(image).tolist()
    nearest = np.empty((9, 11), np.uint8)
    apart = colors.separation(palette.astype(np.uint8))
    colors.find_nearest(rows, palette, apart / 2, nearest)
    twin = reference.find_nearest(image, palette)
    distance = [abs(image - palette[choice]).max(axis=2) for choice in (nearest, twin)]
    assert distance[0].tolist() == distance[1].tolist()  # of two as near, either may be taken


@given(st.sets(st.integers(0, 29), min_size=1, max_size=12), st.integers(0, colors.CIRCLE - 1))
def test_clusters_of_hues_are_found_wherever_the_circle_begins(found: set[int], turn: int) -> None:
    hues = {(50 * k + turn) % colors.CIRCLE for k in found}
    count = np.zeros(colors.CIRCLE, np.int64)
    for hue in hues:
        for step, times in ((-8, 3), (0, 9), (5, 8)):
            count[(hue + step) % colors.CIRCLE] = times
    assert set(colors.cluster_hues(count, 16.0).tolist()) == hues


def test_the_colour_of_each_hue_is_that_of_the_palette() -> None:
    found = colors.hue_colors(np.arange(colors.CIRCLE))
    assert found.tolist() == generator.palette(colors.CIRCLE).tolist()


@settings(max_examples=200)
@given(label_maps())
def test_cells_boxes_cues_and_ranks_are_those_of_the_twins(label: np.ndarray) -> None:
    cells = regions.find_cells(label)
    assert (cells.x.tolist(), cells.y.tolist()) == reference.find_lines(label)
    n = int(label.max())
    assert regions.number_regions(cells.shown, np.zeros(64, np.uint8), np.zeros(63, np.uint8)) == n
    label = reference.number_regions(label)
    expanded = regions.expand(cells, np.arange(n + 1, dtype=np.uint8))
    assert expanded.tolist() == label.tolist()

    boxes, above = np.zeros((n, 4), np.int64), np.zeros((n, n), np.uint8)
    order.find_boxes(cells, boxes)
    lines = cells.x, cells.y, cells.x, cells.y
    in_pixels = [tuple(int(lines[i][v]) for i, v in enumerate(box)) for box in boxes]
    assert in_pixels == reference.find_boxes(label)

    background, _ = order.find_convexity(cells, boxes, above)
    convexity = reference.find_convexity(label)
    if background == 0:
        assert (above != 0).tolist() == convexity.tolist()
        assert (not order.close(convexity.copy())) == reference.is_painted(label)
    else:
        assert not reference.is_painted(label)

    above[:] = 0
    found = np.zeros(((len(cells.x) - 2) * (len(cells.y) - 2), order.JUNCTION_FIELDS), np.int64)
    count = order.find_junctions(cells, above, found)
    junctions = reference.find_junctions(label)
    assert [tuple(row) for row in found[:count].tolist()] == junctions
    below = {(bar, k) for _, _, bar, a, b, *_ in junctions for k in (a, b) if k}
    assert {(int(i) + 1, int(j) + 1) for i, j in np.argwhere(above)} == below

    touching = np.zeros((n, n), np.bool_)
    order.find_touching(cells, touching)
    assert touching.tolist() == reference.find_touching(label).tolist()


@given(st.integers(1, 9), st.floats(0, 0.4), st.integers(0, 2**32 - 1))
def test_what_follows_and_the_ranks_are_those_of_networkx(
    n: int, density: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    relation = (rng.random((n, n)) < density) & ~np.eye(n, dtype=np.bool_)
    closed = relation.copy()
    cyclic = order.close(closed)
    assert closed.tolist() == reference.close(relation).tolist()
    assert cyclic == bool(np.diag(closed).any())
    shuffled = rng.permutation(n)
    acyclic = np.triu(relation)[np.ix_(shuffled, shuffled)]
    rank = np.zeros(n, np.uint8)
    order.find_ranks(acyclic, rank)
    assert rank.tolist() == reference.find_ranks(acyclic)
