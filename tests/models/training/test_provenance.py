"""What a result says it was made by."""

from __future__ import annotations

import hashlib
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

import synthprobe_models  # noqa: E402
from synthprobe_data import __version__  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.plugins import FILES, LOADED  # noqa: E402
from synthprobe_models.registry import STRUCTURES  # noqa: E402
from tests.models.small_runs import small_file  # noqa: E402

MINE = """
from torch import nn
from synthprobe_models import structure

@structure("mine", dimensions=[2])
class Mine(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        self.layer = nn.Conv2d(channels, channels, 1)
    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture
def run(tmp_path, unchanged_registry):
    """A run of a structure of one's own, which is then not known any more."""
    (tmp_path / "mine.py").write_text(MINE)
    words = ["train", "mine", "--load", str(tmp_path / "mine.py"), "--out", str(tmp_path / "run")]
    words += ["--on", str(small_file(tmp_path / "rde.h5")), "--epochs", "1", "--width", "3"]
    assert main([*words, "--picture-every", "0"]) == 0
    STRUCTURES.pop("mine")
    LOADED.pop("mine")
    yield tmp_path
    FILES.clear()


def test_a_result_has_version_commit_and_the_hash_of_what_was_loaded(run) -> None:
    result = json.loads((run / "run" / "result.json").read_text())
    loaded, digest = str(run / "mine.py"), hashlib.sha256(MINE.encode()).hexdigest()
    assert result["version"] == __version__
    assert result["commit"] is None or len(result["commit"].rstrip("+")) == 40
    assert result["load"] == loaded
    assert result["files"][loaded] == result["source"] == digest


def test_evaluating_names_the_file_that_the_structure_was_loaded_from(run, capsys) -> None:
    words = ["eval", str(run / "run"), "--on", str(run / "rde.h5")]
    assert main(words) == 2
    loaded = str(run / "mine.py")
    assert f"'mine' was loaded from {loaded!r}: add --load {loaded!r}." in capsys.readouterr().err
    assert "mine" not in STRUCTURES  # naming a file does not run it
    assert main([*words, "--load", loaded]) == 0
    STRUCTURES.pop("mine")
    (run / "mine.py").unlink()
    capsys.readouterr()
    assert main(words) == 2
    assert f"{loaded!r}, which is not there: name the file" in capsys.readouterr().err


def test_evaluating_says_that_the_file_was_edited_since(run, capsys) -> None:
    loaded = run / "mine.py"
    words = ["eval", str(run / "run"), "--on", str(run / "rde.h5"), "--load", str(loaded)]
    capsys.readouterr()
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    STRUCTURES.pop("mine")
    loaded.write_text(MINE.replace("return self.layer(x)", "return 2 * self.layer(x)"))
    assert main(words) == 0
    said = capsys.readouterr().err
    assert said == f"{loaded} was edited since mine was trained: the figures may be others.\n"


def test_an_installed_package_has_the_commit_that_it_was_built_from(tmp_path) -> None:
    packages = Path(synthprobe_models.__file__).parents[1]
    for name in ("synthprobe_models", "synthprobe_data"):
        ignored = shutil.ignore_patterns("__pycache__", "*.h5")
        shutil.copytree(packages / name, tmp_path / name, ignore=ignored)
    (tmp_path / "synthprobe_models" / "commit.txt").write_text("0123abcd" * 5 + "\n")
    code = "from synthprobe_models.training.provenance import commit; print(commit())"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "0123abcd" * 5


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_the_commit_is_not_that_of_another_repository(tmp_path) -> None:
    packages = Path(synthprobe_models.__file__).parents[1]
    for name in ("synthprobe_models", "synthprobe_data"):
        ignored = shutil.ignore_patterns("__pycache__", "*.h5")
        shutil.copytree(packages / name, tmp_path / "lib" / name, ignore=ignored)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "mine"], check=True)
    code = "from synthprobe_models.training.provenance import commit; print(commit())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "lib",
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "None"


class Hook:
    """As much of hatchling's class as the hook uses."""

    root = ""


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_build_notes_the_commit_of_its_checkout(tmp_path, monkeypatch) -> None:
    name = "hatchling.builders.hooks.plugin.interface"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(BuildHookInterface=Hook))
    build = runpy.run_path(str(Path(__file__).parents[3] / "hatch_build.py"))
    hook = build["CommitHook"]()
    hook.root = str(tmp_path / "package")
    (tmp_path / "package").mkdir()
    nothing: dict[str, dict[str, str]] = {"force_include": {}}
    hook.initialize("standard", nothing)
    assert nothing == {"force_include": {}}  # no checkout
    hook.root = str(tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "mine"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    noted: dict[str, dict[str, str]] = {"force_include": {}}
    hook.initialize("standard", noted)
    ((path, inside),) = noted["force_include"].items()
    assert (Path(path).read_text(), inside) == (head.stdout, "synthprobe_models/commit.txt")
    hook.finalize("standard", noted, "")
    assert not Path(path).exists()
