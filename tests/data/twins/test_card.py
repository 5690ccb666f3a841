"""The card of twins: every column explained, and Python that runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from synthprobe_data import DATASETS, TwinsConfig, make_file, open_dataset
from synthprobe_data.generation.folder import generate_folder

CONFIG = TwinsConfig(height=10, width=30, min_distance=6, bands=2)
SIZES: dict[str, Any] = {"train": 26, "validation": 4, "test": 10}


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cards") / "twins.h5"
    make_file("twins", path, splits=SIZES, config=CONFIG, workers=1)
    return path


def snippet(card: Path, word: str) -> str:
    found = re.findall(r"```python\n(.*?)```", card.read_text("utf-8"), re.DOTALL)
    (wanted,) = (text for text in found if word in text)
    return wanted


def test_every_column_and_setting_is_explained(described: Path) -> None:
    card = described.with_suffix(".md").read_text("utf-8")
    with open_dataset(described) as data:
        for name in [*data["test"][0], *data.config.to_dict()]:
            lines = re.findall(rf"^\| `{name}` \|.*$", card, re.MULTILINE)
            assert lines  # two of n_rectangles, which is both
            assert all(len(line.split("|")[-2].strip()) > 5 for line in lines)


def test_the_snippets_run(described: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(described.parent)
    card = described.with_suffix(".md")
    exec(snippet(card, "hashlib"), {})
    names: dict[str, Any] = {}
    exec(snippet(card, "hundred"), names)
    with open_dataset(described) as data:
        assert (names["inputs"] == data["test"]["image"]).all()
        assert (names["targets"] == data["test"]["rank"]).all()


def test_the_snippet_of_torch_runs(described: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(described.parent)
    names: dict[str, Any] = {}
    exec(snippet(described.with_suffix(".md"), "torch"), names)
    assert names["inputs"].shape == (26, 3, 28, 30)
    assert names["targets"].min() > 0
    assert names["targets"].max() <= 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_croissant_takes_the_description(described: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(str(described.with_suffix(".croissant.json")))
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings


def test_hugging_face_loads_a_folder_as_it_stands(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    folder = tmp_path / "twins"
    generate_folder(folder, DATASETS["twins"], CONFIG, splits=SIZES, shards=4, workers=1)
    code = snippet(folder / "README.md", "load_dataset")
    code += "print({s: len(data[s]) for s in data}, int(target.sum()))\n"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    with open_dataset(folder) as data:
        right = f"{SIZES} {int(data['test'][0]['rank'].sum())}"
    assert ended.stdout.splitlines()[-1] == right
