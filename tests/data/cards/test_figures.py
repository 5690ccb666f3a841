"""The figures of a card equal what a plain loop counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from synthprobe_data import RdeConfig, make_file, open_dataset
from synthprobe_data.cards import tally
from synthprobe_data.cards.figures import collect_figures
from synthprobe_data.shards.opened import OpenDataset

TITLES = ("How deep the scenes are", "Ranks", "Rectangles in a scene", "What orders two rectangles")


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
    figures = collect_figures(data)
    assert tuple(figure.title for figure in figures) == TITLES
    for figure in figures:
        assert list(figure.counts) == list(data.splits)
        for split, counts in figure.counts.items():
            assert +Counter(counts) == expected[figure.title][split], figure.title


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
        for figure in collect_figures(data)[:3]:
            values = [int(value) for value in figure.counts["train"]]
            assert values == list(range(values[0], values[-1] + 1))
