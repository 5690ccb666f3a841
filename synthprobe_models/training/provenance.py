"""What a result was made by: the version, the commit, and the files of structures from outside."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from synthprobe_data import __version__
from synthprobe_models.plugins import FILES, LOADED
from synthprobe_models.training.source_hash import file_hash

_PROJECT: Final = "synthprobe"


def provenance(name: str) -> dict[str, Any]:
    """What a run of a structure or network is made by, as plain JSON values.

    Parameters
    ----------
    name
        Of the structure or network.

    Returns
    -------
    dict
        ``version`` and ``commit`` of synthprobe; ``load``, the file or module that the structure
        was loaded from by ``--load``, if any; ``files``, the SHA-256 of every file that was loaded;
        and ``source``, the SHA-256 of the file that the structure is defined in.
    """
    return {
        "version": __version__,
        "commit": commit(),
        "load": LOADED.get(name),
        "files": dict(FILES),
        "source": file_hash(name),
    }


def edited_since(name: str, made_by: Mapping[str, Any]) -> str | None:
    """A sentence, if a structure from outside is not the one that a run was made with.

    Parameters
    ----------
    name
        Of the structure or network, which is known here.
    made_by
        What `provenance` said when the run was made.
    """
    before, now = made_by.get("source"), file_hash(name)
    if name not in LOADED or not isinstance(before, str) or before == now:
        return None
    return f"{LOADED[name]} was edited since {name} was trained: the figures may be others."


@cache
def commit() -> str | None:
    """The commit of the code that runs; with a plus if it has changes that are not committed.

    It is that of a checkout of the project itself, not of another one that the package is
    installed in; of an installed package, the commit that it was built from, or that pip noted.
    Read once, when training begins: what is checked out later is not what runs.
    """
    package = Path(__file__).resolve().parents[1]
    return _checked_out(package) or _built_from(package) or _installed_from(package)


def _checked_out(package: Path) -> str | None:
    try:
        if Path(_git(package, "rev-parse", "--show-toplevel")).resolve() != package.parent:
            return None
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        found = _git(package, "rev-parse", "HEAD")
        changed = _git(package, "status", "--porcelain", "--untracked-files=no", ".")
    except (OSError, subprocess.CalledProcessError):
        return None
    return found + ("+" if changed else "")


def _git(package: Path, *words: str) -> str:
    # A hook of another repository sets variables that would lead there.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(package), *words], capture_output=True, text=True, check=True, env=plain
    )
    return done.stdout.strip()


def _built_from(package: Path) -> str | None:
    """The commit that was noted when the package was built."""
    try:
        return (package / "commit.txt").read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None


def _installed_from(package: Path) -> str | None:
    """The commit that pip noted, if the package that runs is the one that it installed."""
    try:
        installed = metadata.distribution(_PROJECT)
        if Path(str(installed.locate_file(package.name))).resolve() != package:
            return None
        noted = json.loads(installed.read_text("direct_url.json") or "{}")
        found = noted.get("vcs_info", {}).get("commit_id")
    except (metadata.PackageNotFoundError, OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None
