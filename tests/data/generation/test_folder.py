"""Runs into a folder of shards: the same samples as in one file, and nothing lost when killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import RdeConfig, SynthprobeError, open_dataset
from synthprobe_data.cli.gen import main
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import RDE
from synthprobe_data.shards.plan import plan_shards
from tests.children import Start

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
SMALL_OPTIONS = [
    *("--height", "40", "--width", "32", "--n-rectangles", "4"),
    *("--n-vis", "3", "--n-gap", "2", "--n-par", "3"),
]
SPLITS = {"train": 31, "test": 9}


@given(
    sizes=st.lists(st.integers(1, 5000), min_size=1, max_size=3),
    extra=st.integers(0, 60),
)
def test_shards_share_out_every_sample_once(sizes: list[int], extra: int) -> None:
    splits = {f"s{i}": size for i, size in enumerate(sizes)}
    shards = min(len(splits) + extra, sum(sizes))
    plans = plan_shards(splits, shards)
    assert len(plans) == shards
    assert len({plan.file for plan in plans}) == shards
    for name, size in splits.items():
        own = [plan for plan in plans if plan.split == name]
        covered = [i for plan in own for i in range(plan.index_start, plan.index_start + plan.rows)]
        assert covered == list(range(size))
        assert max(plan.rows for plan in own) - min(plan.rows for plan in own) <= 1


def test_the_papers_sizes_in_eight_shards_are_six_and_two() -> None:
    files = [plan.file for plan in plan_shards({"train": 50_000, "test": 12_500}, 8)]
    assert files[0] == "train-00000-of-00006.h5"
    assert files[-1] == "test-00001-of-00002.h5"


@pytest.mark.parametrize("shards", [0, -1, 1, 41, True, 2.0])
def test_a_number_of_shards_that_does_not_fit_is_refused(shards: int) -> None:
    with pytest.raises(SynthprobeError, match="shards is"):
        plan_shards(SPLITS, shards)


@pytest.mark.parametrize(("shards", "workers"), [(2, 1), (5, 1), (5, 2), (40, 2)])
def test_a_folder_has_the_samples_of_the_file(tmp_path: Path, shards: int, workers: int) -> None:
    file = generate_file(tmp_path / "one.h5", RDE, SMALL, splits=SPLITS)
    folder = generate_folder(
        tmp_path / "many", RDE, SMALL, splits=SPLITS, shards=shards, workers=workers
    )
    assert folder.content_digest == file.content_digest
    one, many = open_dataset(tmp_path / "one.h5"), open_dataset(tmp_path / "many")
    assert one.splits == many.splits == SPLITS
    for split, size in SPLITS.items():
        for i in (0, size // 2, size - 1):
            a, b = one[split][i], many[split][i]
            assert all((a[name] == b[name]).all() for name in a)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["many"]
    assert {"README.md", "croissant.json", "samples.png"} < set(os.listdir(tmp_path / "many"))


def folder_of(tmp_path: Path, **options: object) -> Path:
    given_options: dict = {"splits": SPLITS, "shards": 5, "workers": 1, **options}
    return generate_folder(tmp_path / "d", RDE, SMALL, **given_options).path


def test_an_existing_folder_is_refused_and_untouched(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SynthprobeError, match="exists and is left as it is"):
        folder_of(tmp_path, seed=1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_force_replaces_a_dataset_but_nothing_else(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    folder_of(tmp_path, seed=1, shards=2, force=True)
    assert open_dataset(folder).seed == 1
    assert len(list(folder.glob("*.h5"))) == 2
    assert os.listdir(tmp_path) == ["d"]
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("years of work")
    with pytest.raises(SynthprobeError, match="is not empty, and is left as it is"):
        generate_folder(other, RDE, SMALL, splits=SPLITS, shards=2, force=True)
    assert (other / "chapter.txt").read_text() == "years of work"


def test_a_forced_run_that_fails_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("synthprobe_data.shards.writer.ShardWriter.write", fail)
    with pytest.raises(SynthprobeError, match="the disk is full"):
        folder_of(tmp_path, seed=1, force=True)
    assert open_dataset(folder).seed == 0


@pytest.mark.parametrize("in_the_way", ["d.old", f"d.{'x' * 8}.old"])
def test_a_folder_of_another_with_an_old_name_is_neither_in_the_way_nor_touched(
    tmp_path: Path, in_the_way: str
) -> None:
    folder = folder_of(tmp_path)
    (tmp_path / in_the_way).mkdir()
    (tmp_path / in_the_way / "x").write_text("precious")
    folder_of(tmp_path, seed=1, force=True)
    assert open_dataset(folder).seed == 1
    assert (tmp_path / in_the_way / "x").read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["d", in_the_way]


@pytest.mark.parametrize("options", [{"force": True}, {"resume": True}])
def test_a_part_of_another_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, bool]
) -> None:
    monkeypatch.setattr("synthprobe_data.generation.folder.make_shard", None)
    (tmp_path / "d.part").mkdir()
    (tmp_path / "d.part" / "manifest.json").write_text("{}")
    (tmp_path / "d.part" / "thesis.txt").write_text("years of work")
    with pytest.raises(SynthprobeError, match=r"thesis\.txt in it is of no run"):
        folder_of(tmp_path, **options)
    assert sorted(os.listdir(tmp_path / "d.part")) == ["manifest.json", "thesis.txt"]


def ends_at_rename(number: int, folder: Path) -> None:
    """A forced run in a process of its own, that dies before it renames folders this often."""
    script = f"""
