"""The cues that a network missed: which pairs they are of, and what the solver says of them."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, iter_samples  # noqa: E402
from synthprobe_data.rde import read_scene  # noqa: E402
from synthprobe_models.evaluation.rde.missed import MissedPair, find_missed  # noqa: E402
from tests.data.rde.drawing import boxes  # noqa: E402
from tests.data.rde.solver.pictures import picture  # noqa: E402

CONFIG = RdeConfig(height=28, width=32, n_rectangles=6, n_vis=2, n_gap=2, n_par=2)


def scene_of(*rectangles: tuple[int, int, int, int]) -> dict[str, np.ndarray]:
    """A sample of 24 by 24 pixels, drawn by hand."""
    scene = read_scene(boxes(*rectangles), height=24, width=24)
    return {
        "image": picture(scene.label),
        "label": scene.label,
        "above": scene.above,
        "rank": scene.rank,
    }


@pytest.mark.parametrize(
    ("rectangles", "expected"),
    [
        (
            [(2, 6, 23, 13), (10, 0, 15, 23)],
            "rectangle 2 is above 1: T-junctions at (10, 6), (15, 6), (10, 13) and (15, 13); "
            "2 shows where their extents overlap, columns 10 to 14, rows 6 to 12 "
            "(network: -2.00 and -1.00)",
        ),
        (
            [(1, 1, 23, 23), (4, 4, 9, 9)],
            "rectangle 2 is above 1: 2 shows where their extents overlap, columns 4 to 8, rows 4 "
            "to 8 (network: -2.00 and -1.00)",
        ),
        (
            [(1, 5, 11, 9), (8, 0, 22, 23)],
            "rectangle 2 is above 1: T-junctions at (8, 5) and (8, 9) (network: -2.00 and -1.00)",
        ),
    ],
    ids=["both", "convexity", "T-junctions"],
)
def test_the_cues_of_drawn_scenes_are_said_in_a_sentence(rectangles, expected) -> None:
    sample = scene_of(*rectangles)
    config = RdeConfig(height=24, width=24, n_rectangles=2)
    assert find_missed(sample, sample["rank"].astype(float), config) == []
    (missed,) = find_missed(sample, -sample["rank"].astype(float), config)
    assert missed.sentence == expected


def test_of_certified_samples_every_missed_pair_has_the_evidence_of_its_cues() -> None:
    pairs = 0
    for sample in iter_samples("rde", config=CONFIG, split="test", stop=10):
        found = find_missed(sample, -sample["rank"].astype(float), CONFIG)
        assert {(pair.upper - 1, pair.lower - 1) for pair in found} == {
            (a, b) for a, b in np.argwhere(sample["above"]).tolist()
        }
        gaps = [pair.ranks[0] - pair.ranks[1] for pair in found]
        assert gaps == sorted(gaps)
        for pair in found:
            cue = sample["above"][pair.upper - 1, pair.lower - 1]
            assert (pair.overlap is not None) == bool(cue & 2)
            # From the pixels, the bar is above both regions of the stem, not only its owner.
            assert pair.junctions or not cue & 1
            for junction in pair.junctions:
                around = sample["label"][
                    junction.row - 1 : junction.row + 1, junction.column - 1 : junction.column + 1
                ]
                assert {pair.upper, pair.lower} <= set(around.ravel().tolist())
        pairs += len(found)
    assert pairs > 30


def test_a_picture_that_tells_less_than_its_scene_is_said_to() -> None:
    missed = MissedPair(upper=2, lower=1, ranks=(1.0, 1.5), junctions=(), overlap=None)
    assert missed.sentence == (
        "rectangle 2 is above 1: the picture alone does not tell (network: 1.00 and 1.50)"
    )
