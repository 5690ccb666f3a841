"""The figure of one sample: what is in each panel, and in each kind of file."""

from __future__ import annotations

import dataclasses
import os
import pickle
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import h5py
import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from PIL import Image

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.cli.shards import main
from synthprobe_data.inspect.browse.page import write_page
from synthprobe_data.inspect.explain import explain_to_file
from synthprobe_data.rde import RDE, read_scene, reference
from synthprobe_data.rde.explain.explanation import Explanation, explain, pick_split
from synthprobe_data.rde.explain.figure import _compose, draw
from tests.data.rde.explain.conftest import CONFIG

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def explanation(rde_file: Path) -> Explanation:
    """A sample that has both kinds of arrows."""
    with open_dataset(rde_file) as data:
        split = pick_split(data, "test")
        found = (explain(data, split, i) for i in range(len(split)))
        return next(e for e in found if e.difficulty.convexity_only and e.t_junctions)


@pytest.fixture(scope="module")
def panels(explanation: Explanation) -> list[Axes]:
    figure = Figure()
    _compose(figure, explanation)
    return figure.axes


def texts(panel: Axes) -> list[str]:
    return sorted(text.get_text() for text in panel.texts)


def test_the_panels_show_the_picture_and_the_numbers(
    explanation: Explanation, panels: list[Axes]
) -> None:
    (image,) = panels[0].images
    shown: Any = image.get_array()
    assert (shown == explanation.image).all()
    numbers = range(1, len(explanation.rectangles) + 1)
    assert texts(panels[1]) == sorted(map(str, explanation.rectangle_rank))
    assert texts(panels[2]) == texts(panels[3]) == sorted(map(str, numbers))
    for panel in panels[1:4]:
        painted = [
            np.asarray(p.get_bbox().extents).tolist()
            for p in panel.patches
            if isinstance(p, Rectangle)
        ]
        assert painted[: len(numbers)] == explanation.rectangles.tolist()


def test_each_t_junction_of_the_reference_is_drawn_with_its_stem_and_bar(
    explanation: Explanation, panels: list[Axes]
) -> None:
    height, width = explanation.size
    label = reference.paint(explanation.rectangles, height, width)
    scene = explanation.rectangles.astype(int)
    counted = reference.above_by_t_junction(scene, height, width)
    junctions = [
        (t.x, t.y, t.stem_direction)
        for t in reference.t_junctions_of_label_map(label)
        if any(counted[t.bar_owner - 1, r - 1] for r in t.stem_regions if r)
    ]
    lines = [np.array(line.get_xydata(), float) for line in panels[3].lines]
    widths = [line.get_linewidth() for line in panels[3].lines]
    stems = {tuple(line[0]): line for line, w in zip(lines, widths, strict=True) if w == 1.1}
    bars = {tuple(line.mean(0)): line for line, w in zip(lines, widths, strict=True) if w == 2.2}
    assert len(junctions) == len(explanation.t_junctions)
    assert set(stems) == set(bars) == {(x, y) for x, y, _ in junctions}
    for x, y, direction in junctions:
        assert (np.sign(stems[x, y][1] - stems[x, y][0]) == direction).all()
        assert np.dot(bars[x, y][1] - bars[x, y][0], direction) == 0
    dashed = [line for line in panels[3].lines if line.is_dashed()]
    assert len(dashed) == len(explanation.hidden_sides)


def test_the_arrows_are_dashed_where_only_convexity_orders(
    explanation: Explanation, panels: list[Axes]
) -> None:
    arrows = [patch for patch in panels[4].patches if isinstance(patch, PathPatch)]
    dashed = [arrow for arrow in arrows if arrow.get_linestyle() != "solid"]
    assert len(arrows) == np.count_nonzero(explanation.above)
    assert len(dashed) == np.count_nonzero(explanation.above == 2)
    assert len(dashed) == explanation.difficulty.convexity_only


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_sample_gives_the_same_bytes_whatever_the_user_has_set(
    explanation: Explanation, kind: str
) -> None:
    first = draw(explanation, kind)
    with matplotlib.rc_context({"font.size": 20, "figure.facecolor": "red"}):
        assert draw(explanation, kind) == first
        assert matplotlib.rcParams["font.size"] == 20


