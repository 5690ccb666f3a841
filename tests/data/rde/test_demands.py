"""``--min-depth`` and its like: a scene is drawn again until it is as hard as is demanded."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, TwinsConfig, make_file, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.random import STREAM_LENGTH, draw_two_pairs, open_stream, stream_key
from synthprobe_data.rde import RDE, reference
from synthprobe_data.rde.acceptance import count_draws
from synthprobe_data.rde.expectation import check_expected
from synthprobe_data.rde.generate import EASY, KEPT, generate_block, generate_with_tally
from synthprobe_data.rde.reference_difficulty import meets_demands
from synthprobe_data.rde.verify import check_block, row_checks
from synthprobe_data.strategies import configs, seeds, splits
from synthprobe_data.twins import TWINS
from synthprobe_data.twins import reference as twins_reference
from synthprobe_data.twins.verify import check_block as check_twins
from synthprobe_data.twins.verify import row_checks as checks_of_twins
from synthprobe_data.verification.verify import verify

FREE = RdeConfig(height=32, width=32, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)
HARD = dataclasses.replace(FREE, min_depth=3, min_cue_distance=10, min_convexity_only=1)
DEMANDED = configs(
    height=st.integers(14, 18),
    width=st.integers(14, 18),
    n_rectangles=st.integers(3, 4),
    n_vis=st.integers(0, 2),
    n_gap=st.integers(0, 2),
    n_par=st.integers(0, 2),
    min_size=0.2,
    trials=st.integers(20, 40),
    min_depth=st.integers(0, 2),
    min_cue_distance=st.integers(0, 5),
)


def scenes_by_reference(config: RdeConfig, seed: int, split: str, index: int) -> list[np.ndarray]:
    """The scenes that are drawn for a sample; the last one is kept."""
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, "rde", split), index)
    height, width = config.height, config.width
    drawn = []
    while True:
        scene, unsuccessful = np.empty((0, 4), np.int64), 0
        while len(scene) < config.n_rectangles and unsuccessful < config.trials:
            a, b, c, d = draw_two_pairs(stream, width + 1, height + 1)
            trial = np.concatenate([scene, [[min(a, b), min(c, d), max(a, b), max(c, d)]]])
            if reference.accepts(config, trial):
                scene = trial
            else:
                unsuccessful += 1
        drawn.append(scene)
        certified = config.mode != "certified" or (
            len(scene) and reference.certificate_failure(scene, height, width) is None
        )
        if len(scene) and certified and meets_demands(config, scene, height, width):
            return drawn


@settings(max_examples=25)
@given(DEMANDED, seeds(), splits(), st.integers(0, 2**40))
def test_a_sample_is_the_first_of_its_stream_that_meets_the_demands(
    config: RdeConfig, seed: int, split: str, index: int
) -> None:
    block, tally = generate_with_tally(config, seed, split, index, 1)
    *others, kept = scenes_by_reference(config, seed, split, index)
    assert block["rectangles"][0, : len(kept)].tolist() == kept.tolist()
    assert tally[KEPT] == 1
    assert tally[EASY] <= len(others)
    assert not check_block(config, block).any()


def test_workers_do_not_change_the_samples_and_verify_holds_files_to_it(tmp_path: Path) -> None:
    sizes = {"train": 12, "test": 6}
    one = generate_file(tmp_path / "1.h5", RDE, HARD, splits=sizes, workers=1, block_rows=5)
    two = generate_file(
        tmp_path / "2.h5", RDE, HARD, splits=sizes, workers=2, block_rows=4, cards=False
    )
    assert one.content_digest == two.content_digest
    assert verify(one.path, pixels=True, workers=1).ok
    with open_dataset(one.path) as data:
        assert data["train"]["depth"].min() >= 3
        assert data["train"]["cue_distance"].min() >= 10
        assert data["train"]["convexity_only"].min() >= 1
    card = (tmp_path / "1.md").read_text("utf-8")
    kept = count_draws(HARD, 0, "test", 6)[KEPT]
    assert kept == 6
    assert "### Scenes that were drawn" in card
    assert "min_depth = 3, min_convexity_only = 1 and min_cue_distance = 10" in card


def test_a_row_that_is_too_easy_fails_its_own_check(tmp_path: Path) -> None:
    block = generate_block(FREE, 0, "train", 0, 30)
    bit = list(row_checks(HARD)).index("demands")
    rows = (block["rectangles"][r, : block["n_rectangles"][r]].astype(int) for r in range(30))
    easy = [not meets_demands(HARD, scene, 32, 32) for scene in rows]
    assert 0 < sum(easy) < 30
    assert (check_block(HARD, block) >> bit & 1).astype(bool).tolist() == easy
    path = tmp_path / "a.h5"
    make_file("rde", path, train=30, test=0, config=FREE, workers=1, cards=False)
    with h5py.File(path, "r+") as file:
        file.attrs["config"] = np.bytes_(json.dumps(HARD.to_dict(), sort_keys=True))
    failures = verify(path, workers=1).failures
    assert [f.row for f in failures if f.check == "demands"] == np.flatnonzero(easy).tolist()


def test_files_without_demands_say_what_they_always_said() -> None:
    assert not {"min_depth", "min_cue_distance", "min_convexity_only"} & FREE.to_dict().keys()
    assert RdeConfig.from_dict(HARD.to_dict()) == HARD
    assert "demands" not in row_checks(FREE)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"min_depth": 5}, "min_depth is 5: a scene of 4 rectangles"),
        ({"min_rectangles": 2, "min_depth": 3}, "a scene of 2 rectangles, which is the least"),
        ({"min_convexity_only": 7}, "has 6 pairs; give at most 6"),
        ({"min_cue_distance": 32}, "no cue is farther than 31 pixels"),
        ({"min_depth": -1}, "it must be a whole number from 0"),
    ],
)
def test_what_no_scene_can_meet_is_refused_at_once(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SynthprobeError, match=said):
        dataclasses.replace(FREE, **changes)


def test_what_hardly_a_scene_meets_is_refused_with_what_scenes_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = dataclasses.replace(FREE, min_cue_distance=31)
    with pytest.raises(SynthprobeError, match=r"0 of .* scenes .* cue distance [0-9]+ at most"):
        check_expected(config, {"train": 1})
    out = tmp_path / "a.h5"
    options = ["--height", "32", "--width", "32", "--n-rectangles", "4", "--n-vis", "2"]
    options += ["--n-gap", "2", "--n-par", "2", "--min-cue-distance", "31", "--train", "2"]
    assert main(["rde", "--out", str(out), *options, "--test", "0", "--workers", "1"]) == 2
    assert "what they reach" in capsys.readouterr().err
    assert not out.exists()


def test_what_seldom_occurs_is_said_beforehand() -> None:
    said = check_expected(dataclasses.replace(FREE, min_convexity_only=3), {"train": 10})
    assert said is not None
    assert "scenes to be drawn for each sample" in said


TWINS_HARD = TwinsConfig(
    height=24, width=32, n_rectangles=3, min_distance=4, bands=2, min_depth=3, min_cue_distance=6
)


def test_both_twins_of_every_band_meet_the_demands_as_in_the_reference() -> None:
    block = TWINS.generate_block(TWINS_HARD, 0, "test", 0, 6)
    assert not check_twins(TWINS_HARD, block, [("test", i) for i in range(6)]).any()
    for row in range(6):
        rectangles = block["rectangles"][row, : block["n_rectangles"][row]].astype(int)
        for band in range(2):
            top = TWINS_HARD.band_top(band)
            scene = rectangles[rectangles[:, 1] // 32 == band] - [0, top, 0, top]
            assert meets_demands(TWINS_HARD, scene, 24, 32)
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(0, "twins", "test"), 0)
    pair = twins_reference.draw_pair(TWINS_HARD, stream)
    assert block["rectangles"][0, : len(pair.rectangles)].tolist() == pair.rectangles.tolist()


def test_twins_that_are_too_easy_fail_their_check() -> None:
    free = dataclasses.replace(TWINS_HARD, min_depth=0, min_cue_distance=0)
    block = TWINS.generate_block(free, 0, "test", 0, 12)
    bit = list(checks_of_twins(TWINS_HARD)).index("demands")
    found = check_twins(TWINS_HARD, block, [("test", i) for i in range(12)]) >> bit & 1
    assert 0 < found.sum() < 12
