"""The options of the three commands: one name for one thing, with a help that stands by itself."""

from __future__ import annotations

import argparse
from collections import defaultdict

import pytest

pytest.importorskip("torch")

from synthprobe_data.cli import gen, shards
from synthprobe_models.cli import main as probe

OLD_NAMES = {
    ("synthprobe-shards verify", "--sample"),
    ("synthprobe-probe score", "--limit"),
    ("synthprobe-probe export", "--license"),
}
"""Options that have another name now; the old one still works."""
OF_SEVERAL_KINDS = {"--out", "--rows"}
"""What is written, and which rows, is another thing in each command."""


def leaves(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= {command.prog: command for command in action.choices.values()}
    return found


COMMANDS = {
    name: command
    for module in (gen, shards, probe)
    for name, command in leaves(module.build_parser()).items()
}
OPTIONS = [
    (name, action)
    for name, command in COMMANDS.items()
    for action in command._actions
    if action.option_strings
]


def test_every_option_says_what_it_does_and_old_names_are_hidden() -> None:
    hidden = {(n, a.option_strings[0]) for n, a in OPTIONS if a.help == argparse.SUPPRESS}
    assert hidden == OLD_NAMES
    for name, action in OPTIONS:
        if action.help != argparse.SUPPRESS:
            assert action.help, (name, action.option_strings)
            assert not action.help.endswith("."), (name, action.option_strings)


def test_an_option_takes_the_same_kind_of_value_in_every_command() -> None:
    kinds = defaultdict(set)
    for _, action in OPTIONS:
        if action.help != argparse.SUPPRESS:
            kinds[action.option_strings[-1]].add((action.metavar, type(action).__name__))
    several = {option for option, found in kinds.items() if len(found) > 1}
    assert several == OF_SEVERAL_KINDS


def test_a_licence_is_named_by_one_option_in_every_command() -> None:
    named = {
        (name, option)
        for name, action in OPTIONS
        if action.help != argparse.SUPPRESS
        for option in action.option_strings
        if option.startswith("--licen")
    }
    assert named == {
        ("synthprobe-probe export", "--licence"),
        ("synthprobe-probe score", "--licence"),
    }


def test_the_help_of_an_option_is_more_than_its_default() -> None:
    for name, action in OPTIONS:
        assert not (action.help or "").startswith("("), (name, action.option_strings)


def test_every_command_has_what_all_have() -> None:
    for name, command in COMMANDS.items():
        for option in ("--help", "--version", "--quiet", "--verbose"):
            assert option in command._option_string_actions, (name, option)


def test_what_prints_a_table_prints_json_too() -> None:
    said = {name: a.help for name, a in OPTIONS if a.option_strings == ["--json"]}
    without = {name.split()[1] for name in COMMANDS if name not in said}
    # These write files, and print their names.
    files = {"card", "preview", "explain", "browse", "merge", "select", "split", "export"}
    assert without == files | {"push", "pull", "ready"}
    assert all(str(text).startswith("as JSON, for programs") for text in said.values())


def test_what_has_a_default_that_is_a_number_says_it() -> None:
    for name, action in OPTIONS:
        if type(action.default) in (int, float) and action.metavar is not None:
            told = action.help or ""
            assert f"({action.default:g}" in told or "no effect" in told, (name, action.dest)
