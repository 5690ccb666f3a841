"""Files that crash, hang or swell the HDF5 library do it in a child, and the caller goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.cli.shards import main
from synthprobe_data.convert import merge_split as edit
from synthprobe_data.convert.select import select
from synthprobe_data.shards import guard, guarded, header
from synthprobe_data.verification.verify import verify

ROOT = Path(__file__).parents[3]
SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
QUICK = guard.Limits(memory=128 * 2**20, seconds=1, patience=1)

ENDS = {
    "SIGSEGV": ("os.kill(os.getpid(), signal.SIGSEGV)", "crashes on it (SIGSEGV)."),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", "crashes on it (SIGKILL)."),
    "an exit": ("os._exit(7)", "crashes on it (exit code 7)."),
    "a hang": ("time.sleep(600)", "looking at it takes more than 1 s."),
    "memory": ("bytearray(2**30)", "takes more than 128 MB for it."),
}
"""What a file can do to the child, and what is said of the file then."""

SHARDS = {
    "info": ["info", "{path}"],
    "merge": ["merge", "{path}", "--out", "{out}/again.h5"],
    "split": ["split", "{path}", "--out", "{out}/folder", "--shards", "2"],
    "export": ["export", "{path}", "--out", "{out}/pictures", "--format", "png"],
    "export to tar files": ["export", "{path}", "--out", "{out}/tar", "--format", "webdataset"],
    "preview": ["preview", "{path}", "--out", "{out}/sheet.png"],
    "explain": ["explain", "{path}", "0", "--out", "{out}/figure.png"],
    "browse": ["browse", "{path}", "--out", "{out}/page.html"],
    "card": ["card", "{path}"],
    "select": ["select", "{path}", "--rows", "1", "--out", "{out}/some.h5"],
}
"""The commands that read a dataset, but for ``verify``, which reports what is wrong with it."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file and a folder of shards that this process has written."""
    folder = tmp_path_factory.mktemp("own")
    make_file("rde", folder / "one.h5", train=5, test=2, config=SMALL, cards=False)
    edit.split(folder / "one.h5", folder / "shards", 4)
    return folder


