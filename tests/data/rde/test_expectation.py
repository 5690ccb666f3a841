"""What a run says beforehand about scenes that fall short, and what it refuses."""

from __future__ import annotations

import dataclasses
import re
import shlex
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, make_file
from synthprobe_data.cli.gen import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import CANONICAL, PAPER, RDE, outlook, reference
from synthprobe_data.rde.expectation import check_expected
from synthprobe_data.rde.generate import KEPT, generate_block, generate_with_tally
from synthprobe_data.rde.outlook import look_ahead
from synthprobe_data.strategies import configs
from synthprobe_data.verification.verify import verify

FULL = {"train": 50_000, "test": 12_500}
FEW = ("--train", "6", "--test", "2")
TINY = RdeConfig(height=8, width=8)
CROWDED = RdeConfig(height=24, width=24, n_rectangles=3)


def sides(size: str) -> list[str]:
    return ["--height", size, "--width", size]


@pytest.mark.parametrize(
    ("options", "mean", "span", "flat"),
    [
        (sides("64"), 6.6, (3, 10), 0.02),
        (sides("32"), 2.9, (1, 6), 0.48),
        (["--n-rectangles", "40", "--blur", "0.6"], 12.9, (8, 19), 0.0),
    ],
)
@pytest.mark.parametrize("shards", [(), ("--shards", "2")])
def test_the_command_says_in_one_line_what_to_expect_of_scenes_without_room(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    mean: float,
    span: tuple[int, int],
    flat: float,
    shards: tuple[str, ...],
) -> None:
    assert main(["rde", "--out", str(tmp_path / "a"), *FEW, *options, *shards]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "expect" in line]
    found = re.search(
        r"expect ([\d.]+) of the (\d+) rectangles asked for .* \((\d+) to (\d+)\), "
        r"and (\d+)% of the scenes flat",
        line,
    )
    assert found is not None
    assert abs(float(found[1]) - mean) <= 0.2
    assert span[0] <= int(found[3]) < int(found[4]) <= span[1]
    assert abs(int(found[5]) / 100 - flat) <= 0.05


@pytest.mark.parametrize(
    "config",
    [CANONICAL, PAPER, RdeConfig(height=64, width=64, n_rectangles=4), RdeConfig(n_rectangles=2)],
)
def test_nothing_is_said_where_scenes_are_as_asked(config: RdeConfig) -> None:
    assert check_expected(config, FULL) is None


def test_nothing_is_drawn_for_canonical_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_arguments: object) -> None:
        raise AssertionError

    monkeypatch.setattr(outlook, "_draw", drawn)
    outlook.look_ahead.cache_clear()
    assert check_expected(CANONICAL, FULL) is None
    with pytest.raises(AssertionError):
        check_expected(PAPER, FULL)


