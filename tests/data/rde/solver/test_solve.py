"""What the solver reads off pictures, against the generator and its reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import strategies
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.rde import RdeConfig, Reading, reference, solve
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.rde.solver import Junction, Overlap
from synthprobe_data.strategies import GeneratedSample
from tests.data.rde.drawing import boxes, drawn
from tests.data.rde.scenes import SCENES, Scene, each_scene
from tests.data.rde.solver.pictures import painted, picture

LARGE = 6  # the hand-drawn scenes, as many times larger


def scaled(scene: Scene) -> np.ndarray:
    height, width = (LARGE * size for size in scene.size)
    return reference.paint(LARGE * np.array(scene.rectangles), height, width)


def places(reading: Reading, label: np.ndarray) -> np.ndarray:
    """For each label from 1, the number of its region in the reading, from 0."""
    assert ((reading.label == 0) == (label == 0)).all()
    found = [np.unique(reading.label[label == k]) for k in range(1, int(label.max()) + 1)]
    assert [len(values) for values in found] == [1] * len(found)
    return np.concatenate(found).astype(int) - 1


@settings(max_examples=60)
@given(
    strategies.generated_samples(
        strategies.configs(mode="certified", blur=st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.75]))
    ),
    st.booleans(),
)
def test_a_certified_sample_is_read_exactly(drawn: GeneratedSample, given_palette: bool) -> None:
    config, sample = drawn.config, drawn.sample
    palette = reference.palette(config.palette_size)
    reading = solve(sample["image"], palette if given_palette else None, blur=config.blur)
    assert reading.rank.tolist() == sample["rank"].tolist()
    assert reading.unambiguous
    assert not reading.contradictory
    region = places(reading, sample["label"])
    assert sorted(region) == list(range(drawn.n))
    assert reading.color[region].tolist() == palette[sample["color"][: drawn.n]].tolist()
    assert reading.rectangle_rank[region].tolist() == sample["rectangle_rank"][: drawn.n].tolist()
    assert reading.has_regions_of(sample["label"])


@settings(max_examples=150)
@given(st.data(), st.sampled_from([0.0, 0.7]))
def test_any_painted_rectangles_are_read_as_their_label_map_says(
    data: st.DataObject, blur: float
) -> None:
    height, width = data.draw(st.integers(8, 24)), data.draw(st.integers(8, 24))
    scene = data.draw(strategies.rectangle_lists(height=height, width=width))
    label = painted(scene, height, width)
    n = int(label.max())
    reading = solve(picture(label, blur=blur), reference.palette(n), blur=blur)
    region = places(reading, label)
    above = reading.above[np.ix_(region, region)]
    by_t_junction = reference.above_by_t_junction_in_label_map(label, n)
    assert (above & 1 != 0).tolist() == by_t_junction.tolist()
    assert (above & 2 != 0).tolist() == reference.above_by_convexity(label, n).tolist()
    ranks = reference.ranks(reference.relation_of_label_map(label, n))
    assert reading.contradictory == (ranks is None)
    if ranks is not None:
        assert tuple(reading.rectangle_rank[region]) == ranks


@given(st.data())
def test_contradictory_pictures_keep_convexity_in_their_ranks(data: st.DataObject) -> None:
    scene = data.draw(strategies.rectangle_lists(height=12, width=12, min_rectangles=5))
    label = painted(scene, 12, 12)
    reading = solve(picture(label, blur=0), blur=0)
    for overlap in reading.overlaps:
        upper, lower = overlap.upper - 1, overlap.lower - 1
        assert reading.rectangle_rank[upper] > reading.rectangle_rank[lower]


@each_scene
def test_hand_drawn_scenes_are_read_right(scene: Scene) -> None:
    label = scaled(scene)
    reading = solve(picture(label))
    region = places(reading, label)
    expected = scene.ranks_in_label_map or scene.ranks
    assert tuple(reading.rectangle_rank[region]) == expected


def test_regions_count_in_reading_order_and_boxes_are_their_visible_extents() -> None:
    label = np.kron(
        np.array([[0, 3, 3, 0], [2, 3, 3, 0], [2, 2, 0, 1]], np.uint8), np.ones((6, 6), np.uint8)
    )
    reading = solve(picture(label))
    assert drawn(reading.label[::6, ::6]) == [".11.", "211.", "22.3"]
    assert reading.boxes.tolist() == [[6, 0, 18, 12], [0, 6, 12, 18], [18, 12, 24, 18]]


def test_the_evidence_of_a_corner_overlap() -> None:
    # 1 at [6, 36) x [6, 30), and 2 in front of it, at [24, 54) x [18, 42).
    label = scaled(SCENES["corner overlap"])
    reading = solve(picture(label))
    assert reading.overlaps == (Overlap(2, 1, (24, 18, 36, 30)),)
    assert reading.junctions == (
        Junction(18, 36, 2, (1, 0), (-1, 0), 12, (12, 18)),
        Junction(30, 24, 2, (1, 0), (0, -1), 18, (12, 12)),
    )
    graph = reading.relation()
    assert list(graph.edges) == [(1, 0)]
    assert graph.edges[1, 0] == {
        "t_junction": True,
        "convexity": True,
        "junctions": reading.junctions,
        "overlap": (24, 18, 36, 30),
    }


def test_a_pair_that_nothing_orders_is_not_unambiguous() -> None:
    undecided = "aligned tops and bottoms: nothing is known"
    assert not solve(picture(scaled(SCENES[undecided]))).unambiguous
    apart = "side by side without contact"
    assert solve(picture(scaled(SCENES[apart]))).unambiguous


@pytest.mark.parametrize(("height", "width"), [(8, 8), (8, 1024), (1024, 8)])
def test_the_least_and_the_greatest_sizes_are_read(height: int, width: int) -> None:
    label = reference.paint(
        boxes((0, 0, width // 2, height // 2), (width // 4, 2, width, 7)), height, width
    )
    reading = solve(picture(label))
    assert reading.label.tolist() == label.tolist()


def test_twenty_four_hues_are_far_enough_apart_and_sixty_three_are_not() -> None:
    sample = generate_block(
        RdeConfig(mode="ambiguous", height=256, width=256, n_rectangles=24), 0, "test", 0, 1
    )
    reading = solve(sample["image"][0], reference.palette(24))
    assert reading.has_regions_of(sample["label"][0])
    with pytest.raises(SynthprobeError, match=r"12 levels apart .* more than 32 apart"):
        solve(sample["image"][0], reference.palette(63))


def test_without_blur_sixty_three_rectangles_are_read() -> None:
    config = RdeConfig(mode="ambiguous", n_rectangles=63, blur=0.0, min_size=0.0)
    block = generate_block(config, 0, "test", 0, 1)
    for palette in (reference.palette(63), None):
        reading = solve(block["image"][0], palette, blur=0)
        assert reading.has_regions_of(block["label"][0])
        assert len(reading.boxes) == block["n_rectangles"][0]


def refused(image: np.ndarray, match: str, **options: object) -> None:
    with pytest.raises(SynthprobeError, match=match) as caught:
        solve(image, **options)  # type: ignore[arg-type]
    assert str(caught.value).count(". ") == 0


NOT_RDE = "this is not an RDE picture|two colours that the picture seems to have"


@pytest.mark.parametrize("palette", [None, reference.palette(10)])
def test_noise_is_refused(palette: np.ndarray | None) -> None:
    rng = np.random.default_rng(0)
    refused(rng.integers(0, 256, (64, 64, 3), np.uint8), NOT_RDE, palette=palette)


@pytest.mark.parametrize("palette", [None, reference.palette(10)])
def test_a_photograph_like_picture_is_refused(palette: np.ndarray | None) -> None:
    y, x = np.mgrid[:96, :96] / 96
    smooth = np.stack([np.sin(3 * x + y), np.cos(4 * y * x), x * y], axis=2)
    refused((127 + 120 * smooth).astype(np.uint8), NOT_RDE, palette=palette)


def test_a_rotated_scene_is_refused() -> None:
    from scipy import ndimage

    label = reference.paint(boxes((20, 20, 70, 60), (50, 40, 90, 80)), 100, 100)
    sharp = reference.render(label, [0, 1], reference.palette(2), 0)
    for angle in (3, 20, 45):
        turned = ndimage.rotate(sharp, angle, reshape=False, order=1)
        refused(turned, NOT_RDE)
        refused(turned, NOT_RDE, blur=0)


def test_one_wrong_byte_is_refused() -> None:
    image = picture(reference.paint(boxes((4, 4, 20, 20), (10, 8, 30, 16)), 32, 32))
    for y, x, channel in np.ndindex(2, 2, 3):
        spoiled = image.copy()
        spoiled[8 + y, 10 + x, channel] ^= 1
        refused(spoiled, "this is not an RDE picture of blur 0.7: no label map gives its pixels")


def test_a_picture_of_another_blur_is_refused() -> None:
    label = reference.paint(boxes((4, 4, 20, 20), (10, 8, 30, 16)), 32, 32)
    refused(picture(label, blur=0.6), NOT_RDE)
    refused(picture(label), NOT_RDE, blur=0.6)


def test_shapes_that_are_no_rectangles_are_refused() -> None:
    y, x = np.mgrid[:32, :32]
    disc = ((y - 16) ** 2 + (x - 16) ** 2 < 100).astype(np.uint8)
    corner = np.zeros((32, 32), np.uint8)
    corner[4:28, 4:12] = corner[20:28, 4:28] = 1
    for label in (disc, corner):
        refused(picture(label), "the background shows inside the extent of region 1")


def test_two_regions_that_show_in_each_others_extents_are_refused() -> None:
    label = np.zeros((32, 32), np.uint8)
    label[4:16, 4:28], label[16:28, 4:28] = 1, 2
    assert not solve(picture(label)).unambiguous
    label[16:22, 4:10] = 1
    refused(picture(label), "show inside each other's extents in a circle")


def test_more_colours_than_rectangles_are_refused() -> None:
    bands = np.arange(100, dtype=np.uint8).repeat(8)[None, :].repeat(16, 0)
    image = reference.palette(100)[bands]
    refused(image, "it has 100 colours, more than the 63 rectangles", blur=0)


def test_more_lines_than_sides_are_refused() -> None:
    chequered = np.indices((130, 130)).sum(0) % 2
    image = (255 * chequered[:, :, None] * [1, 0, 0]).astype(np.uint8)
    refused(image, "it changes across more lines than the sides of 63 rectangles", blur=0)


def test_a_picture_that_must_not_be_written_to_is_read() -> None:
    image = picture(reference.paint(boxes((4, 4, 20, 20)), 32, 32))
    image.flags.writeable = False
    assert solve(image[:, ::-1]).boxes.tolist() == [[12, 4, 28, 20]]


def test_an_empty_picture_is_refused() -> None:
    refused(np.zeros((32, 32, 3), np.uint8), "it shows no rectangle")
    refused(np.zeros((32, 32, 3), np.uint8), "it shows no rectangle", palette=reference.palette(3))


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((32, 32, 3)),
        np.zeros((32, 32), np.uint8),
        np.zeros((3, 32, 32), np.uint8),
        np.zeros((7, 32, 3), np.uint8),
        np.zeros((32, 1025, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(image: np.ndarray) -> None:
    refused(image, r"image is .*: it must be uint8 of shape \(height, width, 3\)")


def test_bad_options_are_refused() -> None:
    image = picture(reference.paint(boxes((4, 4, 20, 20)), 32, 32))
    for blur in (-0.1, 4.5, float("nan"), "0.7", True):
        refused(image, "blur is .*: it must be a number from 0 to 4", blur=blur)
    for blur in (0.9, 1.0, 4.0):
        refused(image, "it must be below about 0.84", blur=blur)
    for palette in (np.zeros((3, 3)), np.zeros((0, 3), np.uint8), np.zeros((64, 3), np.uint8)):
        refused(image, r"palette is .*: it must be uint8 of shape \(n_colors, 3\)", palette=palette)
    refused(image, "0 levels apart", palette=reference.palette(4)[[0, 1, 1]])
    refused(image, "0 levels apart", palette=np.zeros((1, 3), np.uint8))


def test_a_narrow_rectangle_whose_commonest_hue_is_beside_its_own_is_read_without_the_palette() -> (
    None
):
    # The fifth shows 60 pixels only, all near its sides; most of them are off by 6 of 1530 hues.
    block = generate_block(RdeConfig(), 0, "train", 38_459, 1)
    reading = solve(block["image"][0])
    assert reading.rank.tolist() == block["rank"][0].tolist()


def test_rows_of_different_lengths_are_no_picture_and_no_palette() -> None:
    with pytest.raises(SynthprobeError, match="image is not an array"):
        solve([[1, 2], [3]])
    with pytest.raises(SynthprobeError, match="palette is not an array"):
        solve(np.zeros((16, 16, 3), np.uint8), [[1, 2, 3], [4]])
