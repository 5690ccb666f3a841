"""What is certified can be read from its pixels: the generator's bound, and the solver's own."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, make_file, make_sample, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import CANONICAL, RDE
from synthprobe_data.rde.readable import check_certifiable, is_readable, most_blur
from synthprobe_data.rde.reference import palette
from synthprobe_data.rde.solver import check_readable
from synthprobe_data.verification.verify import verify

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
COLORS = range(1, 64)


def solver_reads(blur: float, n_colors: int) -> bool:
    try:
        check_readable(palette(n_colors), blur=blur)
    except SynthprobeError:
        return False
    return True


@given(st.floats(0.0, 1.0) | st.floats(0.0, 4.0), st.sampled_from(COLORS))
def test_the_solver_reads_whatever_is_called_readable(blur: float, n_colors: int) -> None:
    assert solver_reads(blur, n_colors) or not is_readable(blur, n_colors)


def test_the_limit_is_the_solvers_to_a_hundredth_for_every_palette() -> None:
    for blur in [*(k / 100 for k in range(100)), *(k / 10 for k in range(10, 40))]:
        for n_colors in COLORS:
            if is_readable(blur, n_colors):
                assert solver_reads(blur, n_colors), (blur, n_colors)
            else:
                assert not solver_reads(blur + 0.01, n_colors), (blur, n_colors)


def test_the_limits_that_the_rules_name() -> None:
    assert [most_blur(n) for n in (1, 6, 10, 63)] == [0.83, 0.83, 0.78, 0.61]
    check_certifiable(CANONICAL)


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        (["--blur", "3"], "blur is 3: .* 10 colours, .* at most 0.78, or --no-certify"),
        (["--blur", "0.84"], "blur is 0.84: .* at most 0.78"),
        (["--blur", "0.8", "--n-colors", "63"], "63 colours, .* at most 0.61"),
        (["--n-rectangles", "60"], "blur is 0.7: .* 60 colours, .* at most 0.6"),
        (["--blur", "1", "--shards", "2"], "blur is 1: .* at most 0.78"),
    ],
)
def test_the_command_refuses_to_certify_what_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], limit: str
) -> None:
    out = tmp_path / "out.h5"
    out.write_text("mine")
    command = ["rde", "--out", str(out), "--train", "2", "--test", "1", "--force", *options]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.search(limit, said)
    assert out.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.h5"]


@pytest.mark.parametrize("flag", ["--no-certify", "--ambiguous"])
def test_without_the_certificate_any_blur_will_do(tmp_path: Path, flag: str) -> None:
    out = tmp_path / "a.h5"
    sizes = [
        "--height",
        "40",
        "--width",
        "40",
        "--n-rectangles",
        "3",
        "--train",
        "2",
        "--test",
        "1",
    ]
    assert main(["rde", "--out", str(out), "--blur", "3", *sizes, flag]) == 0
    report = verify(out)
    assert report.ok
    assert report.notes == []


def test_python_refuses_it_too_before_anything_is_made(tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, blur=3.0)
    with pytest.raises(SynthprobeError, match="no sample can be certified"):
        make_sample("rde", index=0, config=config)
    with pytest.raises(SynthprobeError, match="no sample can be certified"):
        make_file("rde", tmp_path / "a.h5", train=2, test=1, config=config)
    with pytest.raises(SynthprobeError, match="no sample can be certified"):
        generate_folder(tmp_path / "a", RDE, config, shards=1, splits={"train": 2}, workers=1)
    assert list(tmp_path.iterdir()) == []


def test_a_file_from_before_is_read_and_verified_and_not_called_readable(tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, blur=1.5)
    before = dataclasses.replace(RDE, check_new=lambda _config: None)
    path = tmp_path / "a.h5"
    generate_file(path, before, config, splits={"train": 3, "test": 2}, workers=1)
    assert open_dataset(path).config == config
    report = verify(path)
    assert report.ok
    assert report.done["regenerated"] == 5
    (note,) = report.notes
    assert "a.h5: no new samples are made with its settings: blur is 1.5: " in note
    assert "**not for the picture**" in path.with_suffix(".md").read_text("utf-8")
