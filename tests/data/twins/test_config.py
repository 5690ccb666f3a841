"""The settings of twins: the defaults of the probe, and one sentence for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from synthprobe_data import DATASETS, SynthprobeError, TwinsConfig
from synthprobe_data.config import options
from synthprobe_data.rde.config import RdeConfig
from synthprobe_data.twins.config import check_sizes


def test_the_defaults_are_strips_with_one_far_pair() -> None:
    config = TwinsConfig()
    assert (config.height, config.width, config.n_rectangles, config.bands) == (8, 64, 2, 1)
    assert (config.n_vis, config.n_gap, config.n_par, config.min_size) == (2, 2, 2, 0.3)
    assert (config.min_distance, config.mode, config.palette_size) == (24, "certified", 2)
    assert DATASETS["twins"].sizes(config) == {"train": 40_000, "validation": 4_000, "test": 4_000}


def test_every_setting_of_rde_is_one_of_twins() -> None:
    assert set(RdeConfig().to_dict()) < set(TwinsConfig().to_dict())
    ranges = {s.name: (s.metadata["low"], s.metadata["high"]) for s in options(TwinsConfig)}
    for setting in options(RdeConfig):
        if setting.name not in ("n_rectangles", "min_rectangles", "n_colors"):  # a pair needs two
            low, high = setting.metadata["low"], setting.metadata["high"]
            assert ranges[setting.name] == (low, high), setting.name


def test_bands_are_stacked_with_gaps_between_them() -> None:
    config = TwinsConfig(bands=3, band_gap=9)
    assert config.picture_height == 3 * 8 + 2 * 9
    assert [config.band_top(b) for b in range(3)] == [0, 17, 34]
    assert config.most_rectangles == config.palette_size == 6


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_rectangles": 1}, "n_rectangles is 1"),
        ({"bands": 0}, "bands is 0"),
        ({"min_distance": 0}, "min_distance is 0"),
        ({"min_distance": 64}, "min_distance is 64: it must be less than the longer side"),
        ({"bands": 2, "band_gap": 3}, "band_gap is 3: .* bands would touch each other"),
        ({"bands": 2, "blur": 4.0}, "band_gap is 8"),
        ({"bands": 30, "n_rectangles": 4}, "at most [0-9]+ rectangles, not 120"),
        ({"bands": 2, "n_colors": 3}, "n_colors is 3: each of the 4 rectangles"),
        ({"bands": 20, "height": 64}, "20 bands of height 64 make a picture of"),
        ({"mode": "other"}, "mode is 'other'"),
        ({"height": 2.5}, "height is 2.5"),
    ],
)
def test_wrong_settings_get_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SynthprobeError, match=sentence) as raised:
        TwinsConfig(**settings)
    assert len(str(raised.value).splitlines()) == 1


def test_a_split_of_one_twin_without_the_other_is_refused() -> None:
    check_sizes(TwinsConfig(), {"train": 4, "test": 0})
    with pytest.raises(SynthprobeError, match="test is 3: samples come in pairs of twins"):
        check_sizes(TwinsConfig(), {"train": 4, "test": 3})


def test_settings_survive_a_file() -> None:
    config = TwinsConfig(bands=4, min_distance=9, n_colors=11, mode="rules", difficulty=True)
    assert TwinsConfig.from_dict(config.to_dict()) == config
