"""What the README says works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_python_of_the_readme_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(snippets) == 4
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(snippet, names)
    assert names["targets"].min() > 0  # type: ignore[attr-defined]
    assert names["targets"].max() <= 1  # type: ignore[attr-defined]
    assert "'convexity': True" in capsys.readouterr().out


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text("utf-8"))
    assert links
    for link in links:
        assert (README.parent / link).exists(), link
