"""A damaged dataset is made again, by --resume and by verify --repair, and never another one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.cli.shards import main
from synthprobe_data.convert.merge_split import merge, split
from synthprobe_data.convert.select import select
from synthprobe_data.generation.inferred import infer_plans
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.shards.plan import plan_shards
from synthprobe_data.verification.verify import verify
from tests.data.damage import (
    SHARDS,
    SPLITS,
    change_manifest,
    contents,
    cut,
    flip,
    small_file,
    small_folder,
)

Damage = Callable[[Path], object]


DAMAGE: dict[str, Damage] = {
    "a row": lambda d: flip(d / SHARDS[1]),
    "a header": lambda d: cut(d / SHARDS[2]),
    "a missing shard": lambda d: (d / SHARDS[4]).unlink(),
    "no manifest": lambda d: (d / "manifest.json").unlink(),
    "half a manifest": lambda d: (d / "manifest.json").write_text('{"synthprobe_format": 1,'),
    "a wrong digest": lambda d: change_manifest(d, content_digest="0" * 64),
    "no manifest, a shard missing": lambda d: [
        (d / name).unlink() for name in ("manifest.json", SHARDS[1])
    ],
    "no manifest, a shard cut": lambda d: [(d / "manifest.json").unlink(), cut(d / SHARDS[0])],
    "no manifest, a row": lambda d: [(d / "manifest.json").unlink(), flip(d / SHARDS[3])],
    "an old Croissant file": lambda d: flip_hash(d / "croissant.json"),
}


def flip_hash(croissant: Path) -> None:
    said = json.loads(croissant.read_text())
    said["distribution"][0]["sha256"] = "0" * 64
    croissant.write_text(json.dumps(said))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_folder(tmp_path_factory.mktemp("whole") / "d")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "d")
    return tmp_path / "d"


def samples_of(folder: Path) -> dict[str, str]:
    """The content digest of each shard, and of all: their bytes depend on who packs them."""
    manifest = read_manifest(folder)
    digests = {entry.file: entry.content_digest for entry in manifest.shards}
    return {**digests, "all": manifest.content_digest}


def resume(folder: Path) -> None:
    small_folder(folder, resume=True)


def repair(folder: Path) -> None:
    assert main(["verify", str(folder), "--repair"]) == 0


@pytest.mark.parametrize("mend", [resume, repair])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_folder_is_as_it_was(
    folder: Path, whole: Path, damage: Damage, mend: Damage
) -> None:
    kept = {name: (folder / name).stat().st_ino for name in SHARDS}
    damage(folder)
    assert not verify(folder).ok
    before = contents(folder)
    lost = {name for name in SHARDS if contents(whole)[name] != before.get(name)}
    mend(folder)
    assert verify(folder).ok
    assert samples_of(folder) == samples_of(whole)
    for name in set(SHARDS) - lost:  # what was right is not made again
        assert (folder / name).stat().st_ino == kept[name]
    assert os.listdir(folder.parent) == ["d"]
    assert set(os.listdir(folder)) == set(os.listdir(whole))


@pytest.mark.parametrize("mend", [resume, repair])
def test_what_is_right_and_what_is_of_others_is_not_touched(folder: Path, mend: Damage) -> None:
    (folder / "README.md").write_text("my own words")
    (folder / "notes.txt").write_text("precious")
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    mend(folder)
    assert {path.name: path.stat().st_ino for path in folder.iterdir()} == before
    flip(folder / SHARDS[0])
    mend(folder)
    assert verify(folder).ok
    assert (folder / "README.md").read_text() == "my own words"
    assert (folder / "notes.txt").read_text() == "precious"


@pytest.mark.parametrize("options", [{"seed": 1}, {"shards": 4}, {"splits": {"train": 31}}])
@pytest.mark.parametrize("lost", ["manifest.json", SHARDS[0]])
def test_a_damaged_folder_of_another_run_is_left_as_it_is(
    folder: Path, lost: str, options: dict
) -> None:
    (folder / lost).unlink()
    before = contents(folder)
    with pytest.raises(SynthprobeError, match="left as it is"):
        small_folder(folder, resume=True, **options)
    assert contents(folder) == before


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_resumed_run_that_is_killed_again_loses_nothing(
    folder: Path, whole: Path, number: int
) -> None:
    flip(folder / SHARDS[0])
    cut(folder / SHARDS[3])
    (folder / "manifest.json").unlink()
    (folder / SHARDS[4]).unlink()
    dies_at_rename(number, f"small_folder(Path({str(folder)!r}), resume=True)")
    for name in (SHARDS[1], SHARDS[2]):
        assert contents(folder)[name] == contents(whole)[name]
    resume(folder)
    assert verify(folder).ok
    assert samples_of(folder) == samples_of(whole)
    assert set(os.listdir(folder)) == set(os.listdir(whole))


def dies_at_rename(number: int, call: str) -> None:
    """Run a call in a process of its own that dies before it renames this often, if it does."""
    script = f"""
