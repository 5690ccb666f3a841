"""Many runs, one after another or side by side, each of them trained only once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from synthprobe_data import SynthprobeError, run_pool
from synthprobe_models.data.source import Source
from synthprobe_models.plugins import LOADED, load_as_elsewhere
from synthprobe_models.training.progress import on_terminal, run_label, say
from synthprobe_models.training.run import finished_run
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import DivergedError, Machine

_Done = dict[str, Any] | DivergedError | None
"""What became of a run; ``None`` if it failed."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run that is wanted."""

    settings: TrainSettings
    source: Source
    out: Path
    label: str = ""
    """Which run it is, for people; by default by its probe, name and seed."""


def finished_runs(
    plans: Sequence[Plan],
    *,
    jobs: int = 1,
    machine: Machine | None = None,
    command: str | None = None,
) -> Iterator[tuple[Plan, dict[str, Any]]]:
    """Each plan with the result of its run, as soon as there is one.

    A run that diverges does not keep the others from being trained; `DivergedError` says so in the
    end.

    Parameters
    ----------
    plans
        The runs. What is complete is not trained again; what was interrupted goes on.
    jobs
        How many to train at a time, each in a process of its own with its share of the threads.
    machine, command
        As for `synthprobe_models.training.run.train_run`.
    """
    check_jobs(jobs)
    machine = Machine() if machine is None else machine
    failed = []
    for plan, result in _results(plans, jobs, machine, command):
        if isinstance(result, DivergedError):
            failed.append(f"{plan.settings.name}, seed {plan.settings.seed}: {result}")
        else:
            yield plan, result
    if failed:
        raise DivergedError(" ".join(failed))


def train_ahead(
    plans: Sequence[Plan],
    *,
    jobs: int,
    machine: Machine,
    command: str | None = None,
    picture_every: int = 10,
) -> None:
    """Train runs side by side, so that their results are there when they are asked for.

    A run that fails is left as it is: `synthprobe_models.training.run.finished_run` then meets the
    same failure, and says it.

    Parameters
    ----------
    plans
        The runs, those that take longest first.
    jobs, machine, command
        As for `finished_runs`.
    picture_every
        As for `synthprobe_models.training.run.train_run`.
    """
    check_jobs(jobs)
    work = partial(_try_one, picture_every=picture_every)
    for _ in _side_by_side(work, plans, jobs, machine, command):
        pass


def check_jobs(jobs: int) -> None:
    """Raise `SynthprobeError` if this is not a number of runs at a time."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise SynthprobeError(f"jobs is {jobs!r}: it must be a whole number from 1.")


def _results(
    plans: Sequence[Plan], jobs: int, machine: Machine, command: str | None
) -> Iterator[tuple[Plan, dict[str, Any] | DivergedError]]:
    """Each plan with what became of it."""
    if jobs == 1 or len(plans) < 2:
        for plan in plans:
            yield plan, _finish(plan, machine, command)
        return
    for index, result in _side_by_side(_finish_one, plans, jobs, machine, command):
        assert result is not None
        yield plans[index], result


def _side_by_side(
    work: Callable[..., tuple[int, _Done]],
    plans: Sequence[Plan],
    jobs: int,
    machine: Machine,
    command: str | None,
) -> Iterator[tuple[int, _Done]]:
    """The numbers of plans with what became of them, in any order."""
    threads = max(1, torch.get_num_threads() // jobs)
    # Bars of several processes would overwrite one another; lines do not.
    apart = replace(machine, progress=machine.progress and not on_terminal())
    tasks = (
        (i, plan, apart, command, threads, LOADED.get(plan.settings.name))
        for i, plan in enumerate(plans)
    )
    died = ": the same command resumes from here"
    with _bar(len(plans), jobs, machine.progress) as bar:
        for index, result in run_pool(work, tasks, workers=jobs, ordered=False, died=died):
            if machine.progress and result is not None:
                say(f"{_label(plans[index])}: {_outcome(result)}")
            bar.update()
            yield index, result


def _finish_one(
    index: int,
    plan: Plan,
    machine: Machine,
    command: str | None,
    threads: int,
    where: str | None,
    picture_every: int = 10,
) -> tuple[int, _Done]:
    """The number of a plan and what became of it, in a process of its own."""
    from tqdm import tqdm

    from synthprobe_models import probes  # noqa: F401 - puts our structures into the registry

    # The lock that it makes by itself is one of the system, left behind if the process is killed.
    tqdm.set_lock(threading.RLock())
    load_as_elsewhere(plan.settings.name, where)
    torch.set_num_threads(threads)
    return index, _finish(plan, machine, command, picture_every)


def _try_one(
    index: int,
    plan: Plan,
    machine: Machine,
    command: str | None,
    threads: int,
    where: str | None,
    picture_every: int,
) -> tuple[int, _Done]:
    """The same; ``None`` if it failed."""
    try:
        return _finish_one(index, plan, machine, command, threads, where, picture_every)
    except Exception:  # of a structure, which may be anybody's code
        return index, None


def _finish(
    plan: Plan, machine: Machine, command: str | None, picture_every: int = 10
) -> dict[str, Any] | DivergedError:
    machine = replace(machine, label=_label(plan))
    try:
        return finished_run(
            plan.settings,
            plan.source,
            plan.out,
            machine=machine,
            picture_every=picture_every,
            command=command,
        )
    except DivergedError as error:
        return error


def _label(plan: Plan) -> str:
    settings = plan.settings
    return plan.label or run_label(settings.name, settings.probe, settings.seed)


def _outcome(result: dict[str, Any] | DivergedError) -> str:
    if isinstance(result, DivergedError):
        return str(result).rstrip(".")
    split = next(name for name in ("test", "validation", "train") if result.get(name))
    return f"complete, {split} loss {result[split]['loss']:.4g}, {result['seconds']:.0f} s"


def _bar(runs: int, jobs: int, wanted: bool) -> Any:
    from tqdm import tqdm

    return tqdm(
        desc=f"{jobs} runs at a time", total=runs, unit="run", disable=None if wanted else True
    )
