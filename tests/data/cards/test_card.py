"""The card: true sizes, true hashes, and Python that runs as it stands."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from synthprobe_data import RdeConfig, make_file, open_dataset
from synthprobe_data.cards.card import render_card
from synthprobe_data.cards.facts import collect_facts
from synthprobe_data.cards.hub import size_category

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
SPLITS = {"train": 26, "test": 12}


def front_matter_of(card: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    _, front, _ = card.read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(front)


def snippet_of(card: Path, word: str) -> str:
    """The one piece of Python in the card that has this word."""
    snippets = re.findall(r"```python\n(.*?)```", card.read_text("utf-8"), re.DOTALL)
    assert len(snippets) == 4
    (found,) = [snippet for snippet in snippets if word in snippet]
    return found


def run(code: str, folder: Path, cache: Path) -> str:
    """Run Python in a folder, without a network and with a cache of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_front_matter_says_the_true_sizes(described: tuple[Path, Path]) -> None:
    path, card = described
    front = front_matter_of(card)
    files = list(path.glob("*.h5")) if path.is_dir() else [path]
    assert front["license"] == "cc-by-4.0"
    assert front["pretty_name"] == "Rectangle Depth Estimation"
    assert front["task_categories"] == ["depth-estimation"]
    assert front["size_categories"] == ["n<1K"]
    info = front["dataset_info"]
    sizes = {split["name"]: split["num_examples"] for split in info["splits"]}
    assert sizes == (SPLITS if path.is_dir() else {"train_and_test": 38})
    assert info["download_size"] == sum(file.stat().st_size for file in files)
    assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"])
    (config,) = front["configs"]
    found = {entry["split"]: entry["path"] for entry in config["data_files"]}
    assert list(found) == list(sizes)
    for split, pattern in found.items():
        rows = 0
        for matching in card.parent.glob(pattern):
            with h5py.File(matching) as file:
                rows += len(file["image"])
        assert rows == sizes[split]


def test_a_file_with_one_split_is_that_split(tmp_path: Path) -> None:
    make_file("rde", tmp_path / "a.h5", train=0, test=3, config=SMALL, workers=1, cards=False)
    facts = collect_facts(tmp_path / "a.h5")
    with open_dataset(tmp_path / "a.h5") as data:
        card = render_card(facts, data.dataset.card.figures(data))
    (tmp_path / "a.md").write_text(card, "utf-8")
    front = front_matter_of(tmp_path / "a.md")
    assert front["configs"][0]["data_files"] == [{"split": "test", "path": "a.h5"}]
    assert front["dataset_info"]["splits"][0]["num_examples"] == 3


@pytest.mark.parametrize(
    ("rows", "category"),
    [(999, "n<1K"), (1000, "1K<n<10K"), (62_500, "10K<n<100K"), (10**8, "100M<n<1B")],
)
def test_sizes_have_the_words_of_the_hub(rows: int, category: str) -> None:
    assert size_category(rows) == category


def test_the_hashes_are_those_of_the_files(described: tuple[Path, Path]) -> None:
    path, card = described
    text = card.read_text("utf-8")
    for file in path.glob("*.h5") if path.is_dir() else [path]:
        assert f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" in text
    with open_dataset(path) as data:
        assert f"```text\n{data.content_digest}\n```" in text


