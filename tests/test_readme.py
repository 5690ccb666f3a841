"""What the README says works: its Python, and its commands with their output."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def commands(program: str) -> list[list[str]]:
    lines = re.findall(rf"^synthprobe-{program} (.*)", "\n".join(blocks("sh")), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def without_times(text: str) -> str:
    return re.sub(r"[\d.]+ s with \d+ workers?", "T", text)


def test_it_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 165


def test_the_python_of_the_readme_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (snippet,) = (text for text in blocks("python") if "@structure" not in text)
    assert len(snippet.splitlines()) <= 5
    exec(snippet, {})
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("(128, 128, 3) Difficulty(")
    assert len(json.loads(said[1])) == 3


def test_the_commands_on_data_say_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from synthprobe_data.cli import gen, shards

    monkeypatch.chdir(tmp_path)
    shown = [without_times(text) for text in blocks("")]
    (make,), (verify,) = commands("gen"), commands("shards")
    assert gen.main(make) == 0
    assert without_times(capsys.readouterr().out) in shown
    assert shards.main(verify) == 0
    said = without_times(capsys.readouterr().out)
    (end,) = (text for text in shown if text.startswith("...\n     certificate"))
    assert said.endswith(end.removeprefix("...\n"))


def test_the_structure_of_the_readme_is_known_to_every_probe_and_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from synthprobe_models.cli.main import main
    from synthprobe_models.probes import PROBES
    from synthprobe_models.registry import STRUCTURES

    monkeypatch.chdir(tmp_path)
    (text,) = (text for text in blocks("python") if "@structure" in text)
    assert len(text.splitlines()) <= 15
    exec(text, {})
    try:
        for probe in PROBES.values():
            probe.make("cross", width=8)
        del STRUCTURES["cross"]
        Path("my_structures.py").write_text(text, "utf-8")
        inspected = next(words for words in commands("probe") if words[0] == "inspect")
        assert main([*inspected, "--width", "8"]) == 0
    finally:
        del STRUCTURES["cross"]
    said = capsys.readouterr().out
    (shown,) = (text for text in blocks("") if text.startswith("...\none layer, 28 x 28"))
    before, *lines, after = shown.splitlines()
    assert before == after == "..."  # more is said than is shown, and the README says so
    # Errors differ from machine to machine, and with the width: not what they say.
    for line in lines:
        assert line.partition("error")[0] in said


def test_the_other_commands_of_the_readme_are_understood() -> None:
    from synthprobe_models.cli.main import build_parser

    words = commands("probe")
    assert {one[0] for one in words} == {"inspect", "profile", "score"}
    for one in words:
        build_parser().parse_args(one)
