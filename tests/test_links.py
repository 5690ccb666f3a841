"""Every link of every Markdown file leads to a file that is there, and to a heading that it has."""

from __future__ import annotations

import re
import subprocess
import urllib.parse
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("data_cards", "docs", "results", "synthprobe_data", "synthprobe_models")
PAGES = [
    *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "README")),
    *sorted(page for folder in OURS for page in (ROOT / folder).rglob("*.md")),
]
FENCE = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\1[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE
)
MARKER = re.compile(r"^<!-- file: (\S+) -->$", re.MULTILINE)


def without_code(text: str) -> str:
    return CODE.sub("", FENCE.sub("", text))


@cache
def anchors(page: Path) -> frozenset[str]:
    """What can be linked to in a page, as GitHub and our documentation name headings."""
    text = FENCE.sub("", page.read_text("utf-8"))
    found: list[str] = re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        again = sum(1 for one in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", one))
        found.append(f"{slug}-{again}" if again else slug)
    for path in MARKER.findall(text):  # a page of the documentation that shows another file
        found += anchors(ROOT / path)
    return frozenset(found)


def wrong_links(page: Path) -> list[str]:
    wrong = []
    for places in LINK.findall(without_code(page.read_text("utf-8"))):
        link = "".join(places)
        if re.match(r"https://|mailto:", link):
            continue
        name, _, anchor = urllib.parse.unquote(link).partition("#")
        there = (page.parent / name).resolve() if name else page
        found = there.exists() and there.is_relative_to(ROOT)
        if found and anchor and there.suffix == ".md":
            found = anchor in anchors(there)
        if not found:
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert wrong_links(page) == []


def test_wrong_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "a.md"
    page.write_text(
        "# One: `two`, [three](b.md)\n\n## Same\n\n## Same\n\n"
        "[y](#one-two-three) [y](#same-1) [n](#same-2) ![n](p.png) [n](http://x.org)\n"
        "[y](https://x.org) `[n](code.md)` [y](b.md#it) [n](b.md#its) [n](../c.md)\n\n"
        "```sh\n# it\n[n](fence.md)\n```\n\n[r]: gone.md\n",
        "utf-8",
    )
    (tmp_path / "b.md").write_text("# It\n", "utf-8")
    (tmp_path.parent / "c.md").write_text("# It\n", "utf-8")
    found = ["#same-2", "p.png", "http://x.org", "b.md#its", "../c.md", "gone.md"]
    assert sorted(wrong_links(page)) == sorted(found)


def test_what_is_linked_to_is_committed() -> None:
    try:
        words = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout")
    files = {ROOT / name for name in done.stdout.splitlines()}
    there = files | {folder for file in files for folder in file.parents}
    for page in files.intersection(PAGES):
        for places in LINK.findall(without_code(page.read_text("utf-8"))):
            name = urllib.parse.unquote("".join(places)).partition("#")[0]
            if name and not re.match(r"https://|mailto:", name):
                assert (page.parent / name).resolve() in there, (page, name)
