"""Options of several words: in any order of words, and their keys in the help."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import DATASETS
from synthprobe_models.cli.main import build_parser
from synthprobe_models.cli.word_lists import LISTS, spread, stream_keys
from synthprobe_models.experiments import TABLES
from synthprobe_models.experiments.table import find_table
from synthprobe_models.probes import PROBES

PARTS = (["3"], ["--data", "mode=well-posed", "positions=24"], ["--rows", "lambda", "transformer"])


@pytest.mark.parametrize("parts", list(itertools.permutations((*PARTS, ["--seeds", "2"]))))
def test_the_words_of_a_table_may_stand_in_any_order(parts) -> None:
    words = ["table", *itertools.chain(*parts)]
    found = build_parser().parse_args(spread(words))
    assert (found.number, found.seeds) == (3, 2)
    assert found.data == ["mode=well-posed", "positions=24"]
    assert found.rows == ["lambda", "transformer"]


@pytest.mark.parametrize(
    "words",
    [
        ["--options", "heads=4", "lambda", "--on", "stream", "--data", "height=16", "width=16"],
        ["--on", "stream", "--data", "height=16", "--data=width=16", "--options=heads=4", "lambda"],
        ["--on=stream", "--data=height=16", "width=16", "lambda", "--options", "heads=4"],
    ],
)
def test_the_words_of_a_run_may_stand_in_any_order(words: list[str]) -> None:
    for command in (["train"], ["sweep", "--out", "x"]):
        found = build_parser().parse_args(spread([*command, *words]))
        assert (found.name, found.on, found.options) == ("lambda", "stream", ["heads=4"])
        assert found.data == ["height=16", "width=16"]


WORDS = st.sampled_from([*LISTS, "--seeds", "a=1", "b=-2", "3", "name", "--", "--data=c=3", "-x"])


@given(st.lists(WORDS, max_size=8))
def test_no_word_is_lost_and_none_changes_its_place(words: list[str]) -> None:
    found = spread(words)
    assert spread(found) == found
    values = [word for word in words if word not in LISTS]
    kept = []
    for word in found:
        flag, given, value = word.partition("=")
        if word not in LISTS:
            kept.append(value if flag in LISTS and given and word not in words else word)
    assert kept == values


@pytest.mark.parametrize("command", ["table", "train", "sweep"])
def test_the_help_lists_every_key(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args([command, "--help"])
    out = capsys.readouterr().out
    probes = [find_table(number).probe for number in TABLES] if command == "table" else PROBES
    for probe in probes:
        dataset = DATASETS[probe]
        section = out.partition(f"{probe}):\n")[2].partition("keys of")[0]
        keys = [line.split()[0] for line in section.splitlines() if line.startswith("  ")]
        assert keys[: len(dataclasses.fields(dataset.config))] == [
            field.name for field in dataclasses.fields(dataset.config)
        ]
    assert "one of well-posed, paper" in out
    if command == "table":
        assert "\n  batch              samples in a step (1 to 65536)\n" in out


@pytest.mark.parametrize("command", ["table", "train"])
def test_the_help_says_what_every_key_means(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args([command, "--help"])
    _, *sections = capsys.readouterr().out.split("\nkeys of ")
    lines = [line for section in sections for line in section.splitlines()[1:]]
    assert len(lines) > 20
    assert [line for line in lines if len(line.split()) < 2] == []


def test_the_keys_of_the_data_say_what_each_setting_takes() -> None:
    lines = stream_keys()
    heads = {name: lines.index(f"keys of --data ({name}):") for name in PROBES}
    for name, head in heads.items():
        end = min((other for other in heads.values() if other > head), default=len(lines))
        said = dict(line.split(maxsplit=1) for line in lines[head + 1 : end])
        for setting in dataclasses.fields(DATASETS[name].config):
            value = setting.default
            assert said[setting.name].startswith("true: ") == isinstance(value, bool)
            if setting.name == "mode":
                assert said["mode"].startswith(f"one of {value}, ")
