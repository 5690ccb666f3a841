"""Folders of more shards than a process may have files open."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.shards import handles
from synthprobe_data.shards.reader import ShardReader
from tests.data.damage import SPLITS, small_file, small_folder

ROOT = Path(__file__).parents[3]
RUN = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from synthprobe_data import open_dataset
from synthprobe_data.cli.gen import main as gen
from synthprobe_data.cli.shards import main as shards
from tests.data.damage import SMALL_OPTIONS

folder = Path(sys.argv[1])
workers = ["--workers", sys.argv[2]]
words = ["rde", "--out", str(folder), *SMALL_OPTIONS, "--train", "120", "--test", "40"]
words += ["--shards", "80", *workers]
assert gen(words) == 0
assert gen([*words, "--resume"]) == 0
next(folder.glob("*.h5")).unlink()
assert gen([*words, "--resume"]) == 0
assert shards(["info", str(folder)]) == 0
assert shards(["verify", str(folder), *workers]) == 0
assert shards(["card", str(folder), "--force"]) == 0
assert shards(["merge", str(folder), "--out", str(folder) + ".h5"]) == 0
assert shards(["split", str(folder), "--out", str(folder) + "-2", "--shards", "90"]) == 0
assert shards(["export", str(folder), "--out", str(folder) + "-3", "--format", "png"]) == 0
with open_dataset(folder) as data, open_dataset(str(folder) + ".h5") as one:
    for _ in range(2):
        for split, size in data.splits.items():
            for i in range(size):
                a, b = data[split][i], one[split][i]
                assert all((a[name] == b[name]).all() for name in a)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sets a limit of POSIX")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_folder_of_more_shards_than_open_files_is_made_and_read(
    tmp_path: Path, workers: str
) -> None:
    words = [sys.executable, "-c", RUN, str(tmp_path / "d"), workers]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_folder(tmp_path_factory.mktemp("many") / "d", shards=20)


def open_now(readers: list[ShardReader]) -> int:
    return sum(reader._file is not None for reader in readers)


def test_no_more_files_are_open_than_may_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "most_open_files", lambda: 5)
    with open_dataset(folder) as data:
        assert open_now(data.readers) == 5
        for split, size in SPLITS.items():
            for i in range(size):
                data[split][i]
                assert open_now(data.readers) == 5
        copy = pickle.loads(pickle.dumps(data))
        for i in range(SPLITS["train"]):
            copy["train"][i]
        assert open_now(data.readers) + open_now(copy.readers) <= 5


def test_a_file_that_is_read_again_and_again_stays_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handles, "most_open_files", lambda: 5)
    with open_dataset(folder) as data:
        often = data.readers[0]
        often.read("image", 0)
        file = often._file
        for reader in data.readers[1:]:
            reader.read("image", 0)
            often.read("image", 0)
        assert often._file is file


def test_files_that_threads_read_may_be_closed_meanwhile(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = open_dataset(small_file(tmp_path / "one.h5"))["train"][:]["image"]
    monkeypatch.setattr(handles, "most_open_files", lambda: 2)
    data = open_dataset(folder)
    wrong: list[object] = []

    def read(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(np.tile(np.arange(SPLITS["train"]), 20))
        try:
            for i in order.tolist():
                if (data["train"][i]["image"] != expected[i]).any():
                    wrong.append(i)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_refused_is_not_left_open(tmp_path: Path) -> None:
    """Not even while the error is kept, as Python does by itself in some of its versions."""
    path = small_file(tmp_path / "a.h5")
    with h5py.File(path, "r+") as file:
        file.attrs["seed"] = "none"
    with pytest.raises(SynthprobeError) as kept:
        open_dataset(path)
    h5py.File(path, "r+").close()  # which HDF5 refuses of a file that is open for reading
    assert "cannot be read" in str(kept.value)


def test_no_shard_is_left_open_if_one_is_refused(tmp_path: Path) -> None:
    folder = small_folder(tmp_path / "a", shards=3)
    first, *_, last = sorted(folder.glob("*.h5"))
    with h5py.File(last, "r+") as file:
        file.attrs["content_digest"] = "0" * 64
    with pytest.raises(SynthprobeError) as kept:
        open_dataset(folder)
    for path in (first, last):
        h5py.File(path, "r+").close()
    assert last.name in str(kept.value)
