"""Children of tests: interrupted also where the tests ignore Ctrl-C, and gone with their test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.children import started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and process groups")

WAITS = "import time; print('ready', flush=True); time.sleep(600)"
WITH_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_child_is_interrupted_though_the_tests_ignore_it() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with started() as start:
            child = start([sys.executable, "-c", WAITS], stdout=subprocess.PIPE)
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            child.send_signal(signal.SIGINT)
            assert child.wait(60) != 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_failing_test_leaves_neither_its_child_nor_what_that_started() -> None:
    pids = []

    def fails() -> None:
        with started() as start:
            child = start([sys.executable, "-c", WITH_A_CHILD], stdout=subprocess.PIPE)
            assert child.stdout is not None
            pids.extend([child.pid, int(child.stdout.readline())])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert len(pids) == 2
    assert_gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the child")
def test_a_test_that_ends_without_any_clean_up_leaves_no_child() -> None:
    # As when it runs out of time.
    ends = f"""
import os, subprocess, sys
from tests.children import started
with started() as start:
    child = start([sys.executable, "-c", {WAITS!r}], stdout=subprocess.PIPE)
    child.stdout.readline()
    print(child.pid, flush=True)
    os._exit(1)
"""
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", ends], cwd=root, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    assert_gone([int(done.stdout)])


def assert_gone(pids: list[int]) -> None:
    patience = time.monotonic() + 60
    while any(map(is_running, pids)):
        assert time.monotonic() < patience
        time.sleep(0.01)
