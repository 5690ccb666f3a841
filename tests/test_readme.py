"""What the README says works."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def python_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_the_python_of_the_readme_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    snippets = [text for text in python_blocks() if "@structure" not in text]
    assert len(snippets) == 5
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(snippet, names)
    assert names["targets"].min() > 0  # type: ignore[attr-defined]
    assert names["targets"].max() <= 1  # type: ignore[attr-defined]
    assert "'convexity': True" in capsys.readouterr().out


def test_the_commands_of_the_readme_are_understood_and_write_to_names_of_their_own() -> None:
    from synthprobe_data.cli import gen as cli
    from synthprobe_data.cli import shards as shards_cli

    commands = re.findall(r"^synthprobe-(gen|shards) (.*)", README.read_text("utf-8"), re.MULTILINE)
    written = []
    for program, words in commands:
        parser = (cli if program == "gen" else shards_cli).build_parser()
        if "--help" not in words:
            given = parser.parse_args(shlex.split(words, comments=True))
            if program == "gen" and not given.resume and given.backend == "processes":
                written.append(given.out)
    assert len(written) >= 6
    assert len(set(written)) == len(written)


def test_the_structure_of_the_readme_is_known_to_every_probe_and_to_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from synthprobe_models.cli.main import main
    from synthprobe_models.probes import PROBES
    from synthprobe_models.registry import STRUCTURES

    (text,) = (text for text in python_blocks() if "@structure" in text)
    assert len(text.splitlines()) <= 15
    exec(text, {})
    try:
        for probe in PROBES.values():
            probe.make("cross", width=8)
        del STRUCTURES["cross"]
        (tmp_path / "my_structures.py").write_text(text, "utf-8")
        words = ["inspect", "cross", "--load", str(tmp_path / "my_structures.py"), "--json"]
        assert main([*words, "--width", "8", "--shape", "12x13", "--out", str(tmp_path)]) == 0
    finally:
        del STRUCTURES["cross"]
    facts = json.loads(capsys.readouterr().out)
    assert facts["sights"][0]["reached"]["centre"]["share"] == (12 + 13 - 1) / (12 * 13)
    assert (tmp_path / "cross-centre.png").exists()


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text("utf-8"))
    assert links
    for link in links:
        assert (README.parent / link).exists(), link
