"""What guessing reaches, beside the same by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    make_file,
    open_dataset,
)
from synthprobe_models.data.source import open_source
from synthprobe_models.probes import PROBES
from tests.models.small_runs import small_file


def guessed(path: Path) -> float:
    source = open_source(path)
    probe = PROBES[source.facts.dataset]
    return probe.guess(source.train.all(), source.test.all(), source.facts.config)


def test_every_rectangle_at_the_mean_rank(tmp_path: Path) -> None:
    path = small_file(tmp_path / "rde.h5")
    with open_dataset(path) as data:
        train, test = (data[split][:]["rank"].astype(float) for split in ("train", "test"))
    middle = train[train > 0].mean()
    levels = 3  # two rectangles and the background, which networks see as thirds
    errors = [np.sqrt((np.where(rank > 0, rank - middle, 0) ** 2).mean()) for rank in test]
    found = guessed(path)
    assert found == pytest.approx(np.mean(errors) / levels, rel=1e-5)


def test_the_white_pixel_alone(tmp_path: Path) -> None:
    config = CenteredSquareConfig(height=8, width=8, square=3)
    make_file("centered-square", tmp_path / "square.h5", config=config, cards=False)
    with open_dataset(tmp_path / "square.h5") as data:
        test = data["test"][:]
    shares = [
        (image & target > 0).sum() / (image | target > 0).sum()
        for image, target in zip(test["image"], test["target"], strict=True)
    ]
    found = guessed(tmp_path / "square.h5")
    assert found == pytest.approx(np.mean(shares))


def test_the_code_that_is_shown_most_often(tmp_path: Path) -> None:
    config = ColorCodeConfig(positions=12, colors=3, bits=2)
    path = tmp_path / "code.h5"
    make_file("color-code", path, config=config, train=1, test=40, cards=False)
    shares = []
    with open_dataset(path) as data:
        test = data["test"][:]
    for code, revealed in zip(test["code"], test["revealed"], strict=True):
        numbers = [int(a) + 2 * int(b) for a, b in code]
        shown = Counter(n for n, r in zip(numbers, revealed, strict=True) if r)
        common = min(range(4), key=lambda n: (-shown[n], n))
        masked = [n for n, r in zip(numbers, revealed, strict=True) if not r]
        if masked:
            shares.append(masked.count(common) / len(masked))
    assert guessed(path) == pytest.approx(np.mean(shares))