@pytest.fixture
def strange(tmp_path: Path, own: Path) -> Path:
    """The same, as from a stranger."""
    return Path(shutil.copytree(own, tmp_path / "strange"))


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The children that are started from now on."""
    seen: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen):
        def __init__(self, command: list[str], **options: Any) -> None:
            super().__init__(command, **options)
            seen.append(self)

    monkeypatch.setattr("synthprobe_data.shards.guard.subprocess.Popen", Noted)
    return seen


def let_it_end(monkeypatch: pytest.MonkeyPatch, folder: Path, act: str, name: str = "") -> None:
    """Put a program in the place of the child that does this to itself on files of this name."""
    program = folder / "program.py"
    program.write_text(
        "import importlib.util, os, signal, sys, time\n"
        f"spec = importlib.util.spec_from_file_location('guarded', {str(guard._CHILD)!r})\n"
        "guarded = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(guarded)\n"
        "usual = guarded.validate_file\n"
        "def validate_file(path, settings):\n"
        f"    if {name!r} in os.path.basename(path):\n"
        f"        {act}\n"
        "    usual(path, settings)\n"
        "guarded.validate_file = validate_file\n"
        "guarded.main()\n"
    )
    monkeypatch.setattr(guard, "_CHILD", program)
    monkeypatch.setattr(guard, "LIMITS", QUICK)


def test_no_altered_metadata_end_the_caller_or_hang_or_swell_it() -> None:
    # Among these 300 are some that crash, some that hang and some that take gigabytes, if the
    # guard is left out; the tool does each of them in a process of its own.
    run = subprocess.run(
        [sys.executable, "tools/fuzz_metadata.py", "--count", "300", "--seed", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=270,
        check=False,
    )
    found = json.loads(run.stdout or "{}")
    assert run.returncode == 0, f"{found.get('bad')} {run.stderr[-2000:]}"
    assert found["bad"] == []
    assert sum(found["guard"].values()) == 300
    # Most of the altered files are not dangerous: the guard does not refuse just everything.
    assert found["callers"]["accepted"] > 30
    assert found["peak MB of a caller"] < 1000
    assert found["peak MB of any process"] < 1000


def test_one_child_looks_at_a_whole_folder_and_ends(
    strange: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    with open_dataset(strange / "shards") as data:
        assert len(data) == 7
        assert len(data.readers) == 4
    assert len(children) == 1
    assert children[0].poll() is not None


@pytest.mark.parametrize("name", ["one.h5", "shards"])
def test_what_has_passed_is_not_validated_again(
    strange: Path, children: list[subprocess.Popen[bytes]], name: str
) -> None:
    for _ in range(2):
        open_dataset(strange / name).close()
        assert verify(strange / name, workers=1).ok
    assert len(children) == 1


def test_files_that_are_merged_share_a_child(
    strange: Path, tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    edit.merge(sorted((strange / "shards").glob("*.h5")), tmp_path / "again.h5")
    assert len(children) == 1


def test_own_fresh_files_start_no_child(
    tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    path, shards, again = tmp_path / "a.h5", tmp_path / "shards", tmp_path / "again.h5"
    make_file("rde", path, train=4, test=2, config=SMALL)
    edit.split(path, shards, 3)
    edit.merge([shards], again)
    for made in (path, shards, again):
        open_dataset(made).close()
        assert verify(made, workers=1).ok
    assert children == []


@pytest.mark.parametrize("name", ["one.h5", "shards"])
def test_what_is_trusted_starts_no_child(
    strange: Path, children: list[subprocess.Popen[bytes]], name: str
) -> None:
    with open_dataset(strange / name, trusted=True) as data:
        assert len(data["train"][:]["image"]) == 5
    assert children == []


def test_a_file_that_is_changed_is_validated_again(
    strange: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    path = strange / "one.h5"
    open_dataset(path).close()
    content = path.read_bytes()
    path.write_bytes(content)
    os.utime(path, ns=(0, 1))  # a clock may be too coarse to show the change
    open_dataset(path).close()
    assert len(children) == 2
    other = strange / "other.h5"
    shutil.copy(path, other)  # as it is written by most programs: anew, then renamed
    os.utime(other, ns=(0, 1))
    os.replace(other, path)
    open_dataset(path).close()
    assert len(children) == 3


def test_a_changed_file_of_the_same_size_and_time_is_validated_again(
    strange: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    path = strange / "one.h5"
    open_dataset(path).close()
    times = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as cp -p does
    open_dataset(path).close()
    assert len(children) == 2


def test_an_own_file_that_is_changed_is_refused(
    tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    path = tmp_path / "a.h5"
    make_file("rde", path, train=4, test=2, config=SMALL, cards=False)
    with h5py.File(path, "r+") as file:
        file.attrs["seed"] = file.attrs["seed"] + 1
    os.utime(path, ns=(0, 1))
    open_dataset(path).close()
    assert len(children) == 1


def test_the_child_needs_neither_numba_nor_torch_nor_this_package(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heavy = {"numba", "torch", "scipy", "synthprobe_data"}
    let_it_end(monkeypatch, tmp_path, f"{heavy} & set(sys.modules) and sys.exit(5)")
    with open_dataset(strange / "one.h5") as data:
        assert len(data) == 7


def test_the_child_reads_every_attribute_that_a_file_has(tmp_path: Path, own: Path) -> None:
    for name in ("centered-square", "color-code"):
        make_file(name, tmp_path / f"{name}.h5", train=2, test=1, cards=False)
    select(own / "one.h5", tmp_path / "selected.h5", rows="1,3")
    for path in (own / "one.h5", *tmp_path.glob("*.h5")):
        with h5py.File(path) as file:
            assert set(file.attrs) <= set(guarded._ATTRIBUTES)


@pytest.mark.parametrize(
    ("command", "end"),
    [
        *((command, end) for command in SHARDS for end in ("SIGSEGV", "a hang", "memory")),
        *(("info", end) for end in ("SIGKILL", "an exit")),
    ],
)
def test_a_file_that_ends_the_child_is_refused_in_one_sentence_by_every_command(
    strange: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    end: str,
) -> None:
    act, sentence = ENDS[end]
    let_it_end(monkeypatch, tmp_path, act)
    before = sorted(tmp_path.rglob("*"))
    path = strange / "one.h5"
    assert main([word.format(path=path, out=tmp_path) for word in SHARDS[command]]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"synthprobe-shards: {path} cannot be read: ")
    assert said.err.endswith(f"{sentence}\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("end", ["SIGSEGV", "a hang", "memory"])
def test_verify_reports_a_file_that_ends_the_child(
    strange: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    end: str,
) -> None:
    act, sentence = ENDS[end]
    let_it_end(monkeypatch, tmp_path, act)
    path = strange / "one.h5"
    assert main(["verify", str(path)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"one.h5: format: {path} cannot be read: ")
    assert said[0].endswith(sentence)
    assert f"{path}: FAILED: 1 check, none of them of a sample, " in said[-1]


@pytest.mark.parametrize("end", ["SIGSEGV", "a hang", "memory"])
def test_a_reader_in_python_gets_an_error_of_one_sentence(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    act, sentence = ENDS[end]
    let_it_end(monkeypatch, tmp_path, act)
    readers: list[Callable[[Path], object]] = [open_dataset]
    if end == "SIGSEGV":
        readers.append(pytest.importorskip("synthprobe_models.data.torch_datasets").ShardDataset)
    for read in readers:
        for name in ("one.h5", "shards"):
            with pytest.raises(SynthprobeError) as refusal:
                read(strange / name)
            assert str(refusal.value).endswith(sentence)
            assert "\n" not in str(refusal.value)


def test_one_bad_shard_does_not_speak_for_the_others(
    strange: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    children: list[subprocess.Popen[bytes]],
) -> None:
    let_it_end(monkeypatch, tmp_path, ENDS["SIGSEGV"][0], "train-00001")
    report = verify(strange / "shards", workers=1)
    assert report.failed == {"format": 1}
    assert report.failures[0].file.startswith("train-00001")
    (bad,) = (strange / "shards").glob("train-00001*")
    with open_dataset(bad, trusted=True) as data:
        assert report.rows == 7 - len(data)
    # One up to the crash, one that judges the shard by itself, one for the rest.
    assert len(children) == 3
    assert all(child.poll() is not None for child in children)


def test_the_shards_after_one_that_hangs_are_not_waited_for(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_it_end(monkeypatch, tmp_path, ENDS["a hang"][0], "train-")
    report = verify(strange / "shards", workers=1)
    sentences = [failure.sentence for failure in report.failures]
    assert sum("takes more than" in sentence for sentence in sentences) == 1
    assert all("was not looked at" in sentence for sentence in sentences[1:])


def test_a_child_that_loops_is_ended_by_its_processor_time(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_it_end(monkeypatch, tmp_path, "while True: pass")
    monkeypatch.setattr(guard, "LIMITS", guard.Limits(seconds=1, patience=60))
    with pytest.raises(SynthprobeError, match="takes more than 1 s of processor time for it"):
        open_dataset(strange / "one.h5")


def test_the_child_visits_every_column_that_we_write(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited = []
    usual = guarded.visit_chunks

    def visit(stored: h5py.Dataset, most: int) -> bool:
        visited.append(stored.name)
        return usual(stored, most)

    monkeypatch.setattr(guarded, "visit_chunks", visit)
    settings = {
        "max_rows": header.MAX_ROWS,
        "max_text_bytes": header.MAX_TEXT_BYTES,
        "max_chunk_bytes": header.MAX_CHUNK_BYTES,
    }
    guarded.validate_file(str(own / "one.h5"), settings)
    with h5py.File(own / "one.h5") as file:
        assert visited == [f"/{name}" for name in file]


def test_a_child_that_does_not_start_is_said(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_CHILD", tmp_path / "missing.py")
    with pytest.raises(SynthprobeError, match="does not start: it ended with exit code 2"):
        open_dataset(strange / "one.h5")