import os, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_folder import folder_of
replace, done = os.replace, 0
def dying(source, target):
    global done
    if Path(source).is_dir():
        done += 1
        if done == {number}:
            os._exit(9)
    replace(source, target)
os.replace = dying
import shutil
shutil.rmtree = lambda *_, **__: os._exit(9)
folder_of(Path({str(folder)!r}), seed=1, force=True)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_run_killed_while_it_replaces_a_dataset_loses_nothing(
    tmp_path: Path, number: int
) -> None:
    folder = folder_of(tmp_path)
    ends_at_rename(number, tmp_path)
    assert folder.exists() == (number != 2)
    if number < 3:  # the one before is there again, and is replaced only when that is asked for
        with pytest.raises(SynthprobeError, match="exists and is left as it is"):
            folder_of(tmp_path, seed=1, resume=True)
        assert open_dataset(folder).seed == 0
        inodes = {path.stat().st_ino for path in (tmp_path / "d.part").glob("*.h5")}
        folder_of(tmp_path, seed=1, resume=True, force=True)
        assert {path.stat().st_ino for path in folder.glob("*.h5")} == inodes
    else:
        folder_of(tmp_path, seed=1, resume=True)
    assert open_dataset(folder).seed == 1
    assert os.listdir(tmp_path) == ["d"]


def test_a_folder_that_cannot_get_its_name_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path)
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if Path(source).name == "d.part":
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(SynthprobeError, match="could not be renamed"):
        folder_of(tmp_path, seed=1, force=True)
    assert open_dataset(folder).seed == 0
    assert sorted(os.listdir(tmp_path)) == ["d", "d.part"]


