"""A dataset that declares no entries of its own stands in the page as its preview draws it."""

from __future__ import annotations

import base64
import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from synthprobe_data import make_file, open_dataset
from synthprobe_data.inspect.browse.page import write_page
from synthprobe_data.registry import DATASETS
from tests.data.inspect.browse.test_browse import content_of
from tests.data.rde.explain.conftest import CONFIG


def test_samples_are_shown_as_the_preview_draws_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = dataclasses.replace(DATASETS["rde"], browse=None)
    monkeypatch.setitem(DATASETS._loaded, "rde", plain)
    path = tmp_path / "a.h5"
    make_file("rde", path, train=5, test=0, config=CONFIG, workers=1, cards=False)
    assert write_page(path, tmp_path / "page.html") == 5
    content = content_of((tmp_path / "page.html").read_text("utf-8"))
    assert content["layout"] == "pictures"
    assert content["panels"] == [plain.preview.legend]
    assert content["figures"] == [["n_rectangles", plain.column("n_rectangles").meaning]]
    with open_dataset(path) as data:
        for position, entry in enumerate(content["samples"]):
            sample = data["train"][position]
            assert (entry["i"], entry["f"]) == (position, [sample["n_rectangles"]])
            shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(entry["png"]))))
            assert shown.shape[:2] == (content["height"], content["width"])
            left = 0
            for panel in plain.preview.panels(sample, data.config):
                drawn = np.asarray(panel.convert("RGB"))
                height, width = drawn.shape[:2]
                assert (shown[:height, left : left + width] == drawn).all()
                left += width + 8
            assert left - 8 == shown.shape[1]
            assert entry["panels"] == [entry["png"]]
