"""Where the shards of a folder are made: here, in worker processes, or on a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, TypeVar

from synthprobe_data.cluster import run_on_cluster
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.workers import ended_by_dead_workers, run_in_worker

_Made = TypeVar("_Made")


def run_jobs(
    make: Callable[..., _Made],
    jobs: Iterator[tuple[Any, ...]],
    *,
    workers: int,
    scheduler: str | None = None,
    wait: float = 0.0,
) -> Iterator[_Made]:
    """What ``make`` makes of each job, in any order.

    Parameters
    ----------
    make
        Called with the items of a job.
    jobs
        The arguments of each call.
    workers
        Processes of this machine; with 1, this one alone.
    scheduler
        Address of a Dask scheduler, whose workers are taken instead.
    wait
        Seconds to wait for workers of the cluster.
    """
    if scheduler is not None:
        yield from run_on_cluster(make, jobs, scheduler, wait)
        return
    if workers == 1:
        for job in jobs:
            yield make(*job)
        return
    from joblib import Parallel, delayed  # here, because one worker does without it

    try:
        pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
        in_worker = delayed(partial(run_in_worker, os.getpid(), make))
        with ended_by_dead_workers(pool):
            yield from pool(in_worker(*job) for job in jobs)
    except BrokenProcessPool as error:
        raise SynthprobeError(
            "a worker process died (killed, or out of memory): --resume goes on from here."
        ) from error