@pytest.mark.parametrize(
    ("options", "shards"),
    [
        (sides("8"), ()),
        (sides("24"), ("--shards", "2")),
        ([*sides("24"), "--n-rectangles", "3"], ()),
        (["--n-rectangles", "1"], ()),
    ],
)
def test_scenes_without_an_order_are_refused_with_settings_that_do(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    shards: tuple[str, ...],
) -> None:
    out = tmp_path / "a"
    out.mkdir() if shards else out.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    command = ["rde", "--out", str(out), *FEW, "--force"]
    assert main([*command, *options, *shards]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "hardly an order to find" in said
    assert sorted(tmp_path.rglob("*")) == before
    named = re.findall(r"(--[-\w. ]+?) \([\d.]+ rectangles", said)
    assert named
    for k, words in enumerate(named):
        other = tmp_path / f"{k}.h5"
        fine = ["rde", "--out", str(other), *FEW, *options, *shlex.split(words)]
        assert main(fine) == 0
        if "--require-order" not in words:
            assert "expect" not in capsys.readouterr().err
        assert verify(other).ok


def test_python_refuses_and_warns_too(tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError, match="hardly an order to find"):
        make_file("rde", tmp_path / "a.h5", train=2, test=1, config=TINY)
    with pytest.raises(SynthprobeError, match="hardly an order to find"):
        generate_folder(tmp_path / "a", RDE, TINY, shards=1, splits={"train": 2}, workers=1)
    assert list(tmp_path.iterdir()) == []
    short = RdeConfig(height=64, width=64)
    with pytest.warns(UserWarning, match="expect 6.6 of the 10 rectangles"):
        make_file("rde", tmp_path / "a.h5", train=2, test=1, config=short, cards=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_file("rde", tmp_path / "b.h5", train=2, test=1, cards=False)


def test_what_is_complete_is_kept_whatever_its_settings(tmp_path: Path) -> None:
    before = dataclasses.replace(RDE, check_expected=lambda _config, _splits: None)
    path, sizes = tmp_path / "a.h5", {"train": 3}
    made = generate_file(path, before, TINY, splits=sizes, workers=1)
    kept = generate_file(path, RDE, TINY, splits=sizes, workers=1, resume=True)
    assert kept.content_digest == made.content_digest


@pytest.mark.parametrize(("n_colors", "distinct"), [(1, 36), (10, 360)])
def test_distinct_samples_are_counted_right(n_colors: int, distinct: int) -> None:
    # Sides of 6 to 8 pixels in a picture of 8 by 8: six places on each axis.
    config = RdeConfig(height=8, width=8, n_rectangles=1, n_colors=n_colors)
    block = generate_block(config, 0, "train", 0, 6000)
    rows = zip(block["rectangles"].reshape(6000, -1), block["color"], strict=True)
    assert len({(tuple(sides), tuple(color)) for sides, color in rows}) == distinct
    found = look_ahead(config)
    assert found is not None
    assert abs(found.distinct / distinct - 1) < 0.1


def test_more_samples_than_distinct_scenes_are_refused() -> None:
    # All of it has an order: what is too much is the number of samples alone.
    lengths: dict[str, Any] = {"n_vis": 2, "n_gap": 2, "n_par": 2}
    config = RdeConfig(height=8, width=8, n_rectangles=2, require_order=True, **lengths)
    found = look_ahead(config)
    assert found is not None
    assert not found.is_degenerate
    block = generate_block(config, 0, "train", 0, 3000)
    rows = [scene.tobytes() for scene in block["rectangles"]]
    few = len(set(rows))
    assert few < 2900
    assert "equal to another" not in str(check_expected(config, {"train": 10}))
    with pytest.raises(SynthprobeError, match=r"only about .* distinct samples .* 200,000 asked"):
        check_expected(config, {"train": 150_000, "test": 50_000})


@pytest.mark.parametrize("config", [TINY, CROWDED, RdeConfig(height=64, width=64)])
def test_the_outlook_is_what_a_run_then_makes(config: RdeConfig) -> None:
    found = look_ahead(config)
    assert found is not None
    block = generate_block(config, 0, "train", 0, 400)
    numbers, flat = block["n_rectangles"], block["rectangle_rank"].max(axis=1) < 2
    assert abs(found.mean - numbers.mean()) < 0.3
    assert abs(found.flat - flat.mean()) < 0.1


@settings(max_examples=30)
@given(
    configs(
        height=st.integers(12, 20),
        width=st.integers(12, 20),
        n_rectangles=st.integers(1, 4),
        n_vis=st.integers(0, 3),
        n_gap=st.integers(0, 3),
        n_par=st.integers(0, 3),
        min_size=0.2,
        trials=40,
    )
)
def test_the_scenes_looked_at_are_those_that_a_sample_begins_with(config: RdeConfig) -> None:
    drawn = outlook._draw(config, 0, 12)
    firsts = []
    for index in range(12):
        try:
            block, tally = generate_with_tally(config, 0, outlook.SPLIT, index, 1)
        except SynthprobeError:
            continue
        if tally.sum() - tally[5] == tally[KEPT]:  # the first scene was kept
            firsts.append(block["rectangles"][0])
    assert [scene.tolist() for scene in drawn.rectangles] == [scene.tolist() for scene in firsts]
    for scene, n, flat in zip(drawn.rectangles, drawn.numbers, drawn.flat, strict=True):
        boxes = scene[:n].astype(np.int64)
        assert flat == reference.is_flat(boxes, config.height, config.width)


@pytest.mark.parametrize("require_order", [False, True])
@pytest.mark.parametrize("length", [1, 2])
def test_as_many_samples_are_equal_as_expected(require_order: bool, length: int) -> None:
    lengths: dict[str, Any] = dict.fromkeys(("n_vis", "n_gap", "n_par"), length)
    config = RdeConfig(height=8, width=8, n_rectangles=2, require_order=require_order, **lengths)
    found = look_ahead(config)
    assert found is not None
    block = generate_block(config, 0, "train", 0, 2000)
    rows = zip(block["rectangles"], block["color"], strict=True)
    times = Counter((sides.tobytes(), color.tobytes()) for sides, color in rows)
    equal = sum(n * (n - 1) // 2 for n in times.values())
    assert 0.5 < found.repeats(2000) / equal < 2
