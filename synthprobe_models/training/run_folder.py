"""The folder of a training run: its settings, log, checkpoint, pictures and result."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Final

from synthprobe_models.files import FolderError, make_folder, replaced

COLUMNS: Final = ("epoch", "step", "loss", "rate", "seconds")
_RESULT: Final[Mapping[str, type | UnionType]] = {
    "name": str,
    "parameters": int,
    "settings": dict,
    "data": dict,
    "test": dict,
    "train": dict,
    "gap": int | float,
    "seconds": int | float,
}
"""What a result must say at least."""


class RunFolder:
    """Where a run is kept.

    Parameters
    ----------
    path
        The folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.settings = self.path / "settings.json"
        self.log_file = self.path / "log.csv"
        self.checkpoint = self.path / "checkpoint.pt"
        self.pictures = self.path / "pictures"
        self.result = self.path / "result.json"

    def begin(self, settings: Mapping[str, Any], *, resume: bool, force: bool) -> None:
        """Make the folder and write the settings into it.

        A folder that has a run already is refused, unless it is to be resumed or, with ``force``,
        begun anew.
        """
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"{self.path} is a file: name a folder.")
        if self.settings.exists():
            if not (resume or force):
                raise FolderError(
                    f"{self.path} has a run already: take --resume to continue it, --force to "
                    f"replace it, or another folder."
                )
            self._check_settings(settings, resume=resume)
        elif self.path.is_dir() and any(self.path.iterdir()):
            raise FolderError(f"{self.path} is not empty and no run: take another folder.")
        make_folder(self.path)
        try:
            if force and not resume:
                for left in (self.checkpoint, self.log_file, self.result):
                    left.unlink(missing_ok=True)
        except OSError as error:
            raise FolderError(f"{self.path} could not be begun anew: {error.strerror}.") from error
        self._write(self.settings, json.dumps(settings, indent=2) + "\n")

    def _check_settings(self, settings: Mapping[str, Any], *, resume: bool) -> None:
        """Refuse other settings than the run was begun with, before its first checkpoint, too."""
        begun = self.read_settings()
        if not resume or begun is None:
            return
        mine = json.loads(json.dumps(settings))
        if mine != {**mine, **begun}:
            raise FolderError(
                f"{self.path} was begun with other settings: take those, or another folder."
            )

    def has_run(self) -> bool:
        """Whether a run was begun here, complete or not."""
        return any(path.exists() for path in (self.settings, self.checkpoint, self.result))

    def set_aside(self) -> Path:
        """Give the folder another name, so that a run can be begun anew under its own."""
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.earlier-{number}")).exists():
            number += 1
        try:
            self.path.rename(aside)
        except OSError as error:
            raise FolderError(
                f"{self.path} could not be renamed to {aside.name}: {error.strerror}."
            ) from error
        return aside

    def cut_log(self, epochs: int) -> None:
        """Keep only the rows of epochs that are done; a resumed run writes the others again."""
        rows = [row for row in self.read_log() if int(row["epoch"]) <= epochs]
        self._write_log(rows)

    def log(self, row: Mapping[str, Any]) -> None:
        """Add a row to the log."""
        self._write_log([*self.read_log(), dict(row)])

    def read_log(self) -> list[dict[str, Any]]:
        """The rows of the log, as far as it can be read."""
        try:
            with open(self.log_file, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error):
            return []
        return [row for row in rows if set(row) == set(COLUMNS) and _is_count(row["epoch"])]

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write the result, which says that the run is complete."""
        self._write(self.result, json.dumps(result, indent=2) + "\n")

    def read_settings(self) -> dict[str, Any] | None:
        """The settings of the run that was begun here, if any."""
        return _read(self.settings)

    def read_result(self) -> dict[str, Any] | None:
        """The result of the run, if it is complete."""
        return read_result(self.result)

    def _write_log(self, rows: list[dict[str, Any]]) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        self._write(self.log_file, text.getvalue())

    def _write(self, path: Path, text: str) -> None:
        with replaced(path) as part:
            part.write_text(text, encoding="utf-8")


def read_result(path: Path) -> dict[str, Any] | None:
    """The result that a file has; ``None`` if it has none."""
    found = _read(path)
    return found if found is not None and _is_result(found) else None


def _is_result(found: Mapping[str, Any]) -> bool:
    if not all(isinstance(found.get(name), kind) for name, kind in _RESULT.items()):
        return False
    figures = (*found["test"].values(), *found["train"].values())
    # A run to choose from is not tested, and says so.
    scored = found["train"] if found.get("test_samples") == 0 else found["test"]
    return "loss" in scored and all(isinstance(value, int | float) for value in figures)


def _is_count(text: str | None) -> bool:
    # Few digits only: Python refuses to read very long numbers.
    return text is not None and text.isdecimal() and len(text) < 19


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
