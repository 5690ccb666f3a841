"""Drawings of twins: the sheet, the figure and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from synthprobe_data import TwinsConfig, make_file, open_dataset
from synthprobe_data.cli.shards import main as shards
from synthprobe_data.inspect.contact_sheet import contact_sheet
from synthprobe_data.rde.explain.explanation import explain


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("twins") / "twins.h5"
    config = TwinsConfig(height=10, width=32, min_distance=6, bands=2)
    make_file("twins", path, train=4, validation=0, test=0, config=config, cards=False)
    return path


def test_the_sheet_shows_the_distances(file: Path) -> None:
    sheet, drawn = contact_sheet(file, samples=2)
    assert drawn == 2
    with open_dataset(file) as data:
        sample = data["train"][0]
    height, width = sample["rank"].shape
    times = round(320 / max(height, width))
    left = 12 + 3 * (width * times + 12)
    pixels = np.asarray(sheet)[12 + 24 :, left:]
    shown = pixels[: height * times : times, : width * times : times, 0]
    farthest = int(sample["distance"].max())
    assert (shown == sample["distance"].astype(int) * 255 // farthest).all()


def test_a_page_and_a_figure_show_whole_pictures(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert shards(["browse", str(file), "--out", str(page)]) == 0
    (content,) = re.findall(r'\{"file":"twins.h5".*\}', page.read_text("utf-8"))
    said = json.loads(content)
    assert (said["height"], said["width"], len(said["samples"])) == (28, 32, 4)
    assert shards(["explain", str(file), "1", "--out", str(tmp_path / "a.svg")]) == 0
    with open_dataset(file) as data:
        one, other = (explain(data, data["train"], i) for i in (0, 1))
        k = int(data["train"][0]["pair"].min())
    assert (one.rectangles[k] == other.rectangles[k + 1]).all()
    assert one.above[k + 1, k] > 0
