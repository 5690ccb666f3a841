"""The cards in ``data_cards/`` say what new ones would, of the samples that a new run makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synthprobe_data import DATASETS, make_file

FOLDER = Path(__file__).parents[3] / "data_cards"


@pytest.mark.parametrize("name", DATASETS)
def test_the_words_of_a_card_are_those_of_today(name: str) -> None:
    about, config = DATASETS[name].card, DATASETS[name].config()
    card = (FOLDER / f"{name}.md").read_text("utf-8")
    for text in (
        about.summary,
        *about.good_for,
        *about.not_for,
        about.attributes,
        about.checks(config),
        about.picture_shows,
    ):
        assert text in card
    for setting, value in config.to_dict().items():
        assert f"| `{setting}` | {'not set' if value is None else value} |" in card
    croissant = json.loads((FOLDER / f"{name}.croissant.json").read_text("utf-8"))
    for file in croissant["distribution"]:
        assert f"{file['sha256']}  {file['name']}\n" in card


@pytest.mark.parametrize("name", ["centered-square", "color-code", "twins"])  # RDE takes too long
def test_the_digest_of_a_card_is_that_of_a_new_run(name: str, tmp_path: Path) -> None:
    made = make_file(name, tmp_path / "a.h5", workers=1, cards=False)
    card = (FOLDER / f"{name}.md").read_text("utf-8")
    assert f"```text\n{made.content_digest}\n```" in card
