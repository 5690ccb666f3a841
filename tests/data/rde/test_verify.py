"""The checks of a row, against the reference: good rows pass, and bad ones fail the right check."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, strategies
from synthprobe_data.rde import reference, reference_difficulty
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.rde.kernels.difficulty import COLUMNS
from synthprobe_data.rde.verify import check_block, row_checks
from synthprobe_data.strategies import GeneratedSample


def failed_checks(drawn: GeneratedSample, **changed: np.ndarray) -> set[str]:
    block = {name: np.array(value)[None] for name, value in {**drawn.sample, **changed}.items()}
    mask = int(check_block(drawn.config, block)[0])
    names = row_checks(drawn.config)
    assert mask >> len(names) == 0
    return {name for bit, name in enumerate(names) if mask >> bit & 1}


@given(strategies.generated_samples())
def test_what_the_generator_makes_passes_every_check(drawn: GeneratedSample) -> None:
    assert failed_checks(drawn) == set()


@given(strategies.generated_samples(), st.data())
def test_a_moved_side_fails_just_what_the_reference_says(
    drawn: GeneratedSample, data: st.DataObject
) -> None:
    config, sample = drawn.config, drawn.sample
    height, width = config.height, config.width
    scene = data.draw(strategies.nudged(drawn.rectangles, height=height, width=width))
    rectangles = np.array(sample["rectangles"])
    rectangles[: drawn.n] = scene
    failed = failed_checks(drawn, rectangles=rectangles)
    label = reference.paint(scene, height, width)
    refused = not all(reference.accepts(config, scene[: k + 1]) for k in range(drawn.n))
    ranks: Any = reference.ranks(reference.relation_of_scene(scene, height, width))
    above = reference.above_by_t_junction(scene, height, width) + 2 * reference.above_by_convexity(
        label, drawn.n
    )
    assert ranks is not None
    assert ("rules" in failed) == refused
    assert ("label" in failed) == (label != sample["label"]).any()
    assert ("above" in failed) == (above != sample["above"][: drawn.n, : drawn.n]).any()
    assert ("rectangle_rank" in failed) == (ranks != sample["rectangle_rank"][: drawn.n]).any()
    assert ("rank" in failed) == (reference.rank_map(label, ranks) != sample["rank"]).any()
    if config.difficulty:
        pieces: Any = reference_difficulty.pieces(scene, height, width)
        changed = (
            reference_difficulty.convexity_only(scene, height, width) != sample["convexity_only"]
            or reference_difficulty.cue_distance(scene, height, width) != sample["cue_distance"]
            or max(ranks) != sample["depth"]
            or (pieces != sample["pieces"][: drawn.n]).any()
        )
        assert ("difficulty" in failed) == changed
    if config.mode == "certified":
        failure = reference.certificate_failure(scene, height, width)
        assert ("certificate" in failed) == (failure is not None)


@given(strategies.generated_samples(), st.data())
def test_a_changed_byte_of_a_picture_fails_just_that_picture(
    drawn: GeneratedSample, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(["image", "label", "rank"]))
    picture = np.array(drawn.sample[name])
    picture.reshape(-1)[data.draw(st.integers(0, picture.size - 1))] ^= data.draw(
        st.integers(1, 255)
    )
    assert failed_checks(drawn, **{name: picture}) == {name}


@given(strategies.generated_samples(strategies.configs(difficulty=True)), st.data())
def test_a_changed_figure_of_difficulty_is_found(
    drawn: GeneratedSample, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(COLUMNS))
    values = np.array(drawn.sample[name])
    values.reshape(-1)[data.draw(st.integers(0, values.size - 1))] ^= data.draw(st.integers(1, 255))
    assert failed_checks(drawn, **{name: values}) == {"difficulty"}


@given(strategies.generated_samples(), st.data())
def test_rectangles_of_any_numbers_do_no_harm(drawn: GeneratedSample, data: st.DataObject) -> None:
    rectangles = np.array(drawn.sample["rectangles"])
    number = st.integers(-(2**15), 2**15 - 1) | st.integers(-2, 60)
    rectangles[data.draw(st.integers(0, len(rectangles) - 1))] = [data.draw(number) for _ in "xyxy"]
    n = data.draw(st.integers(0, 255) | st.integers(0, len(rectangles) + 1))
    failed = failed_checks(drawn, rectangles=rectangles, n_rectangles=np.array(n, np.uint8))
    boxes = rectangles[:n].astype(int)
    fit = 1 <= n <= len(rectangles) and (
        (boxes[:, :2] >= 0).all()
        and (boxes[:, 0] < boxes[:, 2]).all()
        and (boxes[:, 1] < boxes[:, 3]).all()
        and (boxes[:, 2] <= drawn.config.width).all()
        and (boxes[:, 3] <= drawn.config.height).all()
    )
    assert ("rectangles" in failed) == (not fit)


def test_rows_are_checked_one_by_one() -> None:
    drawn = RdeConfig(height=40, width=40, n_rectangles=4)
    block = generate_block(drawn, 0, "train", 0, 5)
    block["rank"][3, 0, 0] ^= 1
    masks = check_block(drawn, block)
    assert np.flatnonzero(masks).tolist() == [3]
