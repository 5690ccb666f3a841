"""The cards of Centered Square and Color Code: true figures, and Python that runs as it stands."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from PIL import Image

from synthprobe_data import CenteredSquareConfig, ColorCodeConfig, make_file, open_dataset
from synthprobe_data.cards.card import render_card
from synthprobe_data.cards.facts import collect_facts
from synthprobe_data.cards.write import draw_picture
from synthprobe_data.cli.gen import main
from synthprobe_data.color_code import reference
from synthprobe_data.config import Config
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.registry import DATASETS

CONFIGS: dict[str, Config] = {
    "centered-square": CenteredSquareConfig(height=18, width=21, square=7),
    "color-code": ColorCodeConfig(positions=40, colors=6),
}
SPLITS: dict[str, Any] = {"train": 25, "test": 14}


@pytest.fixture(scope="module", params=CONFIGS)
def described(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with both splits, and its cards."""
    path = tmp_path_factory.mktemp("cards") / f"{request.param}.h5"
    make_file(request.param, path, **SPLITS, config=CONFIGS[request.param], workers=1)
    return path


def card_of(path: Path) -> str:
    return path.with_suffix(".md").read_text("utf-8")


def rendered(path: Path) -> str:
    with open_dataset(path) as data:
        return render_card(collect_facts(path), data.dataset.card.figures(data))


def snippets(path: Path) -> dict[str, str]:
    found = re.findall(r"```python\n(.*?)```", card_of(path), re.DOTALL)
    words = ("hashlib", "hundred", "torch", "load_dataset")
    return {word: next(s for s in found if word in s) for word in words}


