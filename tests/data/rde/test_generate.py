"""What holds for every generated sample, by means other than the kernels that made it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.random import (
    STREAM_LENGTH,
    draw_below,
    draw_two_pairs,
    open_stream,
    stream_key,
)
from synthprobe_data.rde import reference
from synthprobe_data.rde.config import MODES, RdeConfig
from synthprobe_data.rde.generate import (
    EMPTY,
    FLAT,
    KEPT,
    SHORT,
    UNDECIDED_SCENES,
    UNREADABLE_SCENES,
    UNSTABLE_SCENES,
    generate_block,
    generate_with_tally,
)
from synthprobe_data.rde.scene import CONVEXITY, T_JUNCTION, read_scene
from synthprobe_data.strategies import GeneratedSample, configs, generated_samples, seeds, splits

small = st.integers(12, 28)
few = st.integers(0, 3)
crowded: dict[str, Any] = {
    "height": small,
    "width": small,
    "n_rectangles": 6,
    "n_vis": few,
    "n_gap": few,
    "n_par": few,
    "min_size": st.sampled_from([0.0, 0.1, 0.25]),
    "trials": 200,
}

any_sample = generated_samples()
sample_by_rules = generated_samples(
    configs(mode=st.sampled_from(["rules", "certified"]))
    | configs(mode=st.sampled_from(["rules", "certified"]), **crowded)
)
certified_sample = generated_samples(configs(mode="certified", **crowded))
ambiguous_sample = generated_samples(configs(mode="ambiguous"))


def prefixes(drawn: GeneratedSample) -> Iterator[np.ndarray]:
    """The scene as it was when each of its rectangles was the candidate."""
    return (drawn.rectangles[:n] for n in range(1, drawn.n + 1))


def relation(drawn: GeneratedSample) -> nx.DiGraph:
    """As stored: an edge from the one above to the one below."""
    above = drawn.sample["above"][: drawn.n, : drawn.n]
    return nx.from_numpy_array((above > 0).astype(int), create_using=nx.DiGraph)


def stored_ranks(drawn: GeneratedSample) -> tuple[int, ...]:
    return tuple(drawn.sample["rectangle_rank"][: drawn.n].tolist())


# --------------------------------------------------------------------------------------- placement


@given(sample_by_rules)
def test_rule_1_each_rectangle_is_large_enough(drawn: GeneratedSample) -> None:
    for x0, y0, x1, y1 in drawn.rectangles:
        assert x1 - x0 >= max(drawn.config.min_size * drawn.config.width - 1e-9, 1)
        assert y1 - y0 >= max(drawn.config.min_size * drawn.config.height - 1e-9, 1)
        assert 0 <= x0 <= x1 <= drawn.config.width
        assert 0 <= y0 <= y1 <= drawn.config.height


@given(sample_by_rules)
def test_rule_2_each_rectangle_shows_enough_at_every_stage(drawn: GeneratedSample) -> None:
    assert all(reference.rule_visibility(drawn.config, scene) for scene in prefixes(drawn))


@given(sample_by_rules)
def test_rule_3_no_two_rectangles_share_a_side_or_nearly_do(drawn: GeneratedSample) -> None:
    assert all(reference.rule_no_shared_side(drawn.config, scene) for scene in prefixes(drawn))


@given(sample_by_rules)
def test_rule_4_parallel_sides_keep_their_distance(drawn: GeneratedSample) -> None:
    assert all(reference.rule_parallel_sides(drawn.config, scene) for scene in prefixes(drawn))


@settings(max_examples=60)
@given(sample_by_rules)
def test_rule_5_stems_and_arms_are_n_vis_long_at_every_stage(drawn: GeneratedSample) -> None:
    assert all(reference.rule_t_junctions(drawn.config, scene) for scene in prefixes(drawn))


def test_rule_5_holds_where_rule_4_does_not_help() -> None:
    config = RdeConfig(height=30, width=40, n_vis=6, n_gap=1, n_par=1, n_rectangles=5, mode="rules")
    block = generate_block(config, 0, "train", 0, 30)
    for rectangles, n in zip(block["rectangles"], block["n_rectangles"], strict=True):
        for k in range(1, n + 1):
            assert reference.rule_t_junctions(config, rectangles[:k])


@given(ambiguous_sample)
def test_in_ambiguous_mode_rule_1_holds_and_every_rectangle_shows(drawn: GeneratedSample) -> None:
    for scene in prefixes(drawn):
        assert reference.rule_size(drawn.config, scene[-1])
        assert set(range(1, len(scene) + 1)) <= set(
            reference.paint(scene, drawn.config.height, drawn.config.width).ravel().tolist()
        )


def test_the_modes_ask_for_less_and_less() -> None:
    crowd: dict[str, Any] = {
        "height": 32,
        "width": 32,
        "n_vis": 2,
        "n_gap": 0,
        "n_par": 1,
        "min_size": 0.25,
    }
    config = {mode: RdeConfig(n_rectangles=8, mode=mode, **crowd) for mode in MODES}

    def scenes(mode: str, count: int) -> list[np.ndarray]:
        block = generate_block(config[mode], 3, "train", 0, count)
        kept = zip(block["rectangles"], block["n_rectangles"], strict=True)
        return [rectangles[:n] for rectangles, n in kept]

    def certified(scene: np.ndarray) -> bool:
        return read_scene(scene, height=32, width=32).failure is None

    def by_rules(scene: np.ndarray) -> bool:
        stages = (scene[:n] for n in range(1, len(scene) + 1))
        return all(reference.accepts(config["rules"], stage) for stage in stages)

    assert all(map(certified, scenes("certified", 200)))
    assert 0 < sum(map(certified, scenes("rules", 200))) < 200
    assert all(map(by_rules, scenes("certified", 10)))
    assert all(map(by_rules, scenes("rules", 10)))
    assert not any(map(by_rules, scenes("ambiguous", 10)))


# -------------------------------------------------------------------------------- order and ranks


@given(any_sample)
def test_the_relation_is_acyclic_and_leads_from_later_to_earlier(drawn: GeneratedSample) -> None:
    assert nx.is_directed_acyclic_graph(relation(drawn))
    assert not np.triu(drawn.sample["above"]).any()


@settings(max_examples=60)
@given(any_sample)
def test_the_relation_is_that_of_the_reference_cue_by_cue(drawn: GeneratedSample) -> None:
    height, width, n = drawn.config.height, drawn.config.width, drawn.n
    label = reference.paint(drawn.rectangles, height, width)
    above = drawn.sample["above"][:n, :n]
    by_t_junction = reference.above_by_t_junction(drawn.rectangles, height, width)
    by_convexity = reference.above_by_convexity(label, n)
    assert (above & T_JUNCTION > 0).tolist() == by_t_junction.tolist()
    assert (above & CONVEXITY > 0).tolist() == by_convexity.tolist()


@given(any_sample)
def test_ranks_are_the_least_that_fit_the_relation(drawn: GeneratedSample) -> None:
    graph = relation(drawn)
    for node, rank in enumerate(stored_ranks(drawn)):
        beneath = graph.subgraph({node} | nx.descendants(graph, node))
        assert rank == 1 + nx.dag_longest_path_length(beneath)


@given(any_sample)
def test_label_map_and_rank_map_are_painted_from_rectangles_and_ranks(
    drawn: GeneratedSample,
) -> None:
    label = reference.paint(drawn.rectangles, drawn.config.height, drawn.config.width)
    assert drawn.sample["label"].tolist() == label.tolist()
    rank = reference.rank_map(label, stored_ranks(drawn))
    assert drawn.sample["rank"].tolist() == rank.tolist()


SYMMETRIES: dict[str, Callable[[np.ndarray, int, int], tuple[np.ndarray, int, int]]] = {
    "mirrored": lambda r, h, w: (
        np.array([w, 0, w, 0]) + r[:, [2, 1, 0, 3]] * [-1, 1, -1, 1],
        h,
        w,
    ),
    "flipped": lambda r, h, w: (np.array([0, h, 0, h]) + r[:, [0, 3, 2, 1]] * [1, -1, 1, -1], h, w),
    "transposed": lambda r, h, w: (r[:, [1, 0, 3, 2]], w, h),
}


@pytest.mark.parametrize("turn", SYMMETRIES.values(), ids=SYMMETRIES.keys())
@settings(max_examples=60)
@given(drawn=certified_sample)
def test_ranks_stay_when_the_scene_is_turned_over(turn: Callable, drawn: GeneratedSample) -> None:
    rectangles, height, width = turn(drawn.rectangles, drawn.config.height, drawn.config.width)
    turned = read_scene(rectangles, height=height, width=width)
    assert tuple(turned.rectangle_rank.tolist()) == stored_ranks(drawn)
    assert turned.failure is None


@settings(max_examples=60)
@given(certified_sample, st.data())
def test_the_rank_map_can_be_read_off_the_regions_whatever_they_are_called(
    drawn: GeneratedSample, data: st.DataObject
) -> None:
    names = np.array([0, *data.draw(st.permutations(range(1, drawn.n + 1)))], np.uint8)
    renamed = names[drawn.sample["label"]]
    ranks = reference.ranks(reference.relation_of_label_map(renamed, drawn.n))
    assert ranks is not None
    assert reference.rank_map(renamed, ranks).tolist() == drawn.sample["rank"].tolist()


@given(certified_sample)
def test_of_two_regions_that_touch_one_is_above_the_other(drawn: GeneratedSample) -> None:
    graph, label = relation(drawn), drawn.sample["label"].astype(int)
    for a, b in np.ndindex(drawn.n, drawn.n):
        around = ndimage.binary_dilation(label == a + 1)  # to the four pixels beside each
        if a < b and (around & (label == b + 1)).any():
            assert nx.has_path(graph, b, a)
            assert stored_ranks(drawn)[b] > stored_ranks(drawn)[a]


stable_sample = generated_samples(
    configs(mode="certified", **(crowded | {"height": st.integers(12, 20), "n_rectangles": 5}))
)


@settings(max_examples=30)
@given(stable_sample)
def test_no_move_of_a_rectangle_by_a_pixel_changes_a_rank(drawn: GeneratedSample) -> None:
    height, width = drawn.config.height, drawn.config.width
    for k, side in np.ndindex(drawn.n, 4):
        moved = drawn.rectangles
        moved[k, side % 2 :: 2] += 1 if side < 2 else -1
        label = reference.paint(moved, height, width)
        from_scene = reference.ranks(reference.relation_of_scene(moved, height, width))
        from_label_map = reference.ranks(reference.relation_of_label_map(label, drawn.n))
        assert from_scene == from_label_map == stored_ranks(drawn)


# ----------------------------------------------------------------------------------------- picture


@given(any_sample)
def test_the_picture_is_that_of_the_reference(drawn: GeneratedSample) -> None:
    config, colors = drawn.config, drawn.sample["color"][: drawn.n]
    label = reference.paint(drawn.rectangles, config.height, config.width)
    palette = reference.palette(config.palette_size)
    expected = reference.render(label, colors, palette, config.blur)
    assert drawn.sample["image"].tolist() == expected.tolist()


@given(any_sample)
def test_the_picture_is_scipys_blur_to_one_grey_level(drawn: GeneratedSample) -> None:
    palette = np.concatenate([[[0, 0, 0]], reference.palette(drawn.config.palette_size)])
    color_of_label = np.array([0, *(1 + drawn.sample["color"][: drawn.n].astype(int))])
    painted = palette[color_of_label[drawn.sample["label"]]].astype(np.float64)
    blurred = ndimage.gaussian_filter(painted, (drawn.config.blur, drawn.config.blur, 0))
    assert np.abs(drawn.sample["image"] - blurred).max() <= 1


@given(any_sample)
def test_the_colours_of_a_sample_are_all_different(drawn: GeneratedSample) -> None:
    colors = drawn.sample["color"][: drawn.n].tolist()
    assert len(set(colors)) == drawn.n
    assert set(colors) <= set(range(drawn.config.palette_size))


def test_every_colour_falls_to_every_rectangle() -> None:
    config = RdeConfig(height=16, width=16, n_rectangles=1, n_colors=5)
    block = generate_block(config, 0, "train", 0, 100)
    assert np.bincount(block["color"][:, 0], minlength=5).min() > 8


# ------------------------------------------------------------------------------------------ arrays


@given(any_sample)
def test_unused_rows_are_empty(drawn: GeneratedSample) -> None:
    n, sample = drawn.n, drawn.sample
    assert 1 <= n <= drawn.config.n_rectangles
    assert (sample["rectangles"][n:] == -1).all()
    assert (sample["rectangles"][:n] >= 0).all()
    for name in ("color", "rectangle_rank"):
        assert not sample[name][n:].any()
    assert not sample["above"][n:].any()
    assert not sample["above"][:, n:].any()


def test_a_block_has_the_arrays_of_the_format() -> None:
    config = RdeConfig(height=20, width=30, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)
    block = generate_block(config, 0, "train", 0, 3)
    assert {name: (rows.dtype.name, rows.shape) for name, rows in block.items()} == {
        "above": ("uint8", (3, 4, 4)),
        "color": ("uint8", (3, 4)),
        "image": ("uint8", (3, 20, 30, 3)),
        "label": ("uint8", (3, 20, 30)),
        "n_rectangles": ("uint8", (3,)),
        "rank": ("uint8", (3, 20, 30)),
        "rectangle_rank": ("uint8", (3, 4)),
        "rectangles": ("int16", (3, 4, 4)),
    }


# --------------------------------------------------------------------------------- random stream


def assert_same(block: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert block.keys() == other.keys()
    for name, rows in block.items():
        assert rows.dtype == other[name].dtype
        assert rows.tobytes() == other[name].tobytes(), name


@settings(max_examples=60)
@given(configs(), seeds(), splits(), st.integers(0, 10**6), st.integers(1, 6), st.data())
def test_a_sample_does_not_depend_on_its_block(
    config: RdeConfig, seed: int, split: str, start: int, count: int, data: st.DataObject
) -> None:
    block, tally = generate_with_tally(config, seed, split, start, count)
    cut = data.draw(st.integers(0, count))
    first, first_tally = generate_with_tally(config, seed, split, start, cut)
    rest, rest_tally = generate_with_tally(config, seed, split, start + cut, count - cut)
    assert_same(block, {name: np.concatenate([first[name], rest[name]]) for name in block})
    assert tally.tolist() == (first_tally + rest_tally).tolist()
    for i in range(count):
        alone = generate_block(config, seed, split, start + i, 1)
        assert_same(alone, {name: rows[i : i + 1] for name, rows in block.items()})


ROOMY = RdeConfig(height=40, width=40, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)


@settings(max_examples=40)
@given(seeds(), splits(), st.integers(0, 2**40))
def test_other_seeds_splits_and_indices_give_other_samples(
    seed: int, split: str, index: int
) -> None:
    other_split = "test" if split == "train" else "train"
    samples = [
        generate_block(ROOMY, *place, 1)["rectangles"].tobytes()
        for place in (
            (seed, split, index),
            ((seed + 1) % 2**64, split, index),
            (seed, other_split, index),
            (seed, split, index + 1),
        )
    ]
    assert len(set(samples)) == 4


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.5])
def test_a_wrong_seed_is_refused(seed: object) -> None:
    with pytest.raises(SynthprobeError, match="seed"):
        generate_block(ROOMY, seed, "train", 0, 1)  # type: ignore[arg-type]


PLACE_IN_TALLY = {
    None: KEPT,
    "unreadable": UNREADABLE_SCENES,
    "undecided": UNDECIDED_SCENES,
    "unstable": UNSTABLE_SCENES,
    "empty": EMPTY,
    "flat": FLAT,
}


def sample_by_reference(
    config: RdeConfig, seed: int, split: str, index: int
) -> tuple[np.ndarray, list[int], list[str | None]]:
    """Rectangles, colours, and the verdict on each scene drawn: RULES.md, word for word."""
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, "rde", split), index)
    verdicts: list[str | None] = []
    while None not in verdicts:
        scene = np.empty((0, 4), np.int64)
        unsuccessful = 0
        while len(scene) < config.n_rectangles and unsuccessful < config.trials:
            a, b, c, d = draw_two_pairs(stream, config.width + 1, config.height + 1)
            candidate = [min(a, b), min(c, d), max(a, b), max(c, d)]
            trial = np.concatenate([scene, [candidate]])
            if reference.accepts(config, trial):
                scene = trial
            else:
                unsuccessful += 1
        if len(scene) == 0:
            verdicts.append("empty")
        elif config.require_order and reference.is_flat(scene, config.height, config.width):
            verdicts.append("flat")
        elif config.mode == "certified":
            verdicts.append(reference.certificate_failure(scene, config.height, config.width))
        else:
            verdicts.append(None)
    colors = list(range(config.palette_size))
    for i in reversed(range(1, len(colors))):
        j = draw_below(stream, i + 1)
        colors[i], colors[j] = colors[j], colors[i]
    return scene, colors[: len(scene)], verdicts


def assert_made_by_the_rules(
    config: RdeConfig, seed: int, split: str, index: int
) -> list[str | None]:
    """Hold a sample to what the rules make of its stream; return the verdicts on its scenes."""
    block, tally = generate_with_tally(config, seed, split, index, 1)
    rectangles, colors, verdicts = sample_by_reference(config, seed, split, index)
    n = len(rectangles)
    assert block["n_rectangles"][0] == n
    assert block["rectangles"][0, :n].tolist() == rectangles.tolist()
    assert block["color"][0, :n].tolist() == colors
    for verdict, place in PLACE_IN_TALLY.items():
        assert tally[place] == verdicts.count(verdict)
    assert tally[SHORT] == (n < config.n_rectangles)
    return verdicts


followed = st.integers(12, 18)


@settings(max_examples=60)
@given(
    configs(
        height=followed,
        width=followed,
        n_rectangles=st.integers(1, 5),
        n_vis=few,
        n_gap=few,
        n_par=few,
        trials=st.integers(1, 40),
    ),
    seeds(),
    splits(),
    st.integers(0, 2**40),
)
def test_a_sample_is_what_the_rules_make_of_its_stream(
    config: RdeConfig, seed: int, split: str, index: int
) -> None:
    assert_made_by_the_rules(config, seed, split, index)


@settings(max_examples=40)
@given(
    configs(
        height=followed,
        width=followed,
        n_rectangles=st.integers(2, 4),
        n_vis=st.integers(0, 2),
        n_gap=st.integers(0, 2),
        n_par=st.integers(0, 2),
        min_size=0.2,
        trials=st.integers(10, 40),
        require_order=True,
    ),
    seeds(),
    splits(),
    st.integers(0, 2**40),
)
def test_a_sample_with_an_order_is_what_the_rules_make_of_its_stream(
    config: RdeConfig, seed: int, split: str, index: int
) -> None:
    verdicts = assert_made_by_the_rules(config, seed, split, index)
    block = generate_block(config, seed, split, index, 1)
    assert len(set(block["rectangle_rank"][0].tolist()) - {0}) >= 2
    free = dataclasses.replace(config, require_order=False)
    same = generate_block(free, seed, split, index, 1)
    if "flat" not in verdicts:  # nothing was drawn again for its sake
        assert_same(block, same)
    else:
        assert same["rectangles"].tolist() != block["rectangles"].tolist()


def first_sample_with(verdict: str, config: RdeConfig) -> int:
    """The first sample of seed 0 for which a scene was drawn that got this verdict."""

    def has_one(start: int, count: int) -> bool:
        tally = generate_with_tally(config, 0, "train", start, count)[1]
        return bool(tally[PLACE_IN_TALLY[verdict]])

    count = 256
    start = next(start for start in range(0, 2**16, count) if has_one(start, count))
    while count > 1:
        count //= 2
        start += 0 if has_one(start, count) else count
    return start


@pytest.mark.parametrize("verdict", ["unreadable", "undecided", "unstable"])
def test_a_scene_that_fails_is_drawn_again_from_the_same_stream(verdict: str) -> None:
    lengths: dict[str, Any] = {"n_vis": 0, "n_gap": 0, "n_par": 0, "min_size": 0.2}
    config = RdeConfig(height=40, width=64, trials=200, **lengths)
    index = first_sample_with(verdict, config)
    assert verdict in assert_made_by_the_rules(config, 0, "train", index)


@pytest.mark.parametrize("mode", ["rules", "certified"])
def test_settings_that_no_scene_fits_are_given_up_with_the_sample_named(mode: str) -> None:
    # Only the one rectangle that fills the picture would do.
    config = RdeConfig(height=256, width=256, n_vis=255, trials=1, mode=mode)
    with pytest.raises(SynthprobeError, match="test sample 7 could be kept") as error:
        generate_block(config, 0, "test", 7, 2)
    assert "n_vis" in str(error.value)
