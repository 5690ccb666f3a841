"""Samples stay what they are, on every platform and with every version of the libraries."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from synthprobe_data.rde import RDE, RdeConfig
from synthprobe_data.shards.digest import content_digest

GOLDEN = json.loads(resources.files("synthprobe_data.rde").joinpath("golden.json").read_text())


def test_the_golden_digests_are_of_this_version() -> None:
    assert GOLDEN["version"] == RDE.version


@pytest.mark.parametrize(
    "case", GOLDEN["cases"], ids=lambda case: f"{case['seed']}-{case['split']}-{case['config']}"
)
def test_samples_have_their_golden_digest(case: dict[str, Any]) -> None:
    config = RdeConfig.from_dict(case["config"])
    block, _ = RDE.generate_block(config, case["seed"], case["split"], case["start"], case["rows"])
    assert content_digest(block) == case["content_digest"]
