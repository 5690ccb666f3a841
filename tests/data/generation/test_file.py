"""A run as a whole: the same rows however it is cut up, and nothing lost when it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, iter_samples, make_file, make_sample
from synthprobe_data.atomic.owner import host_name
from synthprobe_data.generation.file import generate_file, plan
from synthprobe_data.rde import RDE, read_scene
from synthprobe_data.shards.digest import content_digest
from synthprobe_data.shards.layout import columns_of
from tests.children import Start

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)


CARDS = {"a.md", "a.croissant.json", "a.png"}
LONG = ["--train", "1000000"]
"""A run that is interrupted long before its end."""


def rows_of(path: Path) -> dict[str, np.ndarray]:
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file}


@pytest.mark.parametrize(
    ("workers", "block_rows"), [(1, 1), (1, 7), (1, 1000), (2, 3), (2, 16), (3, 5)]
)
def test_any_number_of_workers_and_any_block_size_give_the_same_rows(
    tmp_path: Path, workers: int, block_rows: int
) -> None:
    splits = {"train": 37, "test": 12}
    plain = generate_file(tmp_path / "a.h5", RDE, SMALL, splits=splits, workers=1)
    other = generate_file(
        tmp_path / "b.h5", RDE, SMALL, splits=splits, workers=workers, block_rows=block_rows
    )
    assert other.content_digest == plain.content_digest
    a, b = rows_of(tmp_path / "a.h5"), rows_of(tmp_path / "b.h5")
    assert all((a[name] == b[name]).all() for name in a)


def test_the_waves_of_a_long_run_leave_no_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synthprobe_data.generation.file.BLOCKS_PER_WAVE", 3)
    one = generate_file(tmp_path / "a.h5", RDE, SMALL, splits={"train": 200}, workers=1)
    two = generate_file(
        tmp_path / "b.h5", RDE, SMALL, splits={"train": 200}, workers=2, block_rows=8
    )
    assert one.content_digest == two.content_digest


def test_a_test_sample_is_the_same_whatever_the_size_of_the_training_split(tmp_path: Path) -> None:
    generate_file(tmp_path / "a.h5", RDE, SMALL, splits={"train": 5, "test": 8})
    generate_file(tmp_path / "b.h5", RDE, SMALL, splits={"train": 11, "test": 8})
    a, b = rows_of(tmp_path / "a.h5"), rows_of(tmp_path / "b.h5")
    assert all((a[name][5:] == b[name][11:]).all() for name in a)


def test_the_file_has_the_samples_of_the_python_functions(tmp_path: Path) -> None:
    make_file("rde", tmp_path / "a.h5", train=6, test=3, seed=5, config=SMALL)
    rows = rows_of(tmp_path / "a.h5")
    for i, sample in enumerate(iter_samples("rde", seed=5, config=SMALL, stop=6)):
        assert all((rows[name][i] == sample[name]).all() for name in rows)
    sample = make_sample("rde", split="test", index=2, seed=5, config=SMALL)
    assert all((rows[name][8] == sample[name]).all() for name in rows)


def test_the_endless_iterator_goes_on_across_blocks() -> None:
    samples = iter_samples("rde", config=SMALL)
    for index, sample in zip(range(70), samples, strict=False):
        if index in (0, 31, 32, 69):
            alone = make_sample("rde", index=index, config=SMALL)
            assert (sample["image"] == alone["image"]).all()


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    run = make_file("rde", tmp_path / "a.h5", train=6, test=3, seed=2**64 - 1, config=SMALL)
    with h5py.File(tmp_path / "a.h5") as file:
        said = dict(file.attrs)
        rows = {name: file[name][()] for name in file}
        assert all(file[name].shape[0] == 9 for name in file)
        assert file["image"].chunks == (1, 40, 32, 3)
    assert said["synthprobe_format"] == 1
    assert said["dataset"] == b"rde"
    assert said["seed"] == 2**64 - 1
    assert RdeConfig.from_dict(json.loads(said["config"])) == SMALL
    assert json.loads(said["splits"]) == {"train": [0, 6], "test": [6, 9]}
    assert json.loads(said["index_start"]) == {"train": 0, "test": 0}
    assert json.loads(said["normalisation"]) == {"rank": {"offset": 1, "divisor": 5}}
    assert said["palette"].tolist() == [[255, 0, 0], [128, 255, 0], [0, 255, 255], [128, 0, 255]]
    assert b"Courtois" in said["citation"]
    assert said["content_digest"].decode() == content_digest(rows) == run.content_digest


def test_the_stored_cues_and_ranks_are_those_of_the_stored_rectangles(tmp_path: Path) -> None:
    make_file("rde", tmp_path / "a.h5", train=20, test=0, config=SMALL)
    rows = rows_of(tmp_path / "a.h5")
    for i, n in enumerate(rows["n_rectangles"]):
        scene = read_scene(rows["rectangles"][i, :n], height=40, width=32)
        assert scene.failure is None
        assert (scene.above == rows["above"][i, :n, :n]).all()
        assert (scene.rank == rows["rank"][i]).all()
        assert (scene.label == rows["label"][i]).all()


def test_the_tasks_cover_every_row_once() -> None:
    tasks = list(plan(columns_of(RDE, SMALL), {"train": 10, "test": 5}, 4))
    assert [(t.split, t.start, t.count, t.row) for t in tasks] == [
        ("train", 0, 4, 0),
        ("train", 4, 4, 4),
        ("train", 8, 2, 8),
        ("test", 0, 4, 10),
        ("test", 4, 1, 14),
    ]


def test_an_existing_file_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(b"precious")
    with pytest.raises(SynthprobeError, match="exists"):
        make_file("rde", path, train=1, test=0, config=SMALL)
    assert path.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["a.h5"]


def test_an_existing_file_is_replaced_when_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(b"old")
    make_file("rde", path, train=2, test=0, config=SMALL, force=True)
    assert len(rows_of(path)["image"]) == 2
    assert set(os.listdir(tmp_path)) == {"a.h5", *CARDS}


def test_a_text_that_has_the_name_of_the_card_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("my notes")
    with pytest.raises(SynthprobeError, match=r"a\.md exists"):
        make_file("rde", tmp_path / "a.h5", train=1, test=0, config=SMALL)
    assert os.listdir(tmp_path) == ["a.md"]
    assert (tmp_path / "a.md").read_text() == "my notes"


def test_a_forced_run_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("synthprobe_data.shards.writer.ShardWriter.write", fail)
    with pytest.raises(SynthprobeError, match="the disk is full"):
        make_file("rde", path, train=2, test=0, config=SMALL, force=True)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.h5"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": -1}, "train is -1"),
        ({"train": 0, "test": 0}, "nothing to generate"),
        ({"train": 1.5}, "train is 1.5"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": 0}, "workers is 0"),
        ({"workers": True}, "workers is True"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, options: dict, message: str) -> None:
    with pytest.raises(SynthprobeError, match=message):
        make_file("rde", tmp_path / "a.h5", **{"config": SMALL, **options})
    assert os.listdir(tmp_path) == []


def test_an_unknown_dataset_and_a_wrong_config_are_named(tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError, match="no dataset 'rdf': take one of rde"):
        make_file("rdf", tmp_path / "a.h5")
    with pytest.raises(SynthprobeError, match="takes a RdeConfig"):
        make_sample("rde", index=0, config="small")  # type: ignore[arg-type]
    with pytest.raises(SynthprobeError, match="index is -1"):
        make_sample("rde", index=-1)


def python(start: Start, code: str, *arguments: str) -> subprocess.Popen[str]:
    return start(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def command(start: Start, *options: str) -> subprocess.Popen[str]:
    return python(
        start,
        "import sys; from synthprobe_data.cli.gen import main\n"
        "sys.exit(main(['rde', *sys.argv[1:]]))",
        *options,
    )


def wait_for_megabyte(process: subprocess.Popen[str], folder: Path) -> None:
    """Wait until a run is well under way."""
    while process.poll() is None:
        if any(part.stat().st_size > 1_000_000 for part in folder.glob("*.part")):
            return
        time.sleep(0.01)


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, start: Start) -> None:
    # A limit on the size of files stands in for the end of the disk: writes fail halfway.
    process = python(
        start,
        """
        import resource, signal, sys
        from synthprobe_data.cli.gen import main
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        sys.exit(main(["rde", "--out", sys.argv[1], "--train", "300", "--workers", "1"]))
        """,
        str(tmp_path / "a.h5"),
    )
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert "could not be written" in said
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def worker_of(process: subprocess.Popen[str]) -> int | None:
    """A worker process of a run, if it has one already."""
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a run in /proc")
def test_a_worker_that_dies_ends_the_run_with_an_error(tmp_path: Path, start: Start) -> None:
    process = command(
        start, "--out", str(tmp_path / "a.h5"), "--train", "1000000", "--workers", "2"
    )
    wait_for_megabyte(process, tmp_path)
    worker = worker_of(process)
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert said.splitlines()[-1].startswith("synthprobe-gen: a worker process died")
    assert "Traceback" not in said
    assert os.listdir(tmp_path) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "a.h5"
    process = command(start, "--out", str(path), *LONG, "--workers", "1")
    wait_for_megabyte(process, tmp_path)
    process.kill()
    process.communicate()
    assert [name.endswith(".part") for name in os.listdir(tmp_path)] == [True]
    of_a_living_run = f"a.h5.{host_name()}-{os.getpid()}-00000000.part"
    # Whether that process lives cannot be seen from here: the storage may be shared.
    of_another_machine = f"a.h5.elsewhere-{process.pid}-00000000.part"
    for name in (of_a_living_run, of_another_machine):
        (tmp_path / name).touch()
    make_file("rde", path, train=1, test=0, config=SMALL)
    assert set(os.listdir(tmp_path)) == {"a.h5", *CARDS, of_a_living_run, of_another_machine}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_run_leaves_nothing_behind(
    tmp_path: Path, start: Start, number: signal.Signals, workers: str
) -> None:
    process = command(
        start, "--out", str(tmp_path / "a.h5"), "--train", "1000000", "--workers", workers
    )
    wait_for_megabyte(process, tmp_path)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as from a terminal, Ctrl-C reaches the workers, too
    else:
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "synthprobe-gen: interrupted."
    assert "Traceback" not in said
    assert os.listdir(tmp_path) == []