def test_the_digest_can_be_computed_by_the_snippet(
    described: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, card = described
    monkeypatch.chdir(card.parent)
    snippet = snippet_of(card, "hashlib")
    exec(snippet, {})
    with pytest.raises(AssertionError):
        exec(snippet.replace("sorted(file)", "reversed(sorted(file))"), {})


def test_the_h5py_snippet_reads_the_test_split(
    described: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, card = described
    monkeypatch.chdir(card.parent)
    names: dict[str, Any] = {}
    exec(snippet_of(card, "hundred"), names)
    with open_dataset(path) as data:
        expected = data["test"][:]
    assert (names["inputs"] == expected["image"]).all()
    assert (names["targets"] == expected["rank"]).all()


def test_the_torch_snippet_gives_batches(
    described: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    path, card = described
    monkeypatch.chdir(card.parent)
    names: dict[str, Any] = {}
    exec(snippet_of(card, "torch"), names)
    assert len(names["data"]) == SPLITS["train"]
    assert names["inputs"].shape == (26, 3, 40, 32)
    assert names["targets"].shape == (26, 40, 32)
    assert names["inputs"].dtype == names["targets"].dtype == torch.float32
    with open_dataset(path) as data:
        last = data["train"][-1]
    image, target = names["data"][25]
    assert np.allclose(image.numpy(), last["image"].transpose(2, 0, 1) / 255)
    assert np.allclose(target.numpy(), (last["rank"] + 1) / 5)
    with pytest.raises(IndexError):
        names["data"][26]


def test_the_hugging_face_snippet_gives_the_splits(
    described: tuple[Path, Path], tmp_path: Path
) -> None:
    pytest.importorskip("datasets")
    path, card = described
    code = snippet_of(card, "load_dataset") + (
        "import numpy\n"
        f"numpy.savez({str(tmp_path / 'sample.npz')!r}, input=input, target=target)\n"
        "print({split: len(data[split]) for split in data})\n"
    )
    assert run(code, card.parent, tmp_path / "cache").splitlines()[-1] == str(SPLITS)
    with np.load(tmp_path / "sample.npz") as sample, open_dataset(path) as data:
        assert (sample["input"] == data["test"][0]["image"]).all()
        assert (sample["target"] == data["test"][0]["rank"]).all()


def test_hugging_face_finds_in_the_files_what_the_front_matter_says(
    described: tuple[Path, Path], tmp_path: Path
) -> None:
    """Loaded as a repository of the Hub, where the card is README.md; and without the card."""
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("datasets")
    path, card = described
    repository = tmp_path / "repository"
    repository.mkdir()
    for file in path.glob("*.h5") if path.is_dir() else [path]:
        shutil.copy(file, repository)
    shutil.copy(card, repository / "README.md")
    front = front_matter_of(card)
    files = {e["split"]: e["path"] for e in front["configs"][0]["data_files"]}
    code = f"""
from pathlib import Path

import yaml
from datasets import load_dataset

with_card = load_dataset(str(Path.cwd()))
without = load_dataset("hdf5", data_files={files!r})
print("---")
print(yaml.safe_dump([
    {{
        "features": data[split].features._to_yaml_list(),
        "splits": [
            {{"name": s, "num_bytes": i.num_bytes, "num_examples": i.num_examples}}
            for s, i in data[split].info.splits.items()
        ],
    }}
    for data in (with_card, without) for split in data
]))
"""
    said = {name: front["dataset_info"][name] for name in ("features", "splits")}
    found = yaml.safe_load(run(code, repository, tmp_path / "cache").split("---\n")[1])
    assert len(found) == 2 * len(files)
    assert all(one == said for one in found)


def test_nothing_of_the_machine_is_in_the_card(described: tuple[Path, Path]) -> None:
    path, card = described
    croissant = next(card.parent.glob("*croissant.json"))
    for text in (card.read_text("utf-8"), croissant.read_text("utf-8")):
        for place in (card.parent, Path.home(), Path(sys.prefix), Path.cwd()):
            assert f"{place}/" not in text
            assert f"{place} " not in text
    if not path.is_dir():
        assert "\nsynthprobe-gen rde --out rde.h5 --workers 3\n" in card.read_text("utf-8")
        assert "It took 12.3 s with 3 workers on: " in card.read_text("utf-8")


@pytest.mark.parametrize(
    ("mode", "words"),
    [("certified", "**Stable**"), ("rules", "**not certified**"), ("ambiguous", "on purpose")],
)
def test_the_checks_are_those_of_the_mode(tmp_path: Path, mode: str, words: str) -> None:
    config = RdeConfig(height=40, width=32, n_rectangles=3, n_vis=3, n_gap=2, n_par=3, mode=mode)
    make_file("rde", tmp_path / "a.h5", train=1, test=0, config=config, workers=1, cards=False)
    with open_dataset(tmp_path / "a.h5") as data:
        card = render_card(collect_facts(tmp_path / "a.h5"), data.dataset.card.figures(data))
    others = {"**Stable**", "**not certified**", "on purpose"} - {words}
    assert words in card
    assert not any(other in card for other in others)


def test_every_setting_and_every_dataset_has_a_meaning(rde_file: Path) -> None:
    text = rde_file.with_suffix(".md").read_text("utf-8")
    for name in SMALL.to_dict():
        assert re.search(rf"^\| `{name}` \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
    with h5py.File(rde_file) as file:
        for name in file:
            assert re.search(rf"^\| `{name}` \| u?int\d+ \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
