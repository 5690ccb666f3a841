"""``--level``: settings that belong together, and what scenes of each level are like."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from synthprobe_data import RdeConfig, TwinsConfig, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.rde import RDE
from synthprobe_data.twins import TWINS

ROOT = Path(__file__).parents[3]
SMALL = ("--height", "64", "--width", "64", "--n-rectangles", "6", "--n-vis", "3")


def test_the_levels_at_the_settings_of_the_paper() -> None:
    found = {name: RdeConfig(**level.settings({})) for name, level in RDE.levels.items()}
    assert found == {
        "easy": RdeConfig(
            n_rectangles=5,
            min_rectangles=3,
            n_colors=10,
            min_size=0.2,
            n_vis=8,
            n_gap=8,
            n_par=8,
            min_depth=2,
        ),
        "paper": RdeConfig(),
        "hard": RdeConfig(
            n_vis=3,
            n_gap=3,
            n_par=3,
            min_depth=6,
            min_cue_distance=35,
            min_convexity_only=3,
        ),
    }


def test_what_is_given_beside_a_level_stays_and_the_rest_follows_by_shares(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    sizes = ("--train", "0", "--test", "4", "--workers", "1")
    assert main(["rde", "--out", str(out), "--level", "hard", *SMALL, *sizes]) == 0
    with open_dataset(out) as data:
        config = data.config
        assert isinstance(config, RdeConfig)
        assert (config.height, config.n_rectangles, config.n_vis, config.n_gap) == (64, 6, 3, 3)
        assert (config.min_depth, config.min_cue_distance, config.min_convexity_only) == (4, 17, 1)
        assert data["test"]["depth"].min() >= 4


def test_twins_take_the_scenes_of_a_level() -> None:
    paper = TwinsConfig(**TWINS.levels["paper"].settings({}))
    assert (paper.height, paper.width, paper.n_rectangles, paper.n_par) == (128, 128, 10, 5)
    assert TwinsConfig(**TWINS.levels["hard"].settings({"bands": 2})).min_depth == 6


def test_an_unknown_level_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rde", "--out", "a.h5", "--level", "harder"])
    assert ended.value.code == 2
    assert "'easy', 'paper', 'hard'" in capsys.readouterr().err


def test_the_rules_have_what_scenes_of_each_level_are_like() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "measure_levels.py"), run_name="tool")
    rules = (ROOT / "synthprobe_data" / "rde" / "RULES.md").read_text("utf-8")
    assert "\n".join(tool["table"]()) in rules
