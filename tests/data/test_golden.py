"""Samples stay what they are, on every platform and with every version of the libraries."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from synthprobe_data import DATASETS
from synthprobe_data.shards.digest import content_digest


def golden(name: str) -> dict[str, Any]:
    folder = resources.files(f"synthprobe_data.{name.replace('-', '_')}")
    return json.loads(folder.joinpath("golden.json").read_text("utf-8"))


@pytest.mark.parametrize("name", DATASETS)
def test_the_golden_digests_are_of_this_version(name: str) -> None:
    assert golden(name)["version"] == DATASETS[name].version


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, id=f"{name}-{case['seed']}-{case['split']}-{case['config']}")
        for name in DATASETS
        for case in golden(name)["cases"]
    ],
)
def test_samples_have_their_golden_digest(name: str, case: dict[str, Any]) -> None:
    dataset = DATASETS[name]
    config = dataset.config.from_dict(case["config"])
    block = dataset.generate_block(config, case["seed"], case["split"], case["start"], case["rows"])
    assert content_digest(block) == case["content_digest"]
