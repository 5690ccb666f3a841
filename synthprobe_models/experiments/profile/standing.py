"""How runs that are wanted stand: which are kept, which go on, which are trained again and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.run_key import outdated_run
from synthprobe_models.training.settings import TrainSettings

Wanted = tuple[TrainSettings, Path]
"""The settings and the folder of a run."""


def is_kept(settings: TrainSettings, out: Path) -> bool:
    """Whether a folder has this very run, complete.

    Parameters
    ----------
    settings, out
        Of the run.
    """
    done = RunFolder(out).read_result()
    return (
        done is not None
        and settings.same_as(done["settings"])
        and outdated_run(settings, out) is None
    )


def standings(wanted: Sequence[Wanted]) -> list[str]:
    """What becomes of the runs that are there already, in a few lines.

    Parameters
    ----------
    wanted
        All runs that a command needs.
    """
    kept: list[TrainSettings] = []
    begun: list[TrainSettings] = []
    again: dict[str, list[TrainSettings]] = {}
    for settings, out in wanted:
        folder = RunFolder(out)
        why = outdated_run(settings, out)
        if why is not None:
            again.setdefault(why, []).append(settings)
        elif is_kept(settings, out):
            kept.append(settings)
        elif folder.checkpoint.exists() and settings.same_as(folder.read_settings()):
            begun.append(settings)
    lines = [f"kept, {len(kept)} of {len(wanted)}: {_names(kept)}"] if kept else []
    lines += [f"goes on: {_names(begun)}"] if begun else []
    lines += [
        f"{why}: trained again: {_names(runs)} (the earlier run stays as .earlier-1, -2, ...)"
        for why, runs in again.items()
    ]
    return lines


def _names(runs: Iterable[TrainSettings]) -> str:
    """Runs in short: by probe the structures, each with its seeds."""
    found: dict[str, dict[str, list[int]]] = {}
    for run in runs:
        found.setdefault(run.probe, {}).setdefault(run.name, []).append(run.seed)
    return "; ".join(
        f"{probe}, {', '.join(f'{name} (seed {_seeds(of)})' for name, of in names.items())}"
        for probe, names in found.items()
    )


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
