"""The figures of a card equal what a plain loop counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from synthprobe_data import RdeConfig, make_file, open_dataset, tally
from synthprobe_data.rde import reference_difficulty as reference
from synthprobe_data.shards.collection import OpenDataset

TITLES = ("How deep the scenes are", "Ranks", "Rectangles in a scene", "What orders two rectangles")
HARD = (
    "Pairs that only convexity orders",
    "Pieces in which a rectangle shows",
    "How far a cue must reach",
)

NEUTRAL = ("What tells the order without a cue",)
"""See ``tests/data/rde/test_neutrality.py``."""


def counted(data: OpenDataset) -> dict[str, dict[str, Counter[str]]]:
    """The figures by title and split, sample by sample."""
    found = {title: {split: Counter[str]() for split in data.splits} for title in TITLES}
    depths, ranks, numbers, cues = (found[title] for title in TITLES)
    for split in data.splits:
        for sample in data[split]:
            n = int(sample["n_rectangles"])
            numbers[split][str(n)] += 1
            depths[split][str(max(sample["rectangle_rank"][:n]))] += 1
            for a in range(n):
                ranks[split][str(sample["rectangle_rank"][a])] += 1
                for b in range(n):
                    by_t, by_convexity = sample["above"][a, b] & 1, sample["above"][a, b] & 2
                    if by_t and by_convexity:
                        cues[split]["both"] += 1
                    elif by_t:
                        cues[split]["T-junction only"] += 1
                    elif by_convexity:
                        cues[split]["convexity only"] += 1
    return found


def check(data: OpenDataset) -> None:
    expected = counted(data)
    figures = data.dataset.card.figures(data)
    assert tuple(figure.title for figure in figures) == TITLES + HARD + NEUTRAL
    for figure in figures[: len(TITLES)]:
        assert list(figure.counts) == list(data.splits)
        for split, counts in figure.counts.items():
            assert +Counter(counts) == expected[figure.title][split], figure.title


def check_difficulty(data: OpenDataset) -> None:
    """The three of difficulty, against the plain twin; a line may stand for several values."""
    height, width = data.config.to_dict()["height"], data.config.to_dict()["width"]
    expected = {title: {split: Counter[int]() for split in data.splits} for title in HARD}
    convexity_only, pieces, distances = (expected[title] for title in HARD)
    for split in data.splits:
        for sample in data[split]:
            scene = sample["rectangles"][: sample["n_rectangles"]].astype(int)
            convexity_only[split][reference.convexity_only(scene, height, width)] += 1
            pieces[split].update(reference.pieces(scene, height, width))
            distances[split][reference.cue_distance(scene, height, width)] += 1
    for figure in data.dataset.card.figures(data)[len(TITLES) : len(TITLES + HARD)]:
        for split, counts in figure.counts.items():
            found = expected[figure.title][split]
            assert sum(counts.values()) == found.total()
            for line, times in counts.items():
                low, _, high = line.partition(" to ")
                within = range(int(low), int(high or low) + 1)
                assert times == sum(found[value] for value in within)


@pytest.mark.parametrize("stored", [False, True])
def test_the_difficulty_is_shown_whether_stored_or_not(tmp_path: Path, stored: bool) -> None:
    config = RdeConfig(height=48, width=60, n_rectangles=5, n_vis=3, n_par=3, difficulty=stored)
    make_file("rde", tmp_path / "a.h5", train=20, test=9, config=config, workers=1)
    with open_dataset(tmp_path / "a.h5") as data:
        check_difficulty(data)
    card = (tmp_path / "a.md").read_text("utf-8")
    assert all(f"### {title}" in card for title in HARD)
    assert ("| `cue_distance` |" in card) == stored
    assert (" --difficulty" in card) == stored


def test_samples_that_are_no_scenes_keep_no_card_from_being_written(rde_file: Path) -> None:
    with open_dataset(rde_file) as data:
        reader = data.readers[0]
        rectangles = reader.small("rectangles")
        rectangles[3] = 7
        reader._small["n_rectangles"] = reader.small("n_rectangles").copy()
        reader._small["n_rectangles"][5] = 200
        figures = {figure.title: figure for figure in data.dataset.card.figures(data)}
        assert sum(figures[HARD[0]].counts["train"].values()) == len(data["train"]) - 2


def test_the_figures_equal_a_plain_loop(described: tuple[Path, Path]) -> None:
    with open_dataset(described[0]) as data:
        check(data)


def test_blocks_leave_no_row_out(rde_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_ROWS_AT_ONCE", 5)
    with open_dataset(rde_file) as data:
        check(data)


def test_with_many_rectangles_the_cues_are_read_row_by_row(tmp_path: Path) -> None:
    config = RdeConfig(height=40, width=40, n_rectangles=32, mode="ambiguous")
    make_file("rde", tmp_path / "a.h5", train=3, test=2, config=config, workers=1, cards=False)
    with open_dataset(tmp_path / "a.h5") as data:
        assert next(c for c in data.readers[0].header.columns if c.name == "above").chunked_by_row
        check(data)


def test_values_between_the_ends_are_shown_even_if_they_never_occur(rde_file: Path) -> None:
    with open_dataset(rde_file) as data:
        for figure in data.dataset.card.figures(data)[:3]:
            values = [int(value) for value in figure.counts["train"]]
            assert values == list(range(values[0], values[-1] + 1))
