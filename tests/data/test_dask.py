"""The same run on a Dask cluster: a real scheduler with two worker processes on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synthprobe_data import RdeConfig, open_dataset
from synthprobe_data.cli import main
from synthprobe_data.rde import RDE
from synthprobe_data.run import generate_file
from tests.children import Start

pytest.importorskip("distributed", reason="the extra dask is not installed")

CONFIG = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
OPTIONS = [
    *("--height", "40", "--width", "32", "--n-rectangles", "4"),
    *("--n-vis", "3", "--n-gap", "2", "--n-par", "3"),
]


def dask(start: Start, program: str, *options: str) -> subprocess.Popen[str]:
    return start(
        [sys.executable, "-m", "distributed.cli." + program, *options, "--no-dashboard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    def __init__(self, start: Start, folder: Path) -> None:
        port = str(free_port())
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = dask(start, "dask_scheduler", "--host", "127.0.0.1", "--port", port)
        self.workers = [
            dask(
                start, "dask_worker", self.address, "--nthreads", "1", "--no-nanny",
                "--host", "127.0.0.1", "--local-directory", str(folder),
            )
            for _ in range(2)
        ]  # fmt: skip


@pytest.fixture
def cluster(start: Start, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster(start, tmp_path_factory.mktemp("dask"))


def test_a_cluster_makes_the_same_folder_though_a_worker_is_killed(
    tmp_path: Path, start: Start, cluster: Cluster
) -> None:
    from distributed import Client

    with Client(cluster.address, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
    sizes = ["--train", "4000", "--test", "1000", "--shards", "40"]
    out = tmp_path / "d"
    run = start(
        [
            *(sys.executable, "-m", "synthprobe_data.cli", "rde", "--out", str(out)),
            *(*OPTIONS, *sizes, "--backend", "dask", "--scheduler", cluster.address),
        ],
        stderr=subprocess.PIPE,
    )
    # Kill one of the two workers when a few shards are there.
    part = tmp_path / "d.part"
    while run.poll() is None and len(list(part.glob("*.h5"))) < 4:
        time.sleep(0.01)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 0, said
    fresh = generate_file(
        tmp_path / "one.h5", RDE, CONFIG, splits={"train": 4000, "test": 1000}, workers=1
    )
    assert open_dataset(out).content_digest == fresh.content_digest
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["d"]


def test_a_scheduler_that_does_not_answer_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    options = ["--shards", "2", "--backend", "dask", "--scheduler", address]
    assert main(["rde", "--out", str(tmp_path / "d"), *OPTIONS, *options]) == 2
    assert f"no Dask scheduler answers at {address}" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
