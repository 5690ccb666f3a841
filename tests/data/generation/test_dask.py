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
from synthprobe_data.cli.gen import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.rde import RDE
from tests.children import Start

pytest.importorskip("distributed", reason="the extra dask is not installed")

CONFIG = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
OPTIONS = [
    *("--height", "40", "--width", "32", "--n-rectangles", "4"),
    *("--n-vis", "3", "--n-gap", "2", "--n-par", "3"),
]


def dask(start: Start, program: str, *options: str) -> subprocess.Popen[str]:
    # A shard whose worker has died once is given up.
    strict = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"} if "--strict" in options else {}
    words = [option for option in options if option != "--strict"]
    return start(
        [sys.executable, "-m", "distributed.cli." + program, *words, "--no-dashboard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **strict},
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    def __init__(
        self, start: Start, folder: Path, *, workers: int = 2, strict: bool = False
    ) -> None:
        port = str(free_port())
        self.address = f"tcp://127.0.0.1:{port}"
        options = ["--host", "127.0.0.1", "--port", port, *(["--strict"] if strict else [])]
        self.scheduler = dask(start, "dask_scheduler", *options)
        self.workers = [
            dask(
                start, "dask_worker", self.address, "--nthreads", "1", "--no-nanny",
                "--host", "127.0.0.1", "--local-directory", str(folder),
            )
            for _ in range(workers)
        ]  # fmt: skip

    def wait(self) -> None:
        """Until it has all its workers."""
        from distributed import Client

        with Client(self.address, timeout=60) as client:
            if self.workers:
                client.wait_for_workers(len(self.workers), timeout=60)


@pytest.fixture
def cluster(start: Start, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster(start, tmp_path_factory.mktemp("dask"))


def test_a_cluster_makes_the_same_folder_though_a_worker_is_killed(
    tmp_path: Path, start: Start, cluster: Cluster
) -> None:
    cluster.wait()
    sizes = ["--train", "4000", "--test", "1000", "--shards", "40"]
    out = tmp_path / "d"
    run = start(
        [
            *(sys.executable, "-m", "synthprobe_data.cli.gen", "rde", "--out", str(out)),
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


LOSSES = {
    "a worker, and Dask gives its shard up": "Dask has given up on a shard",
    "all workers": "has lost all workers, and no other has come in 2 s",
    "the scheduler": "is gone",
}


@pytest.mark.parametrize("lost", LOSSES)
def test_a_cluster_that_breaks_down_ends_the_run_with_one_sentence_and_resume_goes_on(
    tmp_path: Path, start: Start, lost: str
) -> None:
    (tmp_path / "dask").mkdir()
    cluster = Cluster(start, tmp_path / "dask", strict=lost.startswith("a worker"))
    cluster.wait()
    words = [
        *("rde", "--out", str(tmp_path / "d"), *OPTIONS),
        *("--train", "8000", "--test", "2000", "--shards", "80"),
    ]
    on_dask = ["--backend", "dask", "--scheduler", cluster.address, "--scheduler-wait", "2"]
    run = start(
        [sys.executable, "-m", "synthprobe_data.cli.gen", *words, *on_dask], stderr=subprocess.PIPE
    )
    part = tmp_path / "d.part"
    while run.poll() is None and len(list(part.glob("*.h5"))) < 4:
        time.sleep(0.01)
    killed = [cluster.scheduler] if lost == "the scheduler" else cluster.workers
    for process in killed[: 1 if lost.startswith("a worker") else None]:
        process.kill()
    _, said = run.communicate(timeout=120)
    assert run.returncode == 2, said
    assert LOSSES[lost] in said
    assert said.endswith("--resume continues from here.\n")
    assert len(said.splitlines()) == 1
    cluster.scheduler.kill()
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    kept = {path.name: path.stat().st_ino for path in part.glob("*.h5")}
    assert len(kept) >= 4
    assert main([*words, "--resume", "--workers", "1"]) == 0
    found = {path.name: path.stat().st_ino for path in (tmp_path / "d").glob("*.h5")}
    assert found.items() >= kept.items()
    assert len(open_dataset(tmp_path / "d")) == 10_000


def test_a_cluster_without_workers_ends_the_run_with_one_sentence(
    tmp_path: Path, start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dask").mkdir()
    cluster = Cluster(start, tmp_path / "dask", workers=0)
    cluster.wait()
    words = ["rde", "--out", str(tmp_path / "d"), *OPTIONS, "--train", "9", "--test", "3"]
    options = ["--shards", "2", "--backend", "dask", "--scheduler", cluster.address]
    assert main([*words, *options, "--scheduler-wait", "1"]) == 2
    said = capsys.readouterr().err
    assert "has no worker after 1 s: start some" in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == ["dask"]
    assert main([*words, "--shards", "2", "--resume"]) == 0


@pytest.mark.parametrize(
    "address",
    [
        *("nonsense", "8786", "", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:0"),
        *("tcp://127.0.0.1:99999", "tcp://no.such.invalid:8786"),
        *("foo://127.0.0.1:8786", "http://127.0.0.1:80/x"),
    ],
)
def test_a_wrong_address_gets_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    address: str,
) -> None:
    monkeypatch.setattr("synthprobe_data.generation.cluster._CONNECT_SECONDS", 1)
    options = ["--shards", "2", "--backend", "dask", "--scheduler", address]
    assert main(["rde", "--out", str(tmp_path / "d"), *OPTIONS, *options]) == 2
    said = capfd.readouterr().err
    assert f"no Dask scheduler answers at {address}: " in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("address", ["nonsense", "foo://127.0.0.1:8786"])
def test_after_a_wrong_address_the_process_ends_without_another_word(
    tmp_path: Path, start: Start, address: str
) -> None:
    words = ["rde", "--out", str(tmp_path / "d"), *OPTIONS, "--shards", "2", "--backend", "dask"]
    code = "import sys; from synthprobe_data.cli.gen import main; sys.exit(main(sys.argv[1:]))"
    run = start(
        [sys.executable, "-c", code, *words, "--scheduler", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    _, said = run.communicate(timeout=120)
    assert run.returncode == 2
    assert f"no Dask scheduler answers at {address}: " in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("wait", ["0", "-1", "inf", "nan"])
def test_a_time_to_wait_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wait: str
) -> None:
    options = ["--shards", "2", "--scheduler-wait", wait]
    assert main(["rde", "--out", str(tmp_path / "d"), *OPTIONS, *options]) == 2
    assert "scheduler_wait is" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
