"""The documents for contributors: what they name is there, and no folder is left out."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import synthprobe_data

ROOT = Path(__file__).parents[1]
PACKAGES = ("synthprobe_data", "synthprobe_models")


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_architecture_has_a_line_for_every_folder() -> None:
    named = set(re.findall(r"^\| `(synthprobe_\w+/[\w/]+)/` \|", text_of("ARCHITECTURE.md"), re.M))
    there = {
        f"{package}/{folder.name}"
        for package in PACKAGES
        for folder in (ROOT / package).iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert there <= named
    assert all((ROOT / folder / "__init__.py").is_file() for folder in named)


def test_the_recipes_name_modules_and_tools_that_there_are() -> None:
    recipes = text_of("CONTRIBUTING.md")
    named = re.findall(r"\b((?:synthprobe_data|synthprobe_models|tools|tests)/[\w./-]+\w)", recipes)
    old = [path for path in named if not re.search(r"my_|table_4", path)]
    assert len(old) > 15
    for path in old:
        assert (ROOT / path).exists(), path


def test_there_are_six_recipes_and_each_says_how_many_places() -> None:
    recipes = re.split(r"^## ", text_of("CONTRIBUTING.md"), flags=re.M)[1:]
    assert [recipe.split("\n")[0] for recipe in recipes] == [
        "A dataset",
        "A probe",
        "A layer",
        "A metric",
        "A format change",
        "A table",
    ]
    assert all("\nPlaces: " in recipe for recipe in recipes)


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    newest = re.search(r"^## (?!Unreleased)(\S+)", text_of("CHANGELOG.md"), re.M)
    assert newest is not None
    assert newest[1] == synthprobe_data.__version__


def test_the_workflow_runs_every_check_on_every_python() -> None:
    workflow = yaml.safe_load(text_of(".github/workflows/ci.yml"))
    job = workflow["jobs"]["checks"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert job["steps"][-1]["run"] == ".ci/run"
    hooks = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format", "mypy", "lint-imports"}
