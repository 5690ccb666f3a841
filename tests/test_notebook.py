"""The notebook: its script runs as plain Python, and it is what the script gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[1] / "docs" / "notebooks"
SCRIPT = HERE / "first_profile.py"
NOTEBOOK = json.loads(SCRIPT.with_suffix(".ipynb").read_text("utf-8"))
ROOT = Path(__file__).parents[1]


def cells_of_script() -> list[tuple[str, str]]:
    """Kind and text of each cell, of a script in the percent format."""
    parts = re.split(r"^# %%(.*)\n", SCRIPT.read_text("utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for mark, text in zip(parts[::2], parts[1::2], strict=True):
        if mark.strip() == "[markdown]":
            lines = text.strip("\n").splitlines()
            assert all(line == "#" or line.startswith("# ") for line in lines)
            found.append(("markdown", "\n".join(line[2:] for line in lines)))
        else:
            found.append(("code", text.strip("\n")))
    return found


def outputs(name: str) -> list[Any]:
    """What all cells of the notebook said, or drew."""
    found = []
    for cell in NOTEBOOK["cells"]:
        for output in cell.get("outputs", ()):
            found += [output[name]] if name in output else []
            found += [output["data"][name]] if name in output.get("data", {}) else []
    return found


def test_script_and_notebook_have_the_same_cells() -> None:
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in NOTEBOOK["cells"]]
    assert found == cells_of_script()


def test_the_notebook_was_executed_and_says_nothing_of_the_machine() -> None:
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    said = "".join("".join(text) for text in outputs("text"))
    assert "linking local cues to distant inferences: yes" in said
    assert "Traceback" not in said
    assert len(outputs("image/png")) == 5
    for path in (str(Path.home()) + os.sep, "/tmp/", "site-packages"):
        assert path not in said
    assert all(output.get("name") != "stderr" for cell in code for output in cell["outputs"])


def test_what_it_says_of_ready_samples_is_still_so() -> None:
    from synthprobe_data import ready_dataset

    said = "".join("".join(text) for text in outputs("text"))
    assert str(ready_dataset("rde")["test"].difficulty(7)) in said
    assert f"{len(ready_dataset('twins')['train'])} samples" in said


@pytest.mark.timeout(900)
def test_the_script_runs_from_the_first_to_the_last_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    # Two epochs in place of all: every line runs, and only the verdict is another one.
    text, shorter = re.subn(r"^EPOCHS = \d+$", "EPOCHS = 2", SCRIPT.read_text("utf-8"), flags=re.M)
    assert shorter == 1
    (tmp_path / "first_profile.py").write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "first_profile.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "linking local cues to distant inferences: " in done.stdout
    assert "translation covariant" in done.stdout
    for name in ("reach.png", "cross-weights/README.md", "profile/cross.md"):
        assert (tmp_path / name).is_file()
