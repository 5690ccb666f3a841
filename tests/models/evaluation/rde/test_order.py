"""What a network makes of the cues, against plain loops, in batches of any size."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, SynthprobeError, iter_samples  # noqa: E402
from synthprobe_data.rde import reference_difficulty, solve  # noqa: E402
from synthprobe_models.data.torch_datasets import StreamDataset  # noqa: E402
from synthprobe_models.evaluation.evaluate import evaluate  # noqa: E402
from synthprobe_models.evaluation.rde.order import (  # noqa: E402
    BINS,
    SCENE,
    OrderMetrics,
    OrderScores,
    Share,
    find_pieces,
)

Sample = dict[str, np.ndarray]
H, W, N = 32, 120, 10
CONFIG = RdeConfig(height=H, width=W, n_rectangles=N, n_vis=2, n_gap=2, n_par=2)
AMBIGUOUS = RdeConfig(height=H, width=W, n_rectangles=N, mode="ambiguous")
STEP = 1 / (N + 1)
COUNT = 10


@cache
def drawn(config: RdeConfig) -> list[Sample]:
    return list(iter_samples("rde", config=config, split="test", stop=COUNT))


def noisy(samples: Sequence[Sample], seed: int, noise: float = 1.3) -> np.ndarray:
    """The ranks, with an error for each rectangle, another for each quarter, and one per pixel."""
    random = np.random.default_rng(seed)
    maps = []
    for sample in samples:
        of_rectangle = random.normal(0, noise, N + 1)[sample["label"]]
        of_quarter = random.normal(0, noise / 3, (2, 2)).repeat(H // 2, 0).repeat(W // 2, 1)
        of_pixel = random.normal(0, noise / 5, sample["rank"].shape)
        maps.append((sample["rank"] + 1 + of_rectangle + of_quarter + of_pixel) * STEP)
    return np.array(maps)


def fed(
    samples: Sequence[Sample], predicted: np.ndarray, sizes: Sequence[int] | None = None
) -> OrderScores:
    """The scores of predictions (n, H, W), in batches of these sizes."""
    metrics = OrderMetrics(STEP)
    prediction = torch.from_numpy(predicted)[:, None]
    scene = {name: torch.from_numpy(np.stack([s[name] for s in samples])) for name in SCENE}
    start = 0
    for size in sizes or [len(samples)]:
        rows = slice(start, start + size)
        batch = {name: values[rows] for name, values in scene.items()}
        metrics.update(prediction[rows], torch.zeros_like(prediction[rows]), **batch)
        start += size
    return metrics.compute()


def plain_pieces(label: np.ndarray, k: int) -> list[list[tuple[int, int]]]:
    """The pixels of each piece of rectangle k, from 1, by filling from pixel to pixel."""
    left = {(int(y), int(x)) for y, x in np.argwhere(label == k)}
    pieces = []
    while left:
        waiting, piece = [left.pop()], []
        while waiting:
            y, x = waiting.pop()
            piece.append((y, x))
            for beside in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if beside in left:
                    left.remove(beside)
                    waiting.append(beside)
        pieces.append(piece)
    return pieces


def plain_scores(samples: Sequence[Sample], predicted: np.ndarray) -> OrderScores:
    """As the definitions say, pixel by pixel and pair by pair."""
    by = {split: {title: [0, 0] for title in bins} for split, bins in BINS.items()}
    pairs, consistent, even, spreads = [0, 0], [0, 0], [0, 0], []

    def count(share: list[int], right: bool) -> None:
        share[0] += right
        share[1] += 1

    for sample, values in zip(samples, predicted.tolist(), strict=True):
        n = int(sample["n_rectangles"])
        boxes = sample["rectangles"][:n].astype(int)
        pieces = [plain_pieces(sample["label"], k + 1) for k in range(n)]

        def rank(pixels: list[tuple[int, int]], values=values) -> float:
            return statistics.median_low([values[y][x] for y, x in pixels])

        for upper in range(n):
            for lower in range(n):
                cue = int(sample["above"][upper, lower])
                if not cue:
                    continue
                right = rank([*chain(*pieces[upper])]) > rank([*chain(*pieces[lower])])
                distance = reference_difficulty.pair_distance(upper, lower, boxes, H, W)
                most = max(len(pieces[upper]), len(pieces[lower]))
                depth = int(max(sample["rectangle_rank"]))
                count(pairs, right)
                count(by["cue"][("T-junction only", "convexity only", "both")[cue - 1]], right)
                lengths = ((7, "0 to 7"), (15, "8 to 15"), (31, "16 to 31"), (63, "32 to 63"))
                title = next((title for last, title in lengths if distance <= last), "64 or more")
                count(by["distance"][title], right)
                count(by["pieces"][str(most) if most < 3 else "3 or more"], right)
                count(by["depth"][str(depth) if depth < 8 else "8 or more"], right)
        for own in pieces:
            ranks = [rank(piece) for piece in own]
            if len(own) > 1:
                spreads.append((max(ranks) - min(ranks)) / STEP)
                count(consistent, spreads[-1] < 0.5)
            for piece, middle in zip(own, ranks, strict=True):
                for y, x in piece:
                    count(even, abs(values[y][x] - middle) < STEP / 2)
    return OrderScores(
        pairs=Share(*pairs),
        by={s: {title: Share(*share) for title, share in b.items()} for s, b in by.items()},
        consistent=Share(*consistent),
        spread=math.fsum(spreads) / len(spreads),
        even=Share(*even),
    )


@pytest.mark.parametrize("config", [CONFIG, AMBIGUOUS], ids=["certified", "ambiguous"])
def test_scores_are_those_of_the_plain_twin(config: RdeConfig) -> None:
    samples = drawn(config)
    scores = fed(samples, noisy(samples, 2))
    assert scores == plain_scores(samples, noisy(samples, 2))
    # Nothing of this is empty, all right or all wrong.
    shares = [scores.pairs, scores.consistent, scores.even, *scores.by["cue"].values()]
    assert all(0 < share.right < share.of for share in shares)
    for split in ("distance", "pieces"):
        assert all(share.of for share in scores.by[split].values())


def test_what_the_solver_reads_off_the_pixels_scores_perfectly() -> None:
    samples = drawn(CONFIG)
    readings = np.array([(solve(sample["image"]).rank + 1) * STEP for sample in samples])
    scores = fed(samples, readings)
    assert scores.spread == 0
    shares = [scores.pairs, scores.consistent, scores.even]
    shares += [share for bins in scores.by.values() for share in bins.values() if share.of]
    assert [share.share for share in shares] == [1.0] * len(shares)
    assert len(shares) > 10
    upside_down = fed(samples, 1 - readings)
    assert upside_down.pairs == Share(0, scores.pairs.of)
    assert upside_down.consistent == scores.consistent


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.sampled_from([np.exp, np.arctan, lambda x: x**3, lambda x: 9 * x - 4]),
)
@settings(max_examples=10)
def test_neither_batches_nor_a_change_of_scale_change_the_order(
    seed: int, sizes: list[int], change: Callable[[np.ndarray], np.ndarray]
) -> None:
    samples = drawn(CONFIG)[:5]
    sizes = [*sizes, 5]
    predicted = noisy(samples, seed)
    whole = fed(samples, predicted)
    assert fed(samples, predicted, sizes) == whole
    changed = fed(samples, change(predicted), sizes)
    assert (changed.pairs, changed.by) == (whole.pairs, whole.by)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=60)
def test_pieces_are_those_that_filling_finds(seed: int, height: int, width: int) -> None:
    label = np.random.default_rng(seed).integers(0, 4, (height, width)).astype(np.uint8)
    piece, owner = find_pieces(label)
    found = sorted(
        (int(owner[number - 1]) + 1, sorted(map(tuple, np.argwhere(piece == number).tolist())))
        for number in range(1, len(owner) + 1)
    )
    expected = sorted((k, sorted(own)) for k in (1, 2, 3) for own in plain_pieces(label, k))
    assert found == expected
    assert ((piece == 0) == (label == 0)).all()


def test_equal_ranks_and_what_is_no_number_are_no_order() -> None:
    samples = drawn(CONFIG)
    flat = fed(samples, np.full((COUNT, H, W), 0.5))
    assert flat.pairs.right == 0
    assert flat.consistent.share == flat.even.share == 1  # one rank, if the wrong one
    for value in (math.nan, math.inf):
        nothing = fed(samples, np.full((COUNT, H, W), value))
        assert nothing.pairs == Share(0, flat.pairs.of)
        assert nothing.consistent.right == nothing.even.right == 0
        assert nothing.to_dict()["spread"] is None
        json.dumps(nothing.to_dict(), allow_nan=False)


def test_one_pixel_that_is_no_number_costs_its_rectangle() -> None:
    (sample,) = drawn(CONFIG)[:1]
    predicted = (sample["rank"] + 1.0)[None] * STEP
    y, x = np.argwhere(sample["label"] == 1)[0]
    predicted[0, y, x] = math.nan
    of_first = int(np.count_nonzero(sample["above"][0]) + np.count_nonzero(sample["above"][:, 0]))
    assert of_first > 0
    scores = fed([sample], predicted)
    assert scores.pairs.of - scores.pairs.right == of_first


def test_where_nothing_is_to_be_counted_none_is_said() -> None:
    (sample,) = iter_samples("rde", config=RdeConfig(height=16, width=16, n_rectangles=1), stop=1)
    scores = fed([sample], np.ones((1, 16, 16)))
    assert scores.pairs.share is scores.consistent.share is scores.spread is None
    facts = scores.to_dict()
    assert facts["pairs"] == {"share": None, "right": 0, "of": 0}
    assert facts["by"]["distance"]["64 or more"] == {"share": None, "right": 0, "of": 0}
    lines = {line.split("  ")[0].strip() or line.strip(): line for line in scores.lines()}
    assert lines["all"].split() == ["all", "none", "0"]
    assert "nan" not in "".join(lines.values())


def test_a_stream_is_evaluated_with_its_cues_if_that_is_asked() -> None:
    class Red(torch.nn.Module):
        def forward(self, x):
            return x[:, :1]

    stream = StreamDataset("rde", split="test", config=CONFIG, length=COUNT)
    assert evaluate(Red(), stream, loss="mse").order is None
    red = np.array([sample["image"][..., 0] / np.float32(255) for sample in drawn(CONFIG)])
    for batch in (5, COUNT):
        scores = evaluate(Red(), stream, loss="mse", order=True, batch=batch)
        assert scores.order == fed(drawn(CONFIG), red)
    square = StreamDataset("centered-square", split="test", length=2)
    assert evaluate(Red(), square, loss="mse", order=True).order is None


def test_predictions_of_another_shape_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="they must be equal"):
        OrderMetrics(STEP).update(torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 4, 5))
