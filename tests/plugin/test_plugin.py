"""A dataset with its probe from another package: installed, and every command works on it."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import synthprobe_data
import synthprobe_models

HERE = Path(__file__).parent
NAME = "associative-recall"


def build_wheel(folder: Path) -> Path:
    """The package as a wheel, put together by hand: a build tool would have to be downloaded."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in offered.items())
        for group, offered in project["entry-points"].items()
    )
    files = {
        "associative_recall.py": (HERE / "associative_recall.py").read_text("utf-8"),
        f"{stem}.dist-info/METADATA": "Metadata-Version: 2.1\n"
        f"Name: {project['name']}\nVersion: {project['version']}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: by hand\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": points,
    }
    record = "".join(f"{name},,\n" for name in files) + f"{stem}.dist-info/RECORD,,\n"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in {**files, f"{stem}.dist-info/RECORD": record}.items():
            wheel.writestr(name, text)
    return path


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package in it, as pip installs it."""
    folder = tmp_path_factory.mktemp("plugin")
    words = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--target", folder / "site", build_wheel(folder)],
        check=True,
    )
    return folder / "site"


def run(installed: Path, work: Path, *words: object) -> str:
    """What a command prints: ``gen`` or ``shards``, or Python code."""
    modules = {
        "gen": "synthprobe_data.cli.gen",
        "shards": "synthprobe_data.cli.shards",
        "probe": "synthprobe_models.cli.main",
    }
    program = ["-m", modules[str(words[0])]] if words[0] in modules else ["-c", str(words[0])]
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *program, *map(str, words[1:])],
        cwd=work,
        env={**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def work(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small file, and the same as a folder of shards."""
    folder = tmp_path_factory.mktemp("work")
    sizes = ("--train", 40, "--test", 10, "--pairs", 6, "--workers", 2)
    assert "50 samples" in run(installed, folder, "gen", NAME, "--out", "a.h5", *sizes)
    run(installed, folder, "gen", NAME, "--out", "a", "--shards", 3, *sizes)
    return folder


def test_the_plugin_is_one_file_of_at_most_150_lines() -> None:
    assert len((HERE / "associative_recall.py").read_text("utf-8").splitlines()) <= 150


def test_it_imports_public_names_alone() -> None:
    text = (HERE / "associative_recall.py").read_text("utf-8")
    used = {
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "synth"
    }
    assert used
    assert used <= set(synthprobe_data.__all__)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("synthprobe_data.") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("synthprobe"):
            assert node.module == "synthprobe_models"
            assert {alias.name for alias in node.names} <= set(synthprobe_models.__all__)


def test_without_it_the_dataset_is_not_known(tmp_path: Path) -> None:
    found = run(tmp_path, tmp_path, "from synthprobe_data import DATASETS; print(*DATASETS)")
    assert NAME not in found.split()


def test_the_help_offers_its_settings(installed: Path, tmp_path: Path) -> None:
    assert NAME in run(installed, tmp_path, "gen", "--help")
    said = run(installed, tmp_path, "gen", NAME, "--help")
    assert "--pairs N" in said
    assert "queries of a sample (4)" in said


@pytest.mark.parametrize("path", ["a.h5", "a"])
def test_it_is_verified_described_and_has_its_card(installed: Path, work: Path, path: str) -> None:
    report = json.loads(run(installed, work, "shards", "verify", path, "--json"))
    assert report["ok"]
    assert report["rows_checked"] == 50
    assert report["done"]["regenerated"] == report["done"]["value"] == 50
    facts = json.loads(run(installed, work, "shards", "info", path, "--json"))
    assert facts["dataset"] == NAME
    assert facts["columns"]["key"] == {"dtype": "uint8", "shape": [10]}
    assert "Associative recall" in run(installed, work, "shards", "info", path)
    run(installed, work, "shards", "card", path, "--force")
    card = work / ("a.md" if path == "a.h5" else "a/README.md")
    text = card.read_text("utf-8")
    assert "| `key` |" in text or "`key`" in text
    assert "https://spdx.org/licenses/CC0-1.0.html" in text
    assert 'input = sample["key"]\ntarget = sample["value"]\n' in text


