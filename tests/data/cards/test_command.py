"""The commands of a card: fit to be shown, and true."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from synthprobe_data import DATASETS, CenteredSquareConfig, ColorCodeConfig, RdeConfig
from synthprobe_data.cards.command import portable_command, same_rows_command
from synthprobe_data.centered_square import CENTERED_SQUARE
from synthprobe_data.cli.gen import build_parser
from synthprobe_data.color_code import COLOR_CODE
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.rde import RDE


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("synthprobe-gen rde --out rde.h5", "synthprobe-gen rde --out rde.h5"),
        ("/a/bin/synthprobe-gen rde --out=/b/c/rde.h5", "synthprobe-gen rde --out=rde.h5"),
        ("synthprobe-gen rde --out '/data/a b/c d/'", "synthprobe-gen rde --out 'c d'"),
        (r"'C:\tools\synthprobe-gen.exe' rde", "synthprobe-gen.exe rde"),
        ("x --scheduler tcp://10.0.0.1:8786", "x --scheduler ADDRESS"),
        ("x --out /", "x --out ."),
        ("x '/a/b", "x b"),
    ],
)
def test_paths_and_addresses_are_left_out(given: str, shown: str) -> None:
    assert portable_command(given) == shown


@pytest.mark.parametrize(
    ("dataset", "config", "seed", "splits"),
    [
        (RDE, RdeConfig(), 0, {"train": 50_000, "test": 12_500}),
        (RDE, RdeConfig(mode="rules"), 3, {"train": 5, "test": 0}),
        (RDE, RdeConfig(mode="rules", difficulty=True), 0, {"train": 5}),
        (RDE, RdeConfig(mode="ambiguous", blur=0.0, min_size=0.25), 2**64 - 1, {"test": 7}),
        (RDE, RdeConfig(height=40, n_colors=12, n_vis=3, trials=9), 0, {"train": 50_000}),
        (CENTERED_SQUARE, CenteredSquareConfig(), 0, {"train": 484, "test": 1_452}),
        (
            CENTERED_SQUARE,
            CenteredSquareConfig(height=24, square=9),
            0,
            {"train": 8 * 28, "test": 2},
        ),
        (COLOR_CODE, ColorCodeConfig(), 5, {"train": 20_000, "test": 10_000}),
        (COLOR_CODE, ColorCodeConfig(mode="paper", masked=0.25, bits=8), 0, {"train": 9}),
    ],
)
def test_the_command_asks_for_the_same_rows(
    dataset: Dataset, config: Config, seed: int, splits: dict[str, int]
) -> None:
    command = same_rows_command(dataset, config, seed=seed, splits=splits, out="a.h5", shards=None)
    assert command is not None
    program, *arguments = shlex.split(command)
    assert program == "synthprobe-gen"
    given = vars(build_parser().parse_args(arguments))
    assert given["dataset"] == dataset.name
    # An option that is not given leaves its setting at the default.
    asked = {name: given[name] for name in config.to_dict() if name in given}
    assert dataset.config(**asked) == config
    assert given["seed"] == seed
    assert {
        split: size if given[split] is None else given[split]
        for split, size in dataset.split_sizes(config).items()
    } == {split: splits.get(split, 0) for split in dataset.split_sizes(config)}


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS.keys())
def test_the_canonical_dataset_needs_no_options(dataset: Dataset) -> None:
    config = dataset.config()
    options: dict[str, Any] = {"seed": 0, "splits": dataset.sizes(config), "out": "x"}
    command = f"synthprobe-gen {dataset.name} --out x"
    assert same_rows_command(dataset, config, **options, shards=None) == command
    assert same_rows_command(dataset, config, **options, shards=8) == f"{command} --shards 8"


def test_a_split_that_no_command_makes_has_no_command() -> None:
    assert (
        same_rows_command(RDE, RdeConfig(), seed=0, splits={"other": 1}, out="a", shards=None)
        is None
    )
