"""The table of what the documents name: its links lead somewhere, and names are where they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "synthprobe_models" / "DOCUMENTS.md"
TEXT = PAGE.read_text("utf-8")
ROWS = [line.strip("|").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
ITEMS = [[cell.strip() for cell in row] for row in ROWS if row[0].strip() != "item"]
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def test_every_row_has_item_section_place_test_and_how_exact_it_is() -> None:
    assert len(ITEMS) > 70
    for row in ITEMS:
        assert len(row) == 5, row
        assert all(row), row
        assert re.match(r"[PSNRV] ", row[1]), row
    assert len({row[0] for row in ITEMS}) == len(ITEMS)
    assert {row[1][0] for row in ITEMS} == set("PSNRV")


@pytest.mark.parametrize("row", ITEMS, ids=lambda row: row[0])
def test_names_are_in_the_files_that_they_link_to(row: list[str]) -> None:
    places = LINK.findall(row[2])
    assert places
    for label, link in places:
        path = PAGE.parent / link
        assert path.is_file(), link
        name = label.strip("`")
        defined = re.compile(
            rf"""^(class|def) {re.escape(name)}\b|^{re.escape(name)}: |f?"{name}""", re.M
        )
        assert defined.search(path.read_text("utf-8")), (label, link)


@pytest.mark.parametrize("row", ITEMS, ids=lambda row: row[0])
def test_every_item_has_a_test_that_is_there(row: list[str]) -> None:
    tests = LINK.findall(row[3])
    assert tests
    for _, link in tests:
        path = PAGE.parent / link
        assert path.exists(), link
        assert "tests" in path.parts
