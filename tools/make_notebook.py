"""Execute docs/notebooks/first_profile.py and write it with its outputs as a notebook.

    pip install -c constraints.txt '.[notebook]'
    python tools/make_notebook.py

The script is what is edited, and the notebook is made from it.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "docs" / "notebooks" / "first_profile.py"
MOST_BYTES = 400_000
MOST_SECONDS = 120


def main() -> None:
    import jupytext
    import nbclient
    import nbformat

    notebook = jupytext.read(SCRIPT)
    notebook.metadata = {
        "jupytext": {"formats": "ipynb,py:percent"},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    os.environ["PYTHONPATH"] = str(ROOT)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
        for number, cell in enumerate(notebook.cells):
            cell.id, cell.metadata = f"cell-{number}", {}
            for output in cell.get("outputs", ()):
                _tidy(output, folder)
    seconds = time.monotonic() - begun
    path = SCRIPT.with_suffix(".ipynb")
    nbformat.write(notebook, path)
    print(f"{path.name}: {path.stat().st_size} bytes, {seconds:.0f} s")
    assert path.stat().st_size < MOST_BYTES
    if seconds > MOST_SECONDS:
        print(f"it is meant to take at most {MOST_SECONDS} s on two cores that are idle")


def _tidy(output: Any, folder: str) -> None:
    """Leave out what differs each time or says where it was executed."""
    output.pop("metadata", None) if output.output_type == "stream" else None
    if "text" in output:
        output.text = output.text.replace(folder + os.sep, "")
        output.text = re.sub(r"(?<=, )[\d.]+ s(?=\n)", "... s", output.text)


if __name__ == "__main__":
    main()
