"""What is checked of a release, and what goes with it."""

from __future__ import annotations

import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import synthprobe_data
from tools import check_release

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    try:
        words = ["git", "-C", str(ROOT), "ls-files"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout")
    return done.stdout.splitlines()


def packed(folder: Path, names: list[str]) -> tuple[Path, Path]:
    wheel, source = folder / "a.whl", folder / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    with tarfile.open(source, "w:gz") as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(f"synthprobe-0/{name}"))
    return wheel, source


def test_a_file_that_is_missing_is_named(tmp_path: Path, tracked: list[str]) -> None:
    assert check_release.missing_files(*packed(tmp_path, tracked)) == []
    one = next(name for name in tracked if name.startswith(check_release.PACKAGES))
    missing = check_release.missing_files(*packed(tmp_path, [n for n in tracked if n != one]))
    assert missing == [f"a.whl has no {one}", f"a.tar.gz has no {one}"]


def test_a_file_beside_the_packages_is_needed_in_the_archive_alone(
    tmp_path: Path, tracked: list[str]
) -> None:
    files = packed(tmp_path, [name for name in tracked if name != "CITATION.cff"])
    assert check_release.missing_files(*files) == ["a.tar.gz has no CITATION.cff"]


def test_what_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.whl").write_bytes(b"0" * 11)
    assert check_release.wrong_sizes(tmp_path / "a.whl") == []
    monkeypatch.setattr(check_release, "MOST_BYTES", 10)
    assert check_release.wrong_sizes(tmp_path / "a.whl") == ["a.whl has 11 bytes"]


def test_the_metadata_for_citing_are_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["preferred-citation"]["version"] == synthprobe_data.__version__
    assert citation["preferred-citation"]["type"] == "software"
    assert [one["type"] for one in citation["references"]] == ["conference-paper"]
    zenodo = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    assert zenodo["license"] == citation["license"]
    assert zenodo["creators"] == citation["authors"]


def test_only_the_job_that_publishes_may_ask_for_an_identity() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text("utf-8"))
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert "permissions" not in build
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "build"
    assert "secrets." not in json.dumps(workflow)


def test_what_is_published_was_tried_on_another_python_than_it_was_built_with() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text("utf-8"))
    steps = workflow["jobs"]["build"]["steps"]
    (setup,) = (step["with"] for step in steps if "setup-python" in step.get("uses", ""))
    (made,) = (step["run"] for step in steps if "make release" in step.get("run", ""))
    pythons = dict(word.split("=python") for word in made.split() if "=" in word)
    assert set(pythons) == {"PYTHON", "OTHER_PYTHON"}
    assert sorted(pythons.values()) == sorted(setup["python-version"].split())
    assert pythons["PYTHON"] != pythons["OTHER_PYTHON"]
