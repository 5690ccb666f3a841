"""The documentation: built as `make docs` does it, all its links followed, its Python run."""

from __future__ import annotations

import html.parser
import itertools
import os
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built with warnings as errors."""
    pytest.importorskip("sphinx")
    pytest.importorskip("torch")
    out = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*words, "-d", str(out / "trees"), str(DOCS), str(out / "html")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return out / "html"


class Links(html.parser.HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.add(value)
            if name == "id" and value:
                self.anchors.add(value)


def test_every_link_of_every_page_leads_somewhere(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 20
    wrong = []
    for page, links in pages.items():
        for target in links.targets:
            if re.match(r"(https?|mailto|data):", target):
                assert not target.startswith("http:")
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            there = page if not name else (page.parent / name.partition("?")[0]).resolve()
            found = not anchor or there not in pages or anchor in pages[there].anchors
            if not (there.exists() and found):
                wrong.append(f"{page.name}: {target}")
    assert wrong == []


def test_no_page_asks_another_server_for_anything(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r"<(script|img|link)[^>]*(src|href)=\"https?:", text), page


def test_the_reference_has_every_public_name_and_every_option(site: Path) -> None:
    import synthprobe_data
    import synthprobe_models

    python = (site / "reference" / "python.html").read_text("utf-8")
    for package in (synthprobe_data, synthprobe_models):
        for name in package.__all__:
            assert f'id="{package.__name__}.{name}"' in python
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    for option in ("--n-rectangles", "--repair", "--optimizer-options", "--print-completion"):
        assert option in commands
    assert "DATASET</span></code> :" not in commands  # a name without a meaning


def test_no_page_shows_an_option_with_a_dash_for_its_two_hyphens(site: Path) -> None:
    wrong = [
        f"{page.name}: {found}"
        for page in site.rglob("*.html")
        for found in re.findall(r"(?<!\w)–[a-z][\w-]*", page.read_text("utf-8"))
    ]
    assert wrong == []


def test_no_page_has_a_heading_right_under_the_same_one(site: Path) -> None:
    for page in site.rglob("*.html"):
        heads = re.findall(r"<h[1-6]>(.*?)<a|<p>", page.read_text("utf-8"))
        pairs = itertools.pairwise(heads)  # empty where a paragraph begins
        assert [one for one, next_one in pairs if one and one == next_one] == [], page


def python_of(page: Path) -> str:
    return "".join(re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL))


def test_the_python_of_the_tutorial_and_the_how_to_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from synthprobe_data import make_file
    from synthprobe_models.registry import STRUCTURES

    monkeypatch.chdir(tmp_path)
    make_file("rde", "small.h5", train=1, test=8, workers=1, cards=False)
    try:
        exec(python_of(DOCS / "tutorial.md"), {})
    finally:
        STRUCTURES.pop("cross", None)
    assert capsys.readouterr().out.startswith("(128, 128, 3)")
    names: dict[str, object] = {}
    exec(python_of(DOCS / "how-to" / "python.md"), names)
    assert 0 < names["targets"].min() <= names["targets"].max() <= 1  # type: ignore[attr-defined]
    exec(python_of(DOCS / "explanation" / "solver.md"), {})
    assert "'convexity': True" in capsys.readouterr().out
