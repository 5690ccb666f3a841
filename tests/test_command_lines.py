"""The command lines of the documents: the parser takes each, and the options are there."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "results").rglob("*.md")),
    *sorted((ROOT / "data_cards").glob("*.md")),
    *sorted((ROOT / "synthprobe_data").rglob("*.md")),
    *sorted((ROOT / "synthprobe_models").rglob("*.md")),
]
FENCE = re.compile(r"^[ ]*(`{3,})(\w*)\n(.*?)^[ ]*\1[ ]*$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(synthprobe-(?:gen|shards|probe) [^`]+)`(?!`)")
PROGRAM = re.compile(r"synthprobe-(gen|shards|probe)$")
END = re.compile(r"[|;&>]+$|[0-9]?>.*")


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of each command of ours in the blocks of shell of a document."""
    for _, language, block in FENCE.findall(text):
        if language not in ("sh", "bash", "console"):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            # What is asked of a command in a command is a word like any other.
            for inner in re.findall(r"\$\((synthprobe-[^()]*)\)", line):
                yield shlex.split(inner)
            words = shlex.split(re.sub(r"\$\([^()]*\)", "INNER", line), comments=True)
            yield from _commands(words)


def _commands(words: list[str]) -> Iterator[list[str]]:
    for place, word in enumerate(words):
        if PROGRAM.match(word):
            rest = words[place + 1 :]
            stop = next((i for i, end in enumerate(rest) if END.match(end)), len(rest))
            yield [word, *rest[:stop]]


def parser_of(program: str) -> argparse.ArgumentParser:
    if program == "synthprobe-gen":
        from synthprobe_data.cli.gen import build_parser
    elif program == "synthprobe-shards":
        from synthprobe_data.cli.shards import build_parser
    else:
        pytest.importorskip("torch")
        from synthprobe_models.cli.main import build_parser
    return build_parser()


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


FOUND = [(page, words) for page in DOCUMENTS for words in command_lines(page.read_text("utf-8"))]


def test_there_are_many_of_them_from_every_program() -> None:
    assert len(FOUND) > 60
    assert {words[0] for _, words in FOUND} == {
        f"synthprobe-{p}" for p in ("gen", "shards", "probe")
    }


@pytest.mark.parametrize(
    ("page", "words"),
    FOUND,
    ids=[f"{page.relative_to(ROOT)}: {' '.join(words)[:60]}" for page, words in FOUND],
)
def test_the_parser_takes_the_line(page: Path, words: list[str]) -> None:
    check(words)


def check(words: list[str]) -> None:
    """Fails with what the parser says, if it does not take the words."""
    from synthprobe_models.cli.word_lists import spread

    rest = spread(words[1:]) if words[0] == "synthprobe-probe" else words[1:]
    try:
        parser_of(words[0]).parse_args(rest)
    except SystemExit as stop:
        if stop.code:  # --help and --version end well
            raise


def test_a_line_that_is_wrong_would_be_found(capsys: pytest.CaptureFixture[str]) -> None:
    text = "```sh\nsynthprobe-gen rde \\\n  --out a.h5 --nope 3  # a comment\n```\n"
    ((*words,),) = command_lines(text)
    assert words == ["synthprobe-gen", "rde", "--out", "a.h5", "--nope", "3"]
    with pytest.raises(SystemExit):
        check(words)
    assert "--nope" in capsys.readouterr().err


def test_options_that_are_named_in_a_sentence_are_there() -> None:
    checked = 0
    for page in DOCUMENTS:
        for code in INLINE.findall(FENCE.sub("", page.read_text("utf-8"))):
            program, *words = code.split()
            commands = subparsers(parser_of(program))
            if not words or words[0] not in commands:
                assert words[:1] == ["my-dataset"] or words[0].startswith("-"), (page, code)
                continue
            known = commands[words[0]]._option_string_actions
            for option in re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", code):
                assert option in known, (page, code)
                checked += 1
    assert checked > 10