def test_resume_keeps_what_is_right_and_makes_the_rest_again(tmp_path: Path) -> None:
    whole = folder_of(tmp_path)
    digest = open_dataset(whole).content_digest
    part = tmp_path / "d.part"
    whole.rename(part)
    (part / "manifest.json").unlink()
    files = sorted(part.glob("*.h5"))
    kept, damaged, cut, missing = files[:4]
    damaged_bytes = bytearray(damaged.read_bytes())
    damaged_bytes[len(damaged_bytes) // 2] ^= 0xFF
    damaged.write_bytes(damaged_bytes)
    cut.write_bytes(cut.read_bytes()[:-1000])
    missing.unlink()
    (part / "train-00000-of-00099.h5").write_bytes(b"of another run")
    inode = kept.stat().st_ino
    with pytest.raises(SynthprobeError, match="--resume continues"):
        folder_of(tmp_path)
    folder = folder_of(tmp_path, resume=True)
    assert open_dataset(folder).content_digest == digest
    assert (folder / kept.name).stat().st_ino == inode
    assert len(list(folder.glob("*.h5"))) == 5
    assert os.listdir(tmp_path) == ["d"]


def test_resume_does_not_keep_shards_of_another_seed(tmp_path: Path) -> None:
    folder_of(tmp_path).rename(tmp_path / "d.part")
    assert open_dataset(folder_of(tmp_path, seed=1, resume=True)).seed == 1
    fresh = generate_file(tmp_path / "one.h5", RDE, SMALL, splits=SPLITS, seed=1)
    assert open_dataset(tmp_path / "d").content_digest == fresh.content_digest


def test_resume_keeps_a_complete_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    before = {path.name: (path.read_bytes(), path.stat().st_ino) for path in folder.iterdir()}
    again = generate_folder(folder, RDE, SMALL, splits=SPLITS, shards=5, resume=True)
    assert again.content_digest == open_dataset(folder).content_digest
    for other in ({"seed": 1}, {"shards": 4}):
        with pytest.raises(SynthprobeError, match="exists and is left as it is"):
            folder_of(tmp_path, resume=True, **other)
    after = {path.name: (path.read_bytes(), path.stat().st_ino) for path in folder.iterdir()}
    assert after == before
    damaged = next(folder.glob("train-*.h5"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(SynthprobeError, match="exists and is left as it is"):
        folder_of(tmp_path, resume=True, seed=1)
    assert folder_of(tmp_path, resume=True, force=True) == folder
    assert open_dataset(folder).content_digest == again.content_digest


def test_resume_keeps_a_complete_file(tmp_path: Path) -> None:
    path = tmp_path / "one.h5"
    digest = generate_file(path, RDE, SMALL, splits=SPLITS).content_digest
    inode = path.stat().st_ino
    again = generate_file(path, RDE, SMALL, splits=SPLITS, resume=True)
    assert (again.content_digest, path.stat().st_ino) == (digest, inode)
    with pytest.raises(SynthprobeError, match="exists"):
        generate_file(path, RDE, SMALL, splits=SPLITS, seed=1, resume=True)


@pytest.mark.parametrize("left", [(), ("one.png",), ("one.png", "one.croissant.json")])
def test_resume_writes_the_cards_that_a_killed_run_did_not(
    tmp_path: Path, left: tuple[str, ...]
) -> None:
    path = tmp_path / "one.h5"
    generate_file(path, RDE, SMALL, splits=SPLITS)
    names = sorted(os.listdir(tmp_path))
    for card in set(names) - {"one.h5", *left}:
        (tmp_path / card).unlink()
    generate_file(path, RDE, SMALL, splits=SPLITS, resume=True)
    assert sorted(os.listdir(tmp_path)) == names
    assert len(names) == 4


def test_resume_of_a_forced_run_leaves_no_card_of_the_samples_before(tmp_path: Path) -> None:
    path = tmp_path / "one.h5"
    generate_file(path, RDE, SMALL, splits=SPLITS, seed=1)
    digest = generate_file(path, RDE, SMALL, splits=SPLITS, cards=False, force=True).content_digest
    generate_file(path, RDE, SMALL, splits=SPLITS, force=True, resume=True)
    assert digest in path.with_suffix(".md").read_text("utf-8")


def test_resume_leaves_a_text_of_another_that_has_the_name_of_a_card(tmp_path: Path) -> None:
    path = tmp_path / "one.h5"
    generate_file(path, RDE, SMALL, splits=SPLITS, cards=False)
    path.with_suffix(".md").write_text("precious")
    generate_file(path, RDE, SMALL, splits=SPLITS, resume=True)
    assert path.with_suffix(".md").read_text() == "precious"


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(process for child in children for process in family(int(child)))]


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended may still be listed, if nobody waits for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a run in /proc")
def test_the_workers_of_a_run_end_with_it(tmp_path: Path, start: Start) -> None:
    sizes = ["--train", "400000", "--test", "100000", "--shards", "200", "--workers", "2"]
    process = start(
        [
            *(sys.executable, "-m", "synthprobe_data.cli.gen", "rde", "--out", str(tmp_path / "d")),
            *(*SMALL_OPTIONS, *sizes),
        ],
        stdout=subprocess.PIPE,
    )
    while process.poll() is None and not list((tmp_path / "d.part").glob("*.h5")):
        time.sleep(0.01)
    workers = family(process.pid)[1:]
    assert workers
    process.kill()
    process.communicate(timeout=10)  # until nobody holds the pipe any more
    end = time.monotonic() + 10
    while any(map(is_running, workers)):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a run in /proc")
def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(
    tmp_path: Path, start: Start
) -> None:
    chance = random.Random(0)
    splits = {"train": 24_000, "test": 6000}
    sizes = ["--train", "24000", "--test", "6000", "--shards", "60", "--workers", "2"]
    command = ["rde", "--out", str(tmp_path / "d"), *SMALL_OPTIONS, *sizes, "--resume"]
    killed = 0
    for _ in range(40):
        process = start(
            [sys.executable, "-m", "synthprobe_data.cli.gen", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not (tmp_path / "d.part").exists():
            time.sleep(0.01)
        time.sleep(chance.uniform(0.1, 1.5))
        how = chance.choice(["parent", "worker", "all", "interrupt"])
        if killed < 8 and process.poll() is None:
            processes = family(process.pid)
            if how == "interrupt":
                os.killpg(process.pid, signal.SIGINT)
            else:
                chosen = {"parent": processes[:1], "worker": processes[-1:], "all": processes}[how]
                for pid in chosen:
                    with contextlib.suppress(ProcessLookupError):  # ended by itself meanwhile
                        os.kill(pid, signal.SIGKILL)
            killed += 1
        process.wait(60)  # its workers may live on for a moment, beside the next run
        if process.returncode == 0:
            break
    assert killed >= 3
    assert process.returncode == 0
    fresh = generate_file(tmp_path / "one.h5", RDE, SMALL, splits=splits, workers=1)
    assert open_dataset(tmp_path / "d").content_digest == fresh.content_digest
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["d"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--shards", "0"], "shards is 0"),
        (["--backend", "dask", "--shards", "3"], "go together"),
        (["--scheduler", "tcp://127.0.0.1:1", "--shards", "3"], "go together"),
        (["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"], "needs --shards"),
    ],
)
def test_options_that_do_not_fit_get_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    sizes = ["--train", "4", "--test", "2"]
    assert main(["rde", "--out", str(tmp_path / "d"), *SMALL_OPTIONS, *sizes, *options]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def test_the_manifest_describes_every_shard(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["synthprobe_format"] == 1
    assert manifest["splits"] == SPLITS
    assert sum(entry["rows"] for entry in manifest["shards"]) == 40
    for entry in manifest["shards"]:
        assert (folder / entry["file"]).stat().st_size == entry["bytes"]
