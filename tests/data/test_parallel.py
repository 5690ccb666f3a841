"""Worker processes: a run ends with them, whenever they die."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from synthprobe_data.parallel import run_pool
from tests.children import Start

DIES_WHILE_SENDING = """
import os, signal, threading
from joblib import Parallel, delayed
from synthprobe_data.parallel import ended_by_dead_workers

class Last:
    def __reduce__(self):  # all before it has been pickled, and is sent next
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return int, ()

def large():
    return [bytes(300_000_000), Last()]

pool = Parallel(n_jobs=2, return_as="generator", batch_size=1)
try:
    with ended_by_dead_workers(pool), pool:
        for _ in pool(delayed(large)() for _ in range(2)):
            pass
except Exception as error:
    print(type(error).__mro__)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")
def test_a_worker_that_dies_while_it_sends_ends_the_run(start: Start) -> None:
    process = start(
        [sys.executable, "-c", textwrap.dedent(DIES_WHILE_SENDING)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said, wrong = process.communicate(timeout=100)
    assert process.returncode == 0, wrong
    assert "BrokenProcessPool" in said


def test_workers_that_are_kept_follow_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        found += run_pool(os.getcwd, [()] * 4, workers=2, died="")
    assert [Path(folder).name for folder in found] == 4 * ["first"] + 4 * ["second"]