def test_an_svg_is_all_vectors_but_for_the_picture(explanation: Explanation) -> None:
    tree = ElementTree.fromstring(draw(explanation, "svg"))
    assert len(list(tree.iter(f"{SVG}image"))) == 1
    assert not list(tree.iter(f"{SVG}text"))  # letters are outlines, as fonts differ
    assert len(list(tree.iter(f"{SVG}path"))) > 100


def test_the_command_writes_what_its_name_says(
    rde_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", str(rde_file), "3", "--split", "test"]) == 0
    with Image.open("rde-test-3.png") as image:
        assert image.format == "PNG"
        assert image.width == 1440
    assert main(["explain", str(rde_file), "0", "--out", "a.pdf"]) == 0
    assert Path("a.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(os.listdir()) == ["a.pdf", "rde-test-3.png"]
    assert main(["explain", str(rde_file), "0", "--out", "a.pdf"]) == 2
    assert main(["explain", str(rde_file), "0", "--out", "a.pdf", "--force"]) == 0


def test_bad_wishes_get_one_sentence(rde_file: Path, tmp_path: Path) -> None:
    for index, options, sentence in (
        (30, {"split": "test"}, "index is 30: test has 30 samples"),
        (-1, {}, "index is -1"),
        (0, {"split": "dev"}, "has no split 'dev'"),
        (0, {"out": tmp_path / "a.gif"}, r"end it with \.png, \.svg or \.pdf"),
    ):
        with pytest.raises(SynthprobeError, match=sentence):
            explain_to_file(rde_file, index, **options)
    assert not os.listdir(tmp_path)


def test_other_datasets_are_not_explained(rde_file: Path) -> None:
    with open_dataset(rde_file) as data:
        data.dataset = dataclasses.replace(RDE, name="other", explain=None)
        with pytest.raises(SynthprobeError, match="only samples of rde and twins can be explained"):
            pick_split(data, None)


@pytest.mark.parametrize("name", ["rank", "label", "above", "rectangles", "color", "n_rectangles"])
def test_a_sample_that_does_not_agree_with_itself_is_not_explained(
    rde_file: Path, tmp_path: Path, name: str
) -> None:
    path = Path(shutil.copy(rde_file, tmp_path))
    with h5py.File(path, "r+") as file:
        file[name][2] = 99
    with open_dataset(path) as data:
        explain(data, pick_split(data, None), 1)
        with pytest.raises(SynthprobeError, match="train 2 does not agree with itself"):
            explain(data, pick_split(data, None), 2)


def test_a_sample_that_breaks_the_rules_is_explained_all_the_same(
    rde_file: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(rde_file, tmp_path))
    scene = read_scene([[6, 6, 9, 9], [4, 4, 30, 20]], height=48, width=60)  # the first is hidden
    with h5py.File(path, "r+") as file:
        palette = file.attrs["palette"]
        row: dict[str, Any] = {
            "rectangles": np.full((5, 4), -1),
            "above": np.zeros((5, 5)),
            "rectangle_rank": [1, 1, 0, 0, 0],
            "color": [3, 1, 0, 0, 0],
            "n_rectangles": 2,
            "label": scene.label,
            "rank": scene.rank,
            "image": reference.render(scene.label, [3, 1], palette, CONFIG.blur),
        }
        row["rectangles"][:2] = scene.rectangles
        for name, value in row.items():
            file[name][0] = value
    with open_dataset(path) as data:
        explanation = explain(data, pick_split(data, None), 0)
    assert list(explanation.centres) == [1]
    assert explanation.difficulty.pieces.tolist() == [0, 1]
    assert explanation.occluded_pairs == 1
    assert draw(explanation, "svg")
    assert write_page(path, tmp_path / "page.html", samples=1) == 1


def test_a_hostile_name_leads_nowhere(
    hostile_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = explain_to_file(hostile_file, 1)
    assert out.exists()
    assert out.parent == Path()
    ElementTree.parse(explain_to_file(hostile_file, 1, out="a.svg"))


def test_a_dataset_that_crossed_a_process_can_be_explained(
    rde_file: Path, explanation: Explanation
) -> None:
    with open_dataset(rde_file) as data:
        other = pickle.loads(pickle.dumps(data))
    again = explain(other, pick_split(other, explanation.split), explanation.index)
    assert draw(again) == draw(explanation)
