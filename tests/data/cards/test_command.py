"""The commands of a card: fit to be shown, and true."""

from __future__ import annotations

import shlex

import pytest

from synthprobe_data import RdeConfig
from synthprobe_data.cards.command import portable_command, same_rows_command
from synthprobe_data.cli import build_parser
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
    ("config", "seed", "splits"),
    [
        (RdeConfig(), 0, dict(RDE.splits)),
        (RdeConfig(mode="rules"), 3, {"train": 5, "test": 0}),
        (RdeConfig(mode="ambiguous", blur=0.0, min_size=0.25), 2**64 - 1, {"test": 7}),
        (RdeConfig(height=40, n_colors=12, n_vis=3, trials=9), 0, {"train": 50_000}),
    ],
)
def test_the_command_asks_for_the_same_rows(
    config: RdeConfig, seed: int, splits: dict[str, int]
) -> None:
    command = same_rows_command(RDE, config, seed=seed, splits=splits, out="a.h5", shards=None)
    assert command is not None
    program, *arguments = shlex.split(command)
    assert program == "synthprobe-gen"
    given = vars(build_parser().parse_args(arguments))
    assert RdeConfig.from_dict({name: given[name] for name in config.to_dict()}) == config
    assert given["seed"] == seed
    assert {split: given[split] for split in RDE.splits} == {
        split: splits.get(split, 0) for split in RDE.splits
    }


def test_the_canonical_dataset_needs_no_options() -> None:
    options = {"seed": 0, "splits": RDE.splits, "out": "rde"}
    assert (
        same_rows_command(RDE, RdeConfig(), **options, shards=None)
        == "synthprobe-gen rde --out rde"
    )
    assert same_rows_command(RDE, RdeConfig(), **options, shards=8) == (
        "synthprobe-gen rde --out rde --shards 8"
    )


def test_a_split_that_no_command_makes_has_no_command() -> None:
    assert (
        same_rows_command(RDE, RdeConfig(), seed=0, splits={"other": 1}, out="a", shards=None)
        is None
    )
