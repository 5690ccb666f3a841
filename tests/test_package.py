"""What the package index shows: addresses, and a description that does without the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import synthprobe_data

ROOT = Path(__file__).parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
HOOK = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
PICTURES = "https://raw.githubusercontent.com/synthprobe/synthprobe/main/"
FILES = "https://github.com/synthprobe/synthprobe/blob/main/"


@pytest.fixture(scope="module")
def description() -> str:
    """The description of the package, put together as the build does it."""
    text = "".join((ROOT / part["path"]).read_text("utf-8") for part in HOOK["fragments"])
    for substitution in HOOK["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    return text


def targets(text: str) -> tuple[list[str], list[str]]:
    """Of all pictures, and of all links, in Markdown outside code."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    found = re.findall(r"(!?)\[[^\]\n]*\]\(([^)]+)\)", prose)
    return [to for mark, to in found if mark], [to for mark, to in found if not mark]


def test_every_picture_and_link_has_its_whole_address(description: str) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for before, after, home in zip(
        targets(readme), targets(description), (PICTURES, FILES), strict=True
    ):
        assert len(before) == len(after) > 1
        for here, there in zip(before, after, strict=True):
            if here.startswith(("https://", "#")):
                assert there == here
            else:
                assert there == home + here
                assert (ROOT / here.partition("#")[0]).exists()


def test_code_is_left_as_it_is(description: str) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    code = re.compile(r"```.*?```", re.DOTALL)
    assert code.findall(description) == code.findall(readme)


def test_the_project_has_addresses() -> None:
    urls = PYPROJECT["project"]["urls"]
    assert {"Homepage", "Source", "Issues"} <= set(urls)
    assert all(url.startswith("https://") for url in urls.values())
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"repository-code: {urls['Source']}\n" in citation
    assert PYPROJECT["project"]["dynamic"] == ["readme", "version"]


def test_the_version_is_written_once_and_the_citation_has_it() -> None:
    source = PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert (ROOT / source).samefile(Path(synthprobe_data.__file__))
    assert "version" not in PYPROJECT["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == synthprobe_data.__version__
