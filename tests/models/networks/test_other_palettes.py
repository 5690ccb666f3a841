"""Networks that tell colours need colours that are the same in all pictures."""

from __future__ import annotations

import pytest

from synthprobe_data import RdeConfig, SynthprobeError
from synthprobe_models.networks.rank_and_color import check_same_classes, with_classes
from synthprobe_models.registry import NETWORKS


def test_colours_that_each_picture_draws_are_no_classes() -> None:
    name = next(name for name in NETWORKS if _tells_colors(name))
    assert with_classes(name, {}, RdeConfig())["classes"] == 11
    with pytest.raises(SynthprobeError, match="no colours to tell"):
        with_classes(name, {}, RdeConfig(palette="random"))


def _tells_colors(name: str) -> bool:
    try:
        with_classes(name, {}, RdeConfig())
    except SynthprobeError:
        return False
    return True


def test_a_file_of_other_colours_is_refused() -> None:
    check_same_classes(RdeConfig(), RdeConfig())
    with pytest.raises(SynthprobeError, match="other colours"):
        check_same_classes(RdeConfig(), RdeConfig(palette="random"))
