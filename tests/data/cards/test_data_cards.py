"""The cards in ``data_cards/`` say what new ones would, of the samples that a new run makes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from synthprobe_data import DATASETS, make_file
from synthprobe_data.cards.write import write_cards

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
def test_a_new_run_has_the_digest_and_writes_the_card(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.h5"
    made = make_file(name, path, workers=1, cards=False)
    card = (FOLDER / f"{name}.md").read_text("utf-8")
    assert f"```text\n{made.content_digest}\n```" in card
    write_cards(path, command=f"synthprobe-gen {name} --out {path}", seconds=1.0, workers=1)
    assert _lasting(path.with_suffix(".md").read_text("utf-8")) == _lasting(card)


def _lasting(card: str) -> list[str]:
    """The lines that any machine writes; how a file is packed may differ, and with it its hash."""
    sizes = re.compile(r"[\d.]+ [kMG]B; version")
    return [
        sizes.sub("SIZE; version", re.sub(r"^[0-9a-f]{64}  ", "HASH  ", line))
        for line in card.splitlines()
        if not line.startswith("It took ")
    ]