def test_damage_is_found(installed: Path, work: Path, tmp_path: Path) -> None:
    code = f"""
import shutil, h5py
from synthprobe_data.verification.verify import verify
shutil.copy({str(work / "a.h5")!r}, "b.h5")
with h5py.File("b.h5", "r+") as file:
    file["value"][3, 9] ^= 1
print(sorted(verify("b.h5", workers=1).failed))
"""
    assert run(installed, tmp_path, code) == "['content_digest', 'value']\n"


def test_it_is_drawn_browsed_and_exported(installed: Path, work: Path) -> None:
    run(installed, work, "shards", "preview", "a.h5", "--out", "sheet.png")
    assert (work / "sheet.png").read_bytes().startswith(b"\x89PNG")
    run(installed, work, "shards", "browse", "a.h5", "--out", "page.html")
    assert "keys above, values below; queries last" in (work / "page.html").read_text("utf-8")
    words = ("--format", "webdataset", "--out", "tars")
    run(installed, work, "shards", "export", "a.h5", *words)
    assert (work / "tars" / "train-000000.tar").is_file()


def test_it_is_split_merged_and_selected(installed: Path, work: Path) -> None:
    run(installed, work, "shards", "split", "a.h5", "--out", "b", "--shards", 2)
    run(installed, work, "shards", "merge", "b", "--out", "b.h5")
    words = ("--where", "max(value) >= 6", "--out", "c.h5")
    run(installed, work, "shards", "select", "a.h5", *words)
    code = (
        "from synthprobe_data import open_dataset\n"
        "a, b, c = (open_dataset(name) for name in ('a.h5', 'b.h5', 'c.h5'))\n"
        "assert a.content_digest == b.content_digest\n"
        "assert (c['train']['value'].max(axis=1) >= 6).all()\n"
    )
    run(installed, work, code)


def test_python_makes_and_reads_it(installed: Path, work: Path) -> None:
    code = (
        "import numpy as np\n"
        "from synthprobe_data import DATASETS, make_sample, open_dataset\n"
        f"dataset = DATASETS[{NAME!r}]\n"
        "data = open_dataset('a.h5')\n"
        f"made = make_sample({NAME!r}, index=7, config=dataset.config(pairs=6))\n"
        "assert all((made[name] == value).all() for name, value in data['train'][7].items())\n"
    )
    run(installed, work, code)


def test_hugging_face_loads_it(installed: Path, work: Path) -> None:
    pytest.importorskip("datasets")
    code = (
        "from datasets import load_dataset\n"
        f"data = load_dataset({str(work / 'a')!r}, cache_dir='cache').with_format('numpy')\n"
        "assert {name: len(rows) for name, rows in data.items()} == {'train': 40, 'test': 10}\n"
        "assert data['train'][0]['key'].shape == (10,)\n"
    )
    run(installed, work, code)


def has_probes() -> bool:
    """Whether there is PyTorch, and a package for probes."""
    probes = importlib.util.find_spec("synthprobe_models.probes")
    found = probes is not None and probes.submodule_search_locations is not None
    return importlib.util.find_spec("torch") is not None and found


@pytest.mark.skipif(not has_probes(), reason="there is no PyTorch")
def test_its_probe_is_trained_evaluated_and_profiled(installed: Path, work: Path) -> None:
    words = ("--epochs", 1, "--out", "run")
    run(installed, work, "probe", "train", "transformer", "--on", "a.h5", *words)
    result = json.loads(run(installed, work, "probe", "eval", "run", "--on", "a.h5", "--json"))
    assert 0 <= result["metrics"]["masked_code_accuracy"] <= 1
    words = ("--probes", NAME, "--epochs", 1, "--seeds", 2, "--out", "page")
    run(installed, work, "probe", "profile", "transformer", *words)
    (page,) = (work / "page").rglob("*.md")
    assert "recall" in page.read_text("utf-8")
