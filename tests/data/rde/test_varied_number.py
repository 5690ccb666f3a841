"""``--n-rectangles 3..10``: each sample draws how many rectangles it asks for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.random import STREAM_LENGTH, draw_two_pairs, open_stream, stream_key
from synthprobe_data.rde import RDE, reference
from synthprobe_data.rde.expectation import check_expected
from synthprobe_data.rde.generate import SHORT, generate_block, generate_with_tally
from synthprobe_data.rde.kernels.place import draw_number, kernel_settings
from synthprobe_data.rde.outlook import look_ahead
from synthprobe_data.rde.verify import check_block
from synthprobe_data.strategies import configs, seeds, splits
from synthprobe_data.verification.verify import verify

VARIED = RdeConfig(min_rectangles=3)
few = st.integers(0, 3)
varied = configs(
    height=st.integers(12, 18),
    width=st.integers(12, 18),
    n_rectangles=st.integers(4, 6),
    min_rectangles=st.integers(1, 3),
    n_vis=few,
    n_gap=few,
    n_par=few,
    trials=st.integers(1, 40),
)


def opened(seed: int, split: str, index: int) -> np.ndarray:
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, "rde", split), index)
    return stream


def scene_by_reference(config: RdeConfig, stream: np.ndarray) -> tuple[int, np.ndarray]:
    """The number asked for, drawn once, and the first scene of so many that can be kept."""
    asked = reference.draw_number(config, stream)
    while True:
        scene, unsuccessful = np.empty((0, 4), np.int64), 0
        while len(scene) < asked and unsuccessful < config.trials:
            a, b, c, d = draw_two_pairs(stream, config.width + 1, config.height + 1)
            trial = np.concatenate([scene, [[min(a, b), min(c, d), max(a, b), max(c, d)]]])
            if reference.accepts(config, trial):
                scene = trial
            else:
                unsuccessful += 1
        height, width = config.height, config.width
        if len(scene) and (
            config.mode != "certified"
            or reference.certificate_failure(scene, height, width) is None
        ):
            return asked, scene


@settings(max_examples=60)
@given(varied, seeds(), splits(), st.integers(0, 2**40))
def test_a_sample_is_what_the_rules_make_of_its_stream(
    config: RdeConfig, seed: int, split: str, index: int
) -> None:
    block, tally = generate_with_tally(config, seed, split, index, 1)
    asked, scene = scene_by_reference(config, opened(seed, split, index))
    n = len(scene)
    assert block["n_rectangles"][0] == n <= asked
    assert block["rectangles"][0, :n].tolist() == scene.tolist()
    assert (block["rectangles"][0, n:] == -1).all()
    assert tally[SHORT] == (n < asked)
    assert not check_block(config, block).any()


@given(
    configs(min_rectangles=st.integers(1, 7), n_rectangles=st.integers(8, 12)) | configs(),
    seeds(),
    st.integers(0, 2**40),
)
def test_the_number_is_that_of_the_reference_and_leaves_the_stream_alike(
    config: RdeConfig, seed: int, index: int
) -> None:
    one, other = opened(seed, "train", index), opened(seed, "train", index)
    asked = draw_number(one, kernel_settings(config))
    assert asked == reference.draw_number(config, other)
    assert one.tolist() == other.tolist()
    assert config.least_rectangles <= asked <= config.n_rectangles
    if config.min_rectangles is None:
        assert one.tolist() == opened(seed, "train", index).tolist()


def test_all_numbers_are_equally_frequent_though_large_scenes_are_drawn_again_more_often() -> None:
    count = 4000
    numbers = generate_block(VARIED, 0, "train", 0, count)["n_rectangles"]
    found = np.bincount(numbers, minlength=11)[3:]
    expected = count / 8
    # Chi-square with 7 degrees of freedom: above 24.3 once in a thousand seeds.
    assert (((found - expected) ** 2) / expected).sum() < 24.3


def test_a_sample_that_draws_the_largest_number_is_on_the_same_scale() -> None:
    assert RDE.normalisation(VARIED) == RDE.normalisation(RdeConfig())
    assert generate_block(VARIED, 0, "train", 0, 1)["above"].shape == (1, 10, 10)


def test_the_command_writes_such_files_and_their_card_repeats_it(tmp_path: Path) -> None:
    path = tmp_path / "varied.h5"
    options = ("--n-rectangles", "2..4", "--height", "48", "--width", "48", "--n-vis", "3")
    more = ("--n-gap", "3", "--n-par", "3", "--train", "40", "--test", "8", "--workers", "1")
    assert main(["rde", "--out", str(path), *options, *more]) == 0
    with open_dataset(path) as data:
        settings = data.config.to_dict()
        assert settings["min_rectangles"] == 2
        assert settings["n_rectangles"] == 4
        assert {int(sample["n_rectangles"]) for sample in data["train"]} == {2, 3, 4}
    card = path.with_suffix(".md").read_text("utf-8")
    assert "--n-rectangles 2..4" in card
    assert "of 2 to 4 rectangles on average" in card
    assert "| `min_rectangles` | 2 |" in card
    assert verify(path, pixels=True).ok


def test_a_range_of_one_number_is_that_number(tmp_path: Path) -> None:
    digests = set()
    for name, number in (("a.h5", "3"), ("b.h5", "3..3")):
        path = tmp_path / name
        small = ("--height", "48", "--width", "48", "--train", "4", "--test", "0", "--workers", "1")
        assert main(["rde", "--out", str(path), "--n-rectangles", number, *small]) == 0
        with open_dataset(path) as data:
            assert "min_rectangles" not in data.config.to_dict()
            digests.add(data.content_digest)
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("10..3", "give the smaller number first"),
        ("0..3", "min_rectangles is 0"),
        ("3..64", "n_rectangles is 64"),
        ("3..", "nor a range such as 3..10"),
        ("3..x", "nor a range such as 3..10"),
        ("3...5", "nor a range such as 3..10"),
    ],
)
def test_a_wrong_range_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str, said: str
) -> None:
    arguments = ["rde", "--out", str(tmp_path / "a.h5"), "--n-rectangles", number]
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_nothing_to_draw_and_no_order_to_require_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="min_rectangles is 10 but n_rectangles is 10"):
        RdeConfig(min_rectangles=10)
    with pytest.raises(SynthprobeError, match="min_rectangles is 1: give at least 2"):
        RdeConfig(min_rectangles=1, require_order=True)


def test_the_outlook_is_measured_by_what_is_asked_for_on_average() -> None:
    outlook = look_ahead(VARIED)
    assert outlook is not None
    assert outlook.wanted == 6.5
    assert outlook.mean == pytest.approx(6.5, abs=0.4)
    assert not outlook.is_short
    small = dataclasses.replace(VARIED, height=64, width=64)
    said = check_expected(small, {"train": 10})
    assert said is not None
    assert "of the 3 to 10 (on average 6.5) rectangles asked for" in said