import os
from pathlib import Path
from tests.data.damage import small_file, small_folder
replace, done = os.replace, 0
def dying(source, target):
    global done
    done += 1
    if done == {number}:
        os._exit(9)
    replace(source, target)
os.replace = dying
{call}
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, check=False)
    assert done.returncode in (0, 9)


@pytest.mark.parametrize("other", [{"seed": 1}, {"block_rows": 7}], ids=["other rows", "the same"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_forced_run_killed_at_any_rename_leaves_no_wrong_card_after_resume(
    tmp_path: Path, number: int, other: dict
) -> None:
    path = small_file(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:  # other bytes for the same rows
        file["image"].attrs["note"] = "to be replaced"
    options = ", ".join(f"{name}={value}" for name, value in other.items())
    dies_at_rename(number, f"small_file(Path({str(path)!r}), force=True, {options})")
    if number == 1 and "seed" in other:  # the file before is still there
        with pytest.raises(SynthprobeError, match="exists and is left as it is"):
            small_file(path, resume=True, **other)
        return
    small_file(path, resume=True, **other)
    if number > 1:
        assert verify(path).ok
        data = open_dataset(path)
        assert data.content_digest in path.with_suffix(".md").read_text("utf-8")
        assert data.seed == other.get("seed", 0)
    assert sorted(os.listdir(tmp_path)) == ["a.croissant.json", "a.h5", "a.md", "a.png"]


@pytest.mark.parametrize("mend", ["resume", "repair"])
@pytest.mark.parametrize("cards", [True, False])
def test_a_damaged_file_is_made_again(tmp_path: Path, mend: str, cards: bool) -> None:
    path = small_file(tmp_path / "a.h5", cards=cards)
    before, digest = os.listdir(tmp_path), open_dataset(path).content_digest
    flip(path)
    assert not verify(path).ok
    if mend == "repair":
        assert main(["verify", str(path), "--repair"]) == 0
    else:
        small_file(path, cards=cards, resume=True)
    assert verify(path).ok
    assert sorted(os.listdir(tmp_path)) == sorted(before)
    assert open_dataset(path).content_digest == digest


def test_a_part_of_a_dataset_is_made_again_with_its_own_indices(tmp_path: Path) -> None:
    split(small_file(tmp_path / "a.h5"), tmp_path / "d", 5)
    path = tmp_path / "middle.h5"
    merge([tmp_path / "d" / name for name in SHARDS[1:3]], path)
    before = open_dataset(path)
    flip(path)
    assert not verify(path).ok
    assert main(["verify", str(path), "--repair"]) == 0
    assert open_dataset(path).content_digest == before.content_digest
    assert open_dataset(path)["train"].index_start == before["train"].index_start == 7
    split(path, tmp_path / "two", 2)
    (tmp_path / "two" / "train-00001-of-00002.h5").unlink()
    assert main(["verify", str(tmp_path / "two"), "--repair"]) == 0
    assert merge([tmp_path / "two"], tmp_path / "again.h5") == open_dataset(path).content_digest


def other_seed(path: Path) -> None:
    with h5py.File(path, "a") as file:
        file.attrs["seed"] = 5


def other_version(path: Path) -> None:
    with h5py.File(path, "a") as file:
        file.attrs["version"] = np.bytes_(b"9.9.9")


def other_version_in_all(folder: Path) -> None:
    for name in SHARDS:
        other_version(folder / name)
    change_manifest(folder, version="9.9.9")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (cut, "cannot be repaired, as nobody knows what it was"),
        (other_seed, "so one of the two is wrong"),
        (other_version, "and this generator makes version"),
    ],
)
def test_a_file_of_which_nobody_knows_what_it_was_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Damage, sentence: str
) -> None:
    path = small_file(tmp_path / "a.h5", cards=False)
    flip(path)
    damage(path)
    before = path.read_bytes()
    assert main(["verify", str(path), "--repair"]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert path.read_bytes() == before


def test_a_selection_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.h5"
    select(small_file(tmp_path / "a.h5", cards=False), path, rows="0-3")
    flip(path)
    before = path.read_bytes()
    assert main(["verify", str(path), "--repair"]) == 2
    assert "select them again from the dataset" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda d: [cut(d / name) for name in SHARDS], "No shard in it can be read"),
        (lambda d: (d / SHARDS[4]).unlink(), "its shards are not all that README.md describes"),
        (lambda d: [(d / n).unlink() for n in SHARDS[1:4]], "do not tell how many samples train"),
        (lambda d: other_seed(d / SHARDS[0]), "are not of one dataset"),
        (lambda d: (d / SHARDS[0]).rename(d / "x.h5"), "has not the name of a shard"),
    ],
)
def test_a_folder_without_manifest_of_which_nobody_knows_what_it_was_is_left_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], damage: Damage, sentence: str
) -> None:
    (folder / "manifest.json").unlink()
    damage(folder)
    before = contents(folder)
    assert main(["verify", str(folder), "--repair"]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert contents(folder) == before


def test_a_folder_of_another_version_is_left_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_version_in_all(folder)
    before = contents(folder)
    assert main(["verify", str(folder), "--repair"]) == 2
    assert "and this generator makes version" in capsys.readouterr().err
    assert contents(folder) == before


def test_a_manifest_with_another_seed_does_not_make_another_dataset(folder: Path) -> None:
    before = samples_of(folder)
    change_manifest(folder, seed=7)
    flip(folder / SHARDS[0])
    assert main(["verify", str(folder), "--repair"]) == 0
    assert samples_of(folder) == before
    assert open_dataset(folder).seed == 0


def test_repair_says_what_it_made_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(folder / SHARDS[1])
    assert main(["verify", str(folder), "--repair"]) == 0
    said = capsys.readouterr().out
    assert f"made again: {SHARDS[1]}\n" in said
    assert "is as it should be" in said
    flip(folder / SHARDS[2])
    assert main(["verify", str(folder), "--repair", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["made_again"]) == (True, [SHARDS[2]])
    assert main(["verify", str(folder), "--repair", "--samples", "3"]) == 2


@given(
    sizes=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    extra=st.integers(0, 12),
    data=st.data(),
)
def test_shards_that_are_left_never_tell_a_wrong_plan(
    sizes: tuple[int, int], extra: int, data: st.DataObject
) -> None:
    splits = dict(zip(SPLITS, sizes, strict=True))
    plans = plan_shards(splits, min(2 + extra, sum(sizes)))
    left = data.draw(st.sets(st.sampled_from(plans)))
    seen = {plan.split for plan in left}
    headers = {plan.file: HeaderOf(plan.span, plan.rows) for plan in left}
    if left == set(plans):
        assert infer_plans(headers, list(splits)) == plans  # type: ignore[arg-type]
        return
    try:
        found = infer_plans(headers, list(splits))  # type: ignore[arg-type]
    except SynthprobeError:  # they do not tell
        return
    assert found == [plan for plan in plans if plan.split in seen]


class HeaderOf:
    """As much of a header as tells where its rows belong."""

    def __init__(self, place: dict, rows: int) -> None:
        self.splits = place["splits"]
        self.index_start = place["index_start"]
        self.rows = rows
