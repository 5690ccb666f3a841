"""``--palette``: colours that each picture draws for itself, and lists of one's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, TwinsConfig, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.random import STREAM_LENGTH, open_stream, stream_key
from synthprobe_data.rde import RDE, reference, solve
from synthprobe_data.rde.color_file import read_colors
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.rde.kernels.apart import drawn_apart, least_apart
from synthprobe_data.rde.kernels.colors import draw_palette
from synthprobe_data.rde.readable import can_be_read, check_certifiable, most_drawn
from synthprobe_data.rde.solver import check_distant
from synthprobe_data.rde.solver.deblur import deblurring
from synthprobe_data.rde.verify import check_block, row_checks
from synthprobe_data.strategies import (
    GeneratedSample,
    TwinPair,
    configs,
    generated_samples,
    seeds,
    twin_pairs,
    twins_configs,
)
from synthprobe_data.twins import reference as twins_reference
from synthprobe_data.verification.verify import verify

SMALL: dict[str, Any] = {
    "height": 40,
    "width": 40,
    "n_rectangles": 5,
    "n_vis": 2,
    "n_gap": 2,
    "n_par": 2,
}
OPTIONS = (
    *("--height", "40", "--width", "40", "--n-rectangles", "2..5", "--n-vis", "2"),
    *("--n-gap", "2", "--n-par", "2", "--train", "12", "--test", "4", "--workers", "1"),
)
certified = generated_samples(
    configs(
        mode="certified",
        palette="random",
        n_colors=None,
        n_rectangles=st.integers(4, 6),
        min_rectangles=st.integers(1, 3),
        blur=st.sampled_from([0.0, 0.5, 0.7]),
    )
)


def opened(seed: int, split: str, index: int) -> np.ndarray:
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(seed, "rde", split), index)
    return stream


def distances(colors: np.ndarray) -> list[int]:
    """Of all pairs of colours, black among them, in the channel in which they differ most."""
    values = [(0, 0, 0), *colors.astype(int).tolist()]
    return [
        max(abs(x - y) for x, y in zip(a, b, strict=True))
        for i, a in enumerate(values)
        for b in values[:i]
    ]


# ------------------------------------------------------------------------------------------- bound


@given(st.floats(0.0, 0.8))
def test_colours_that_are_drawn_so_far_apart_can_be_told_by_the_solver(blur: float) -> None:
    apart = least_apart(blur, known=False)
    if apart <= 255:
        check_distant(apart, blur=blur)
        assert apart > 4 * deblurring(blur).error


def test_the_bounds_that_the_rules_name() -> None:
    assert least_apart(0.7) == 33
    assert least_apart(0.7, known=False) == 65
    assert most_drawn(65) == 31
    with pytest.raises(SynthprobeError, match="more than 64 apart"):
        check_distant(63, blur=0.7)


def test_what_is_not_certified_asks_for_no_more_than_the_canonical_blur() -> None:
    assert drawn_apart("certified", 0.74) > drawn_apart("rules", 0.74) == 65
    assert drawn_apart("rules", 4.0) == 65
    assert drawn_apart("rules", 0.0) == least_apart(0.0, known=False)


# --------------------------------------------------------------------------------------- generated


@given(seeds(), st.integers(0, 2**40), st.integers(1, 100), st.integers(1, 8))
def test_a_palette_is_that_of_the_reference(seed: int, index: int, apart: int, n: int) -> None:
    one, other = opened(seed, "train", index), opened(seed, "train", index)
    palette = np.zeros((n, 3), np.uint8)
    assert draw_palette(one, apart, palette)
    assert palette.tolist() == reference.draw_palette(other, apart, n).tolist()
    assert one.tolist() == other.tolist()
    assert min(distances(palette)) >= apart


def test_a_palette_that_cannot_be_is_given_up() -> None:
    assert not draw_palette(opened(0, "train", 0), 200, np.zeros((20, 3), np.uint8))


@settings(max_examples=60)
@given(certified)
def test_a_certified_sample_of_its_own_colours_is_read_off_its_pixels_alone(
    drawn: GeneratedSample,
) -> None:
    config, sample = drawn.config, drawn.sample
    assert min(distances(sample["palette"])) >= drawn_apart(config.mode, config.blur)
    label = reference.paint(drawn.rectangles, config.height, config.width)
    colors = sample["color"][: drawn.n]
    expected = reference.render(label, colors, sample["palette"], config.blur)
    assert sample["image"].tolist() == expected.tolist()
    reading = solve(sample["image"], blur=config.blur)
    assert reading.unambiguous
    assert reading.rank.tolist() == sample["rank"].tolist()
    assert reading.has_regions_of(sample["label"])
    rows = {name: values[None] for name, values in sample.items()}
    assert not check_block(config, rows).any()


def test_colours_do_not_change_the_scenes() -> None:
    plain = generate_block(RdeConfig(**SMALL), 0, "train", 0, 8)
    own = generate_block(RdeConfig(palette="random", **SMALL), 0, "train", 0, 8)
    for name in ("rectangles", "rank", "label", "above", "n_rectangles"):
        assert (plain[name] == own[name]).all()
    assert len({row.tobytes() for row in own["palette"]}) == 8


def test_verify_finds_a_colour_that_is_too_near_another() -> None:
    config = RdeConfig(palette="random", **SMALL)
    block = generate_block(config, 0, "train", 0, 3)
    block["palette"][1, 4] = block["palette"][1, 3]
    found = check_block(config, block)
    assert found[1] & 1 << list(row_checks(config)).index("palette")
    assert not found[[0, 2]].any()


@settings(max_examples=10)
@given(
    twin_pairs(
        twins_configs(
            palette="random",
            width=st.integers(16, 24),
            bands=st.integers(1, 2),
            min_distance=st.integers(1, 6),
            difficulty=False,
        )
    )
)
def test_twins_share_their_colours_and_are_those_of_the_reference(drawn: TwinPair) -> None:
    stream = np.zeros(STREAM_LENGTH, np.uint64)
    open_stream(stream, stream_key(drawn.seed, "twins", drawn.split), drawn.index)
    pair = twins_reference.draw_pair(drawn.config, stream)
    for twin, row in enumerate(twins_reference.rows(drawn.config, pair)):
        assert set(row) == set(drawn.block)
        for name, right in row.items():
            assert (drawn.block[name][twin] == right).all(), name
    assert (drawn.block["palette"][0] == drawn.block["palette"][1]).all()


# ------------------------------------------------------------------------------------------- files


def test_the_command_writes_them_and_everything_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "own.h5"
    assert main(["rde", "--out", str(path), *OPTIONS, "--palette", "random"]) == 0
    report = verify(path, pixels=True)
    assert report.ok
    with open_dataset(path) as data:
        assert data["train"][0]["palette"].shape == (5, 3)
        assert "palette" not in RDE.attributes(data.config)
    card = path.with_suffix(".md").read_text("utf-8")
    assert "--palette random" in card
    assert "| `palette` |" in card


def test_twins_take_the_same_options(tmp_path: Path) -> None:
    path = tmp_path / "twins.h5"
    size = ("--height", "24", "--min-distance", "4", "--train", "6", "--validation", "0")
    options = ("--n-rectangles", "2..4", "--palette", "random", "--test", "0", "--workers", "1")
    assert main(["twins", "--out", str(path), *size, *options]) == 0
    assert verify(path, pixels=True).ok


def test_a_list_of_ones_own_is_kept_in_the_file(tmp_path: Path) -> None:
    colors = tmp_path / "colors.txt"
    colors.write_text("#ff0000\n0, 200 , 0 // green\n\n0 0 255\n#FFFFFF\n128 128 128\n")
    path = tmp_path / "mine.h5"
    assert main(["rde", "--out", str(path), *OPTIONS, "--palette", str(colors)]) == 0
    assert verify(path, pixels=True).ok
    with open_dataset(path) as data:
        assert data.config.to_dict()["palette"][1] == [0, 200, 0]
        assert RDE.attributes(data.config)["palette"].shape == (5, 3)
        assert "palette" not in data["train"][0]


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#ff0000\n#0000ff\n#ff2000\n#ffffff\n#00ff00\n", "#ff0000 and #ff2000 .* 32 levels apart"),
        ("#ff0000\n#0000ff\n#101010\n#ffffff\n#00ff00\n", "#000000 and #101010 .* 16 levels apart"),
        ("#ff0000\n#0000ff\n", "palette has 2 colours: each of 5 rectangles needs its own"),
        ("", "a list of 1 to 63 colours"),
        ("#ff0000\nred\n", "line 2 is 'red', which is no colour"),
        ("#ff0000\n1 2 256\n", "line 2 is '1 2 256'"),
        ("#ff0000\n#ff0000\n", r"\(255, 0, 0\) twice"),
        ("\0", "is not a text file"),
    ],
)
def test_a_wrong_file_gets_one_sentence_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    colors = tmp_path / "colors.txt"
    colors.write_text(text)
    path = tmp_path / "a.h5"
    assert main(["rde", "--out", str(path), *OPTIONS, "--palette", str(colors)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(said, error), error
    assert not path.exists()


def test_a_file_that_is_not_there_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError, match="neither hues nor random"):
        read_colors(tmp_path / "none.txt")


def test_colours_too_near_for_a_certificate_are_allowed_without_one() -> None:
    near: Any = [[255, 0, 0], [255, 20, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
    config = RdeConfig(palette=near, mode="rules", **SMALL)
    check_certifiable(config)
    assert not can_be_read(config)
    assert not check_block(config, generate_block(config, 0, "train", 0, 4)).any()


def test_settings_that_make_no_sense_together_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="n_colors is 12"):
        RdeConfig(palette="random", n_colors=12)
    with pytest.raises(SynthprobeError, match="must be hues or random"):
        RdeConfig(palette="rainbow")
    with pytest.raises(SynthprobeError, match="three whole numbers from 0 to 255"):
        RdeConfig(palette=[[1, 2]])  # type: ignore[arg-type]
    with pytest.raises(SynthprobeError, match="leaves room for 31 of them, not for 32"):
        check_certifiable(RdeConfig(palette="random", n_rectangles=32))
    with pytest.raises(SynthprobeError, match="leaves room for 0 of them"):
        check_certifiable(TwinsConfig(palette="random", blur=0.8))
    check_certifiable(RdeConfig(palette="random", n_rectangles=31))
