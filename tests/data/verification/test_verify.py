"""The verifier: good files pass, and each kind of damage is named with its row."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, make_file, make_sample, ready_path
from synthprobe_data.convert.merge_split import split
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import RDE, first_refused, read_scene
from synthprobe_data.rde.generate import generate_block
from synthprobe_data.shards.digest import content_digest
from synthprobe_data.verification.report import Report
from synthprobe_data.verification.rows import MAX_UNDECODED
from synthprobe_data.verification.verify import verify

SMALL: dict[str, Any] = {
    "height": 40,
    "width": 32,
    "n_rectangles": 4,
    "n_vis": 3,
    "n_gap": 2,
    "n_par": 3,
}
TRAIN, TEST = 12, 5
ROW = 3

Damage = Callable[[h5py.File], None]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Few trials, so that some scenes stop short and have unused places.
    path = tmp_path_factory.mktemp("good") / "rde.h5"
    make_file("rde", path, train=TRAIN, test=TEST, config=RdeConfig(**SMALL, trials=20))
    return path


def without(file: h5py.File, *, name: str) -> None:
    del file.attrs[name]


def damaged(good: Path, folder: Path, damage: Damage, *, new_digest: bool = True) -> Path:
    """A copy of a file with some damage, and with the digest of its damaged rows."""
    path = folder / "rde.h5"
    shutil.copy(good, path)
    with h5py.File(path, "r+") as file:
        damage(file)
        if new_digest:
            restamp(file)
    return path


def restamp(file: h5py.File) -> None:
    digest = content_digest({name: file[name][()] for name in file})
    file.attrs["content_digest"] = np.bytes_(digest)


def found(report: Report) -> set[tuple[str, int | None]]:
    return {(failure.check, failure.row) for failure in report.failures}


@pytest.mark.parametrize("mode", ["certified", "rules", "ambiguous"])
@pytest.mark.parametrize("settings", [SMALL, {}], ids=["small", "paper"])
def test_good_files_pass(tmp_path: Path, mode: str, settings: dict[str, Any]) -> None:
    config = RdeConfig(**settings, mode=mode)
    make_file("rde", tmp_path / "a.h5", train=9, test=4, seed=3, config=config)
    report = verify(tmp_path / "a.h5")
    assert report.ok
    assert report.failures == []
    assert report.rows == report.rows_checked == report.done["image"] == 13
    assert ("certificate" in report.done) == (mode == "certified")
    assert report.done["content_digest"] == report.done["palette"] == 1


def test_workers_find_what_one_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synthprobe_data.verification.rows.TASK_BYTES", 2**19)
    path = tmp_path / "a.h5"
    config = RdeConfig(height=16, width=16, n_rectangles=4, n_vis=1, n_gap=1, n_par=1)
    make_file("rde", path, train=1100, test=50, config=config)
    with h5py.File(path, "r+") as file:
        file["rank"][1030, 0, 0] ^= 1
    alone, together = verify(path, workers=1), verify(path, workers=2)
    assert together.workers == 2
    assert alone.failures == together.failures
    assert alone.done == together.done
    assert ("rank", 1030) in found(together)


def change(name: str, *place: int, by: int = 1) -> Damage:
    def damage(file: h5py.File) -> None:
        file[name][place] ^= by

    return damage


def move_rectangle(file: h5py.File) -> None:
    step = 1 if file["rectangles"][ROW, 0, 2] < SMALL["width"] else -1
    file["rectangles"][ROW, 0] += np.array([step, 0, step, 0], np.int16)


def rectangle_outside(file: h5py.File) -> None:
    file["rectangles"][ROW, 0, 2] = SMALL["width"] + 1


def empty_rectangle(file: h5py.File) -> None:
    file["rectangles"][ROW, 0, 3] = file["rectangles"][ROW, 0, 1]


def swap_cues(file: h5py.File) -> None:
    assert file["above"][ROW].any()
    file["above"][ROW] = file["above"][ROW].T


def other_cue(file: h5py.File) -> None:
    above = file["above"][ROW]
    above[above > 0] ^= 3
    file["above"][ROW] = above


def no_rectangles(file: h5py.File) -> None:
    file["n_rectangles"][ROW] = 0


def too_many_rectangles(file: h5py.File) -> None:
    file["n_rectangles"][ROW] = 255


def same_colors(file: h5py.File) -> None:
    file["color"][ROW, 1] = file["color"][ROW, 0]


def color_beyond_palette(file: h5py.File) -> None:
    file["color"][ROW, 0] = 200


def swapped_colors(file: h5py.File) -> None:
    file["color"][ROW, :2] = file["color"][ROW, :2][::-1]


DAMAGED_ROWS = {
    "a pixel of the picture": (change("image", ROW, 7, 9, 2), {"image"}),
    "a pixel of the ranks": (change("rank", ROW, 7, 9), {"rank"}),
    "a pixel of the labels": (change("label", ROW, 7, 9), {"label"}),
    "swapped cues": (swap_cues, {"above"}),
    "another cue": (other_cue, {"above"}),
    "a wrong rank": (change("rectangle_rank", ROW, 0, by=4), {"rectangle_rank"}),
    "no rectangles": (no_rectangles, {"rectangles"}),
    "too many rectangles": (too_many_rectangles, {"rectangles"}),
    "a rectangle outside the picture": (rectangle_outside, {"rectangles"}),
    "an empty rectangle": (empty_rectangle, {"rectangles"}),
    "a colour twice": (same_colors, {"color"}),
    "a colour beyond the palette": (color_beyond_palette, {"color"}),
    "swapped colours": (swapped_colors, {"image"}),
}


@pytest.mark.parametrize(("damage", "checks"), DAMAGED_ROWS.values(), ids=DAMAGED_ROWS.keys())
def test_damage_to_a_row_is_named(
    good: Path, tmp_path: Path, damage: Damage, checks: set[str]
) -> None:
    report = verify(damaged(good, tmp_path, damage))
    assert not report.ok
    assert found(report) == {(check, ROW) for check in checks}
    failure = report.failures[0]
    assert (failure.file, failure.split, failure.index) == ("rde.h5", "train", ROW)
    assert failure.sentence.endswith(".")


def test_a_moved_rectangle_is_named(good: Path, tmp_path: Path) -> None:
    report = verify(damaged(good, tmp_path, move_rectangle))
    assert {("label", ROW), ("image", ROW)} <= found(report)
    assert {row for _, row in found(report)} == {ROW}


@pytest.mark.parametrize("name", ["rectangles", "color", "rectangle_rank", "above"])
def test_an_unused_place_that_is_used_is_named(good: Path, tmp_path: Path, name: str) -> None:
    with h5py.File(good) as file:
        row = int(np.flatnonzero(file["n_rectangles"][()] < SMALL["n_rectangles"])[-1])
    damage = change(name, row, *(-1,) * (1 if name in ("color", "rectangle_rank") else 2))
    assert found(verify(damaged(good, tmp_path, damage))) == {("unused", row)}


def test_an_index_of_the_second_split_is_counted_from_its_start(good: Path, tmp_path: Path) -> None:
    report = verify(damaged(good, tmp_path, change("rank", TRAIN + 2, 0, 0)))
    assert [(f.split, f.index, f.row) for f in report.failures] == [("test", 2, TRAIN + 2)]


def put_sample(row: int, mode: str, index: int) -> Damage:
    sample = make_sample("rde", index=index, config=RdeConfig(**SMALL, trials=20, mode=mode))

    def damage(file: h5py.File) -> None:
        for name, value in sample.items():
            file[name][row] = value

    return damage


def first_index(mode: str, wanted: Callable[[np.ndarray], bool]) -> int:
    config = RdeConfig(**SMALL, trials=20, mode=mode)
    for index in range(5000):
        sample = make_sample("rde", index=index, config=config)
        if wanted(sample["rectangles"][: sample["n_rectangles"]]):
            return index
    raise AssertionError("there is no such scene among the first")


def failure_of(rectangles: np.ndarray) -> str | None:
    return read_scene(rectangles, height=SMALL["height"], width=SMALL["width"]).failure


@pytest.mark.parametrize("failure", ["unreadable", "undecided", "unstable"])
def test_an_uncertified_scene_is_named(tmp_path: Path, failure: str) -> None:
    # By looser rules, by which each of the three comes up.
    loose: dict[str, Any] = {"n_vis": 0, "n_gap": 0, "n_par": 0}
    path = tmp_path / "rde.h5"
    make_file("rde", path, train=6, test=0, config=RdeConfig(**loose), cards=False)
    block = generate_block(RdeConfig(**loose, mode="rules"), 0, "train", 0, 1500)
    scenes = zip(block["rectangles"], block["n_rectangles"], strict=True)
    failures = [read_scene(r[:n], height=128, width=128).failure for r, n in scenes]
    with h5py.File(path, "r+") as file:
        for name, column in block.items():
            file[name][ROW] = column[failures.index(failure)]
        restamp(file)
    assert found(verify(path)) == {("certificate", ROW)}


def test_a_broken_rule_is_named(good: Path, tmp_path: Path) -> None:
    config = RdeConfig(**SMALL, trials=20)
    index = first_index(
        "ambiguous", lambda r: first_refused(config, r) is not None and failure_of(r) is None
    )
    report = verify(damaged(good, tmp_path, put_sample(ROW, "ambiguous", index)))
    assert found(report) == {("rules", ROW)}


@pytest.mark.parametrize(("row", "first"), [(5, 2), (TRAIN + 1, 4)], ids=["within", "across"])
def test_a_sample_that_is_there_twice_is_named(
    good: Path, tmp_path: Path, row: int, first: int
) -> None:
    def repeat(file: h5py.File) -> None:
        for name in file:
            file[name][row] = file[name][first]

    report = verify(damaged(good, tmp_path, repeat))
    assert found(report) == {("duplicate", row), ("regenerated", row)}
    (sentence,) = [f.sentence for f in report.failures if f.check == "duplicate"]
    assert f"row {first} of rde.h5 (train {first})" in sentence


def test_wrong_attributes_are_named(good: Path, tmp_path: Path) -> None:
    def damage(file: h5py.File) -> None:
        file.attrs["palette"] = file.attrs["palette"][::-1]
        file.attrs["normalisation"] = np.bytes_('{"rank": {"offset": 0, "divisor": 5}}')
        file.attrs["version"] = np.bytes_("0.0.1")
        file.attrs["license"] = np.bytes_("all rights reserved")
        file.attrs["citation"] = np.bytes_("cite me instead")

    names = ("palette", "normalisation", "version", "license", "citation")
    checks = {(name, None) for name in names}
    assert found(verify(damaged(good, tmp_path, damage))) == checks
    for name in ("palette", "normalisation", "license", "citation"):
        (tmp_path / name).mkdir()
        path = damaged(good, tmp_path / name, partial(without, name=name))
        assert found(verify(path)) == {(name, None)}


def test_a_file_is_held_to_the_croissant_file_beside_it(good: Path, tmp_path: Path) -> None:
    for name in ("rde.h5", "rde.croissant.json"):
        shutil.copy(good.with_name(name), tmp_path)
    path, croissant = tmp_path / "rde.h5", tmp_path / "rde.croissant.json"
    report = verify(path)
    assert report.ok
    assert report.done["sha256"] == 1
    # The same rows in other bytes.
    with path.open("ab") as file:
        file.write(b"\0")
    report = verify(path)
    assert found(report) == {("sha256", None)}
    assert "not as in rde.croissant.json" in report.failures[0].sentence
    for text in (
        "",
        "[]",
        "{}",
        '{"distribution": ["x"]}',
        '{"distribution": [{"name": "x.h5"}]}',
        "[" * 20_000,
    ):
        croissant.write_text(text)
        assert found(verify(path)) == {("sha256", None)}
    croissant.unlink()
    report = verify(path)
    assert report.ok
    assert "sha256" not in report.done


def test_another_digest_is_named(good: Path, tmp_path: Path) -> None:
    def damage(file: h5py.File) -> None:
        file.attrs["content_digest"] = np.bytes_("0" * 64)

    report = verify(damaged(good, tmp_path, damage, new_digest=False))
    assert found(report) == {("content_digest", None)}
    path = damaged(good, tmp_path, change("rank", ROW, 0, 0), new_digest=False)
    assert found(verify(path)) == {("content_digest", None), ("rank", ROW)}


@pytest.mark.parametrize("kind", ["garbage", "truncated", "too short", "too long"])
def test_a_damaged_chunk_is_named(good: Path, tmp_path: Path, kind: str) -> None:
    def damage(file: h5py.File) -> None:
        stored = file["image"].id
        chunk = stored.read_direct_chunk((ROW, 0, 0, 0))[1]
        row = zlib.decompress(chunk)
        new = {
            "garbage": bytes(len(chunk)),
            "truncated": chunk[:-2],
            "too short": zlib.compress(row[:-1]),
            "too long": zlib.compress(row + b"\0"),
        }[kind]
        stored.write_direct_chunk((ROW, 0, 0, 0), new)

    report = verify(damaged(good, tmp_path, damage, new_digest=False))
    assert found(report) == {("decode", ROW)}
    assert "row 3 of image" in report.failures[0].sentence
    assert report.done["image"] == TRAIN + TEST - 1
    assert "content_digest" not in report.done


def test_a_chunk_that_was_never_written_is_named(good: Path, tmp_path: Path) -> None:
    def damage(file: h5py.File) -> None:
        rank = file["rank"][()]
        del file["rank"]
        new = file.create_dataset(
            "rank", rank.shape, rank.dtype, chunks=(1, *rank.shape[1:]), compression="gzip"
        )
        for row in {*range(len(rank))} - {ROW}:
            new[row] = rank[row]

    report = verify(damaged(good, tmp_path, damage, new_digest=False))
    assert found(report) == {("format", None)}
    assert "its rank has 16 of 17 chunks" in report.failures[0].sentence


def test_rows_without_end_that_cannot_be_decoded_are_counted_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synthprobe_data.verification.rows.TASK_BYTES", 2**17)
    path = tmp_path / "a.h5"
    make_file("rde", path, train=70, test=30, config=RdeConfig(**SMALL))
    with h5py.File(path, "r+") as file:
        for row in range(5, 95):
            file["rank"].id.write_direct_chunk((row, 0, 0), b"no zlib")
    report = verify(path, workers=1)
    decode = [failure for failure in report.failures if failure.check == "decode"]
    assert len(decode) == MAX_UNDECODED + 1
    assert [failure.row for failure in decode[:-1]] == list(range(5, 5 + MAX_UNDECODED))
    assert decode[-1].sentence == f"{90 - MAX_UNDECODED} more rows cannot be decoded."
    assert report.failed["decode"] == 90
    assert report.done["decode"] == 100


def test_a_file_stored_in_another_way_passes(good: Path, tmp_path: Path) -> None:
    def repack(file: h5py.File) -> None:
        for name, options in (("rank", {"chunks": (4, 20, 16)}), ("label", {}), ("image", {})):
            rows = file[name][()]
            del file[name]
            file.create_dataset(name, data=rows, **options)

    assert verify(damaged(good, tmp_path, repack, new_digest=False)).ok


def test_a_damaged_chunk_of_many_rows_is_named_once(good: Path, tmp_path: Path) -> None:
    def damage(file: h5py.File) -> None:
        file["above"].id.write_direct_chunk((0, 0, 0), b"no zlib")

    report = verify(damaged(good, tmp_path, damage, new_digest=False))
    assert found(report) == {("decode", 0)}
    assert "of above" in report.failures[0].sentence


def test_a_file_that_cannot_be_opened_is_one_failure(good: Path, tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("not HDF5")
    assert found(verify(tmp_path / "text.h5")) == {("format", None)}

    def damage(file: h5py.File) -> None:
        del file["rank"]

    path = damaged(good, tmp_path, damage, new_digest=False)
    assert found(verify(path)) == {("format", None)}


def test_what_is_not_there_or_makes_no_sense_is_refused(good: Path, tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError, match="does not exist"):
        verify(tmp_path / "gone.h5")
    with pytest.raises(SynthprobeError, match="0 samples to check"):
        verify(good, sample=0)
    with pytest.raises(SynthprobeError, match="workers is 0"):
        verify(good, workers=0)


def test_a_sample_of_rows_is_spread_evenly_and_always_the_same(good: Path, tmp_path: Path) -> None:
    path = damaged(good, tmp_path, change("rank", slice(None), 0, 0))  # type: ignore[arg-type]
    report = verify(path, sample=4)
    assert [f.row for f in report.failures] == [2, 6, 10, 14]
    assert report.rows_checked == report.done["decode"] == 4
    assert "content_digest" not in report.done
    assert verify(path, sample=4).failures == report.failures
    assert verify(path, sample=1000).done["content_digest"] == 1


# ----------------------------------------------------------------------------------------- folders


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    split(good, tmp_path / "rde", 4)
    return tmp_path / "rde"


def edit_manifest(folder: Path, change: Callable[[dict], None]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_good_folder_passes(folder: Path) -> None:
    report = verify(folder)
    assert report.ok
    assert report.done["sha256"] == report.done["format"] == 4
    assert report.done["content_digest"] == 5
    assert report.rows_checked == TRAIN + TEST


def test_a_changed_byte_of_a_shard_is_named(folder: Path) -> None:
    name = "train-00001-of-00003.h5"
    with h5py.File(folder / name, "r+") as file:
        file["rank"][1, 0, 0] ^= 1
    report = verify(folder)
    assert {(f.file, f.check) for f in report.failures} == {
        (name, "sha256"),
        (name, "rank"),
        (name, "content_digest"),
        ("manifest.json", "content_digest"),
    }
    assert [(f.split, f.index, f.row) for f in report.failures if f.check == "rank"] == [
        ("train", 5, 1)
    ]


def test_a_sample_shared_between_shards_is_named(folder: Path) -> None:
    with (
        h5py.File(folder / "train-00000-of-00003.h5") as file,
        h5py.File(folder / "test-00000-of-00001.h5", "r+") as other,
    ):
        for name in file:
            other[name][2] = file[name][1]
    report = verify(folder)
    assert [(f.file, f.row) for f in report.failures if f.check == "duplicate"] == [
        ("test-00000-of-00001.h5", 2)
    ]


def test_missing_exchanged_and_extra_shards_are_named(folder: Path) -> None:
    first, second = (folder / f"train-0000{k}-of-00003.h5" for k in (0, 1))
    shutil.copy(first, folder / "more.h5")
    assert [f.sentence for f in verify(folder).failures] == [
        "it does not name more.h5, which is beside it."
    ]
    (folder / "more.h5").unlink()
    first.rename(folder / "x")
    second.rename(first)
    (folder / "x").rename(second)
    checks = {(f.file, f.check) for f in verify(folder).failures}
    assert {(first.name, "sha256"), (first.name, "manifest"), (second.name, "manifest")} <= checks
    first.unlink()
    checks = {(f.file, f.check) for f in verify(folder).failures}
    assert (first.name, "format") in checks


@pytest.mark.parametrize(
    ("change", "file"),
    [
        (lambda m: m.update(content_digest="0" * 64), "manifest.json"),
        (lambda m: m.update(seed=1), "train-00000-of-00003.h5"),
        (lambda m: m["config"].update(n_vis=4), "train-00000-of-00003.h5"),
        (lambda m: m["splits"].update(train=13), "manifest.json"),
        (lambda m: m["shards"][1].update(index_start=5), "manifest.json"),
        (lambda m: m["shards"][0].update(sha256="0" * 64), "train-00000-of-00003.h5"),
        (lambda m: m["shards"][0].update(split=["train"]), "manifest.json"),
        (lambda m: m["shards"].clear(), "manifest.json"),
        (lambda m: m.pop("shards"), "manifest.json"),
    ],
)
def test_a_wrong_manifest_is_named(
    folder: Path,
    change: Callable[[dict], None],
    file: str,
) -> None:
    edit_manifest(folder, change)
    report = verify(folder)
    assert not report.ok
    assert file in {failure.file for failure in report.failures}


def test_the_croissant_file_of_a_folder_is_held_to_its_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "rde"
    sizes = {"train": 4, "test": 2}
    generate_folder(folder, RDE, RdeConfig(**SMALL), shards=3, splits=sizes, workers=1)
    croissant = folder / "croissant.json"
    whole = croissant.read_text()
    assert verify(folder).done["croissant"] == 1
    stated = json.loads(whole)["distribution"][0]["sha256"]
    for text in (whole.replace(stated, "0" * 64), "", "[]", "{}", '{"distribution": []}'):
        croissant.write_text(text)
        report = verify(folder)
        assert [(f.file, f.check) for f in report.failures] == [("croissant.json", "croissant")]
    croissant.unlink()
    report = verify(folder)
    assert report.ok
    assert "croissant" not in report.done


def test_a_folder_without_a_manifest_is_one_failure(tmp_path: Path) -> None:
    assert found(verify(tmp_path)) == {("manifest", None)}


@pytest.mark.parametrize("mode", ["certified", "ambiguous"])
def test_pixels_of_good_files_are_read_and_counted(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.h5"
    make_file("rde", path, train=40, test=4, config=RdeConfig(**SMALL, mode=mode))
    report = verify(path, pixels=True)
    assert report.ok
    assert report.done["pixels"] == report.readings["read"] == 44
    open_questions = report.readings["not unambiguous"] + report.readings["other ranks"]
    assert (open_questions == 0) == (mode == "certified")
    assert verify(path).readings == {}


def paint_over(file: h5py.File) -> None:
    file["image"][ROW, 10:20, 10:20] = 40


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (change("rank", ROW, 20, 16), "tells other ranks"),
        (change("label", ROW, 20, 16), "shows other regions"),
        (paint_over, "this is not an RDE picture"),
    ],
)
def test_a_row_that_the_pixels_contradict_is_named(
    good: Path, tmp_path: Path, damage: Damage, sentence: str
) -> None:
    report = verify(damaged(good, tmp_path, damage), pixels=True)
    misread = [failure for failure in report.failures if failure.check == "pixels"]
    assert [failure.row for failure in misread] == [ROW]
    assert sentence in misread[0].sentence


def test_a_whole_picture_of_another_sample_is_told_from_the_pixels(
    good: Path, tmp_path: Path
) -> None:
    def exchange(file: h5py.File) -> None:
        file["image"][ROW] = file["image"][ROW + 1]

    report = verify(damaged(good, tmp_path, exchange), pixels=True)
    assert ("pixels", ROW) in found(report)


def test_pixels_that_no_solver_can_read_are_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    make_file("rde", path, train=2, test=1, config=RdeConfig(**SMALL, blur=2.0, mode="rules"))
    with pytest.raises(SynthprobeError, match=r"blur is 2: .* below about 0.84"):
        verify(path, pixels=True)
    assert verify(path).ok


@pytest.mark.parametrize("name", ["centered-square", "color-code"])
def test_a_dataset_without_a_solver_is_refused(name: str) -> None:
    with pytest.raises(SynthprobeError, match=f"there is no solver for {name}"):
        verify(ready_path(name), pixels=True)
