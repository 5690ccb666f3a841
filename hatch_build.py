"""Notes in each package that is built of which commit it is: an installed one cannot ask git."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NOTE = "synthprobe_models/commit.txt"


class CommitHook(BuildHookInterface):
    """Adds the note to what is built from a checkout; a source archive has it already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the note beside the checkout, and name it to the builder."""
        found = commit_of(Path(self.root))
        if found is None or version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        note = Path(self.folder.name) / "commit.txt"
        note.write_text(f"{found}\n", encoding="utf-8")
        build_data["force_include"][str(note)] = NOTE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` has written."""
        if hasattr(self, "folder"):
            self.folder.cleanup()


def commit_of(root: Path) -> str | None:
    """The commit that is checked out here, with a plus if there are changes; None if none is."""
    try:
        if Path(_git(root, "rev-parse", "--show-toplevel")).resolve() != root.resolve():
            return None
        found = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return found + ("+" if changed else "")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
