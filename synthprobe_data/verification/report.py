"""What a check of a dataset found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final

from synthprobe_data.text import printable
from synthprobe_data.verification.regenerate import REGENERATED

MAX_LISTED: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One check that failed; a sample stands beside it when it is about one."""

    file: str
    check: str
    sentence: str
    split: str | None = None
    index: int | None = None
    """Index within the split."""
    row: int | None = None
    """Row of the file."""

    def __str__(self) -> str:
        where = self.file
        if self.row is not None:
            where += f", row {self.row} ({self.split} {self.index})"
        return printable(f"{where}: {self.check}: {self.sentence}")


@dataclass(kw_only=True)
class Report:
    """All checks that were done, and those that failed."""

    path: str
    dataset: str | None = None
    rows: int = 0
    """Rows that the dataset has."""
    rows_checked: int = 0
    """Rows that were read; fewer than there are when a sample was asked for."""
    done: dict[str, int] = field(default_factory=dict)
    """How often each check was done: on a file, or on a row."""
    failed: dict[str, int] = field(default_factory=dict)
    """How often each check failed."""
    failures: list[Failure] = field(default_factory=list)
    """The first `MAX_LISTED` of them."""
    readings: dict[str, int] = field(default_factory=dict)
    """What was read off the pixels, if that was asked for: how many rows, and of what kind."""
    notes: list[str] = field(default_factory=list)
    """What could not be checked and why, and what is no failure but should be known."""
    workers: int = 1
    seconds: float = 0.0
    _failed_rows: set[tuple[str, int]] = field(default_factory=set, repr=False)
    _more_failed_rows: int = 0
    """Rows that failed, but are not named one by one."""

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return not self.failed

    @property
    def failed_rows(self) -> int:
        """How many samples failed a check; whole files may fail beside them, or alone."""
        return len(self._failed_rows) + self._more_failed_rows

    @property
    def regenerated(self) -> bool:
        """Whether every row of the dataset was made again, and is the sample that is stated."""
        same = self.done.get(REGENERATED, 0) - self.failed.get(REGENERATED, 0)
        return self.rows > 0 and same == self.rows

    def check(self, name: str, times: int = 1) -> None:
        """Note that a check is done."""
        self.done[name] = self.done.get(name, 0) + times

    def count_readings(self, counts: dict[str, int]) -> None:
        """Add to the counts of `readings`."""
        for name, times in counts.items():
            self.readings[name] = self.readings.get(name, 0) + times

    def note(self, sentence: str) -> None:
        """Note what is no failure; of very many notes, only the first ones are kept."""
        if len(self.notes) < MAX_LISTED:
            self.notes.append(sentence)

    def fail(self, failure: Failure, times: int = 1, *, unnamed_rows: int = 0) -> None:
        """Note that a check failed; the failure may stand for several, and for several rows."""
        self.failed[failure.check] = self.failed.get(failure.check, 0) + times
        if failure.row is not None:
            self._failed_rows.add((failure.file, failure.row))
        self._more_failed_rows += unnamed_rows
        if len(self.failures) < MAX_LISTED:
            self.failures.append(failure)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        facts = {name: value for name, value in asdict(self).items() if not name.startswith("_")}
        return {"ok": self.ok, **facts}