def seen(sample: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Input and target of a network, in plain NumPy."""
    if "center" in sample:
        return sample["image"][None] / 255, sample["target"][None] / 255
    target = sample["code"].T * 2.0 - 1
    color = sample["color"].T / 127.5 - 1
    return np.concatenate([color, target * sample["revealed"]]), target


def test_the_snippets_of_h5py_run(described: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(described.parent)
    exec(snippets(described)["hashlib"], {})
    names: dict[str, Any] = {}
    exec(snippets(described)["hundred"], names)
    with open_dataset(described) as data:
        test = data["test"][:]
    if "center" in test:
        assert (names["inputs"] == test["image"]).all()
        assert (names["targets"] == test["target"]).all()
    else:
        color, revealed, shown = names["inputs"]
        assert (color == test["color"]).all()
        assert (revealed == test["revealed"]).all()
        assert (shown == test["code"] * test["revealed"][..., None]).all()
        assert (names["targets"] == test["code"]).all()


def test_the_snippet_of_torch_gives_what_networks_see(
    described: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(described.parent)
    names: dict[str, Any] = {}
    exec(snippets(described)["torch"], names)
    assert len(names["data"]) == len(names["inputs"]) == SPLITS["train"]
    with open_dataset(described) as data:
        for i in (0, 24):
            for found, right in zip(names["data"][i], seen(data["train"][i]), strict=True):
                assert np.allclose(found.numpy(), right, atol=1e-6)


def test_hugging_face_loads_a_folder_as_it_stands(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    code = "from datasets import load_dataset\nimport json\n"
    for name, config in CONFIGS.items():
        folder = tmp_path / name
        generate_folder(folder, DATASETS[name], config, splits=SPLITS, shards=3, workers=1)
        snippet = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
        (use,) = [s for s in snippet if "load_dataset" in s]
        code += f"import os; os.chdir({str(folder)!r})\n{use}\n"
        code += "print(json.dumps([{s: len(data[s]) for s in data}, target.tolist()]))\n"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for name, line in zip(CONFIGS, ended.stdout.splitlines()[-2:], strict=True):
        sizes, target = json.loads(line)
        assert sizes == SPLITS
        with open_dataset(tmp_path / name) as data:
            sample = data["test"][0]
        assert (np.array(target) == sample["target" if "target" in sample else "code"]).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_croissant_takes_the_description(described: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(str(described.with_suffix(".croissant.json")))
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings


def test_every_column_and_setting_is_explained(described: Path) -> None:
    card = card_of(described)
    with open_dataset(described) as data:
        for name in [*data["test"][0], *data.config.to_dict()]:
            (line,) = re.findall(rf"^\| `{name}` \|.*$", card, re.MULTILINE)
            assert len(line.split("|")[-2].strip()) > 5


def test_the_figures_of_centered_square_equal_a_plain_loop(tmp_path: Path) -> None:
    config = CenteredSquareConfig(height=18, width=37, square=7)
    make_file("centered-square", tmp_path / "a.h5", config=config, workers=1, cards=False)
    with open_dataset(tmp_path / "a.h5") as data:
        (figure,) = data.dataset.card.figures(data)
        train = [tuple(sample["center"].tolist()) for sample in data["train"]]
        for split, counts in figure.counts.items():
            away = Counter(
                min(max(abs(y - row), abs(x - column)) for row, column in train)
                for y, x in (sample["center"].tolist() for sample in data[split])
            )
            found = {int(pixels): count for pixels, count in counts.items() if count}
            assert found == away
    assert figure.counts["train"]["0"] == 6 * 15
    assert sum(figure.counts["test"].values()) == 12 * 31 - 6 * 15


def test_large_distances_are_counted_together(tmp_path: Path) -> None:
    config = CenteredSquareConfig(height=120, width=4, square=1)
    make_file("centered-square", tmp_path / "a.h5", config=config, workers=1, cards=False)
    with open_dataset(tmp_path / "a.h5") as data:
        (figure,) = data.dataset.card.figures(data)
    assert list(figure.counts["test"])[:3] == ["0", "1 to 3", "4 to 6"]
    assert sum(figure.counts["test"].values()) == 480 - 120
    assert figure.counts["test"]["28 to 30"] == 3 * 4 * 2


@pytest.mark.parametrize("mode", ["paper", "well-posed"])
def test_the_figures_of_color_code_equal_a_plain_loop(tmp_path: Path, mode: str) -> None:
    config = ColorCodeConfig(positions=30, colors=8, masked=0.7, mode=mode)
    path = tmp_path / "a.h5"
    make_file("color-code", path, train=60, test=20, config=config, workers=1, cards=False)
    with open_dataset(path) as data:
        found, occurring = data.dataset.card.figures(data)
        for split in data.splits:
            positions, colors = Counter[str](), Counter[str]()
            for sample in data[split]:
                color, revealed = sample["color"], sample["revealed"]
                shown = 9 * np.ones_like(sample["code"])  # no code, so that a copy is told
                shown[revealed == 1] = sample["code"][revealed == 1]
                answer = reference.solve(color, shown, revealed)
                right = (answer == sample["code"]).all(axis=1)
                known = {tuple(c) for c in color[revealed == 1].tolist()}
                for c, m, solved in zip(color.tolist(), revealed, right, strict=True):
                    place = "elsewhere" if tuple(c) in known else "nowhere"
                    positions["revealed" if m else f"masked, colour revealed {place}"] += 1
                    assert solved or place == "nowhere"
                colors[str(len({tuple(c) for c in color.tolist()}))] += 1
            assert +Counter(found.counts[split]) == positions
            assert +Counter(occurring.counts[split]) == colors
    open_ = found.counts["train"]["masked, colour revealed nowhere"]
    assert (open_ == 0) == (mode == "well-posed")


def test_groups_that_there_are_not_are_left_out_of_the_figures(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    config = ColorCodeConfig(positions=30, colors=8)
    make_file("color-code", path, train=4, test=0, config=config, workers=1, cards=False)
    with open_dataset(path) as data:
        right, _ = data.dataset.card.figures(data)
    with h5py.File(path, "r+") as file:
        for row in (0, 3):
            file["group"][row] = 255
        lost = Counter(file["revealed"][row, i] for row in (0, 3) for i in range(30))
    with open_dataset(path) as data:
        found, _ = data.dataset.card.figures(data)
    assert found.counts["train"]["revealed"] == right.counts["train"]["revealed"] - lost[1]
    assert sum(found.counts["train"].values()) == sum(right.counts["train"].values()) - 60


def test_the_card_states_the_ceiling(tmp_path: Path) -> None:
    said = {}
    for mode in ("paper", "well-posed"):
        path = tmp_path / f"{mode}.h5"
        config = ColorCodeConfig(mode=mode)
        make_file("color-code", path, train=2, test=0, config=config, workers=1, cards=False)
        said[mode] = rendered(path)
    assert "**The ceiling is 99.870%**" in said["paper"]
    assert "99.877%" in said["paper"]
    assert "**The ceiling is 100%.**" in said["well-posed"]
    assert "no two samples are equal" in said["well-posed"]
    for card in said.values():
        assert "99.870%" in card
        assert "0.148%" in card
        assert "reports 99.87% for its Transformer" in card
    other = ColorCodeConfig(mode="paper", positions=20)
    make_file("color-code", tmp_path / "a.h5", train=2, test=0, config=other, cards=False)
    assert f"**The ceiling is {1 - 0.95**19 * 7 / 8:.3%}**" in rendered(tmp_path / "a.h5")
    assert "Transformer" not in rendered(tmp_path / "a.h5")


def test_a_command_that_is_as_short_as_can_be_is_shown_once(tmp_path: Path) -> None:
    words = ["centered-square", "--out", str(tmp_path / "squares"), "--shards", "3"]
    assert main(words) == 0
    card = (tmp_path / "squares" / "README.md").read_text("utf-8")
    assert card.count("synthprobe-gen centered-square --out squares --shards 3\n") == 1
    assert card.count("synthprobe-gen") == 1
    assert main([*words, "--workers", "1", "--force"]) == 0
    card = (tmp_path / "squares" / "README.md").read_text("utf-8")
    assert card.count("synthprobe-gen centered-square --out squares --shards 3\n") == 1
    assert card.count("synthprobe-gen") == 2


def test_a_picture_without_a_training_region_is_described(tmp_path: Path) -> None:
    config = CenteredSquareConfig(height=7, width=9, square=7)
    make_file("centered-square", tmp_path / "a.h5", config=config, workers=1)
    card = card_of(tmp_path / "a.h5")
    assert "too few for a central half" in card
    assert "3 samples, 3 in `test`" in card


def test_the_picture_of_centered_square_shows_samples_from_all_over(tmp_path: Path) -> None:
    make_file("centered-square", tmp_path / "a.h5", workers=1)
    with open_dataset(tmp_path / "a.h5") as data:
        sheet = np.asarray(Image.open(io.BytesIO(draw_picture(data))))
        for i in range(8):
            left = 8 + i * 136
            sample = data["test"][1452 * i // 8]
            assert (sheet[8:136:2, left : left + 128 : 2, 0] == sample["image"]).all()
            assert (sheet[144:272:2, left : left + 128 : 2, 0] == sample["target"]).all()
    assert "![8 samples of the split test, from all over it:" in card_of(tmp_path / "a.h5")
