"""What is said on the error stream while a command is at work: bars on a terminal, else lines."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from synthprobe_data import is_quiet, note


def say(sentence: str) -> None:
    """Say something beside the bars, if there are any.

    Parameters
    ----------
    sentence
        One line.
    """
    note(sentence)


def run_label(
    name: str,
    probe: str,
    seed: int,
    seeds: int | None = None,
    number: tuple[int, int] | None = None,
) -> str:
    """Which run it is, in a few words.

    Parameters
    ----------
    name, probe, seed
        Of the run.
    seeds
        How many runs with the seeds from 0 it is one of, if it is one of several.
    number
        Its number among all runs of the command, from 1, and how many there are.
    """
    which = f"seed {seed}" if seeds is None else f"seed {seed + 1} of {seeds}"
    whole = "" if number is None else f", {number[0]} of {number[1]}"
    return f"{probe}, {name}, {which}{whole}"


def on_terminal() -> bool:
    """Whether bars can be drawn."""
    return sys.stderr is not None and sys.stderr.isatty()


class RunBar:
    """How far a run has come: a bar with its label on a terminal, else a line for each epoch.

    Parameters
    ----------
    label
        Which run it is.
    epochs, steps
        Of the run, and of each of its epochs.
    done
        Steps that were done before.
    shown
        Whether anything is to be said at all.
    """

    def __init__(self, label: str, *, epochs: int, steps: int, done: int, shown: bool) -> None:
        from tqdm import tqdm

        shown = shown and not is_quiet()
        self.label = label
        self.epochs = epochs
        self.lines = shown and not on_terminal()
        self.bar: Any = tqdm(
            desc=label,
            total=epochs * steps,
            initial=done,
            unit="step",
            dynamic_ncols=True,
            disable=None if shown else True,
        )

    def __enter__(self) -> RunBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.bar.close()

    def step(self, loss: float, rate: float) -> None:
        """A step is done."""
        self.bar.set_postfix(loss=f"{loss:.4g}", rate=f"{rate:.2g}", refresh=False)
        self.bar.update()

    def epoch(self, row: Mapping[str, float]) -> None:
        """An epoch is done.

        Parameters
        ----------
        row
            Of the log.
        """
        if self.lines:
            say(
                f"{self.label}: epoch {row['epoch']:.0f} of {self.epochs}, loss {row['loss']:.4g}, "
                f"{row['seconds']:.0f} s"
            )
