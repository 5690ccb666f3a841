"""Tables of a page: figures are set to the right, words to the left."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from synthprobe_models.scoring.document import Document, markdown_table

ROWS = [
    ["name", "mean", "interval", "seeds", "what it is"],
    ["one", "+0.5", "0.1 to 1,000.9", "0, 1", "3 of them"],
    ["two", "12%", "", "2", "none"],
]


def test_figures_are_set_to_the_right_and_words_to_the_left() -> None:
    assert markdown_table(ROWS).splitlines()[1] == "| --- | ---: | ---: | ---: | --- |"
    document = Document("a")
    document.table(ROWS)
    page = document.to_html()
    assert '<td class="figures">+0.5</td><td class="figures">0.1 to 1,000.9</td>' in page
    assert "<td>3 of them</td>" in page
    assert "<th>name</th>" in page


def test_a_table_without_rows_is_its_head() -> None:
    assert markdown_table(ROWS[:1]).splitlines()[1] == "| --- | --- | --- | --- | --- |"
