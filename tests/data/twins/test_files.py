"""Files of twins: no command takes a pair apart, and each shows what a pair is."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from synthprobe_data import DATASETS, SynthprobeError, TwinsConfig, make_file, open_dataset
from synthprobe_data.cli.gen import main as generate
from synthprobe_data.cli.shards import main as shards
from synthprobe_data.convert.export import export_png, export_webdataset
from synthprobe_data.convert.merge_split import merge, split
from synthprobe_data.convert.select import select
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.generation.inferred import infer_plans
from synthprobe_data.shards.digest import content_digest
from synthprobe_data.shards.plan import plan_shards
from synthprobe_data.verification.verify import verify

CONFIG = TwinsConfig(height=10, width=30, min_distance=6)
SPLITS: dict[str, Any] = {"train": 26, "validation": 6, "test": 10}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("twins") / "twins.h5"
    make_file("twins", path, splits=SPLITS, seed=5, config=CONFIG, workers=1)
    return path


def indices(path: Path) -> dict[str, list[int]]:
    with open_dataset(path) as data:
        return {name: data[name]["index"].tolist() for name in data.splits}


def assert_whole_pairs(path: Path) -> None:
    for name, found in indices(path).items():
        assert found, name
        assert {index ^ 1 for index in found} == set(found)


@given(
    st.dictionaries(
        st.sampled_from(["train", "validation", "test"]), st.integers(1, 60), min_size=1
    ),
    st.integers(1, 60),
)
def test_shards_begin_and_end_between_pairs(pairs: dict[str, int], count: int) -> None:
    splits = {name: 2 * number for name, number in pairs.items()}
    if not len(splits) <= count <= sum(pairs.values()):
        with pytest.raises(SynthprobeError, match="each shard 2 samples that belong together"):
            plan_shards(splits, count, 2)
        return
    plans = plan_shards(splits, count, 2)
    assert len(plans) == count
    for name, size in splits.items():
        own = [plan for plan in plans if plan.split == name]
        assert sum(plan.rows for plan in own) == size
        assert all(plan.rows % 2 == plan.index_start % 2 == 0 for plan in own)
        assert max(plan.rows for plan in own) - min(plan.rows for plan in own) <= 2


@given(st.integers(1, 150), st.integers(1, 12), st.data())
def test_shards_that_are_left_never_tell_a_wrong_plan(
    pairs: int, count: int, data: st.DataObject
) -> None:
    plans = plan_shards({"train": 2 * pairs}, min(count, pairs), 2)
    left = data.draw(st.sets(st.sampled_from(plans), min_size=1))
    headers: Any = {p.file: SimpleNamespace(**p.span, rows=p.rows) for p in left}
    try:
        found = infer_plans(headers, ["train"], 2)
    except SynthprobeError:  # they do not tell
        assert left != set(plans)
        return
    assert found == plans


def test_generated_shards_have_whole_pairs(file: Path, tmp_path: Path) -> None:
    run = generate_folder(
        tmp_path / "a", DATASETS["twins"], CONFIG, seed=5, splits=SPLITS, shards=9, workers=1
    )
    with open_dataset(file) as data:
        assert run.content_digest == data.content_digest
    paths = sorted((tmp_path / "a").glob("*.h5"))
    assert len(paths) == 9
    for path in paths:
        assert_whole_pairs(path)
    report = verify(tmp_path / "a")
    assert report.ok, report.failures


def test_split_and_merge_keep_pairs(file: Path, tmp_path: Path) -> None:
    digest = split(file, tmp_path / "parts", 7)
    for path in (tmp_path / "parts").glob("*.h5"):
        assert_whole_pairs(path)
    assert merge(sorted((tmp_path / "parts").glob("*.h5")), tmp_path / "again.h5") == digest
    assert verify(tmp_path / "again.h5").ok


@pytest.mark.parametrize("lost", ["train-00002-of-00005.h5", "validation-00000-of-00001.h5"])
def test_a_lost_shard_is_made_again(lost: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seed": 5, "splits": SPLITS, "shards": 8, "workers": 1}
    run = generate_folder(tmp_path / "a", DATASETS["twins"], CONFIG, **options)
    (tmp_path / "a" / lost).unlink()
    again = generate_folder(tmp_path / "a", DATASETS["twins"], CONFIG, **options, resume=True)
    assert again.content_digest == run.content_digest
    (tmp_path / "a" / lost).unlink()
    (tmp_path / "a" / "manifest.json").unlink()
    if lost.startswith("train"):  # of a split with one shard, nothing is left to tell of it
        assert shards(["verify", str(tmp_path / "a"), "--repair"]) == 0
        with open_dataset(tmp_path / "a") as data:
            assert data.content_digest == run.content_digest


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rows": "1,6-8", "split": "train"}, [0, 1, 6, 7, 8, 9]),
        ({"rows": [25], "split": "train"}, [24, 25]),
        ({"where": "index == 3", "split": "train"}, [2, 3]),
    ],
)
def test_a_selection_takes_twins_together(
    how: dict[str, Any], said: list[int], file: Path, tmp_path: Path
) -> None:
    select(file, tmp_path / "some.h5", **how)
    assert indices(tmp_path / "some.h5") == {"train": said}
    report = verify(tmp_path / "some.h5")
    assert report.ok, report.failures
    with open_dataset(tmp_path / "some.h5") as data:
        assert data.selection is not None
        assert "and the samples that belong to them" in data.selection.selection
    select(tmp_path / "some.h5", tmp_path / "fewer.h5", rows=[len(said) - 1])
    assert indices(tmp_path / "fewer.h5") == {"train": said[-2:]}


def test_what_only_one_twin_has_selects_both(file: Path, tmp_path: Path) -> None:
    with open_dataset(file) as data:
        color = data["test"]["color"]
        met = data["test"].where("color[0] == 0")
    assert len(met) == 5  # one of each pair
    assert (color[::2, 0] != color[1::2, 0]).all()
    select(file, tmp_path / "some.h5", where="color[0] == 0", split="test")
    assert indices(tmp_path / "some.h5") == {"test": list(range(10))}


def test_difficulty_can_be_asked_for_where_it_is_not_stored(file: Path) -> None:
    with open_dataset(file) as data:
        far = data["train"].where("cue_distance >= 12")
        assert far.tolist() == [
            i for i in range(26) if data["train"].difficulty(i).cue_distance >= 12
        ]
        assert 0 < len(far) < 26


def test_a_run_is_resumed(file: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seed": 5, "splits": SPLITS, "workers": 1}
    path = tmp_path / "a.h5"
    run = generate_file(path, DATASETS["twins"], CONFIG, **options)
    kept = generate_file(path, DATASETS["twins"], CONFIG, **options, resume=True)
    assert kept.content_digest == run.content_digest


def restate(path: Path) -> None:
    """State the digest of what the file now has."""
    with h5py.File(path, "r+") as file:
        digest = content_digest({column: file[column][()] for column in file})
        file.attrs["content_digest"] = np.bytes_(digest)


def test_a_twin_of_another_pair_is_found(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(file.read_bytes())
    with h5py.File(path, "r+") as stored:
        for column in stored:
            stored[column][5] = stored[column][9]
    restate(path)
    failures = {(f.index, f.check) for f in verify(path).failures}
    assert failures == {(4, "twin"), (5, "twin")}


def test_pairs_of_another_seed_are_found(file: Path, tmp_path: Path) -> None:
    """They keep all rules, but are not the samples that the file states."""
    path = tmp_path / "a.h5"
    path.write_bytes(file.read_bytes())
    with h5py.File(path, "r+") as stored:
        for column in stored:
            stored[column][4:6] = stored[column][8:10]
    restate(path)
    failures = {(f.index, f.check) for f in verify(path).failures}
    assert failures == {(4, "regenerated"), (5, "regenerated")}


def test_pairs_are_checked_side_by_side_in_blocks_of_any_size(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(file.read_bytes())
    with h5py.File(path, "r+") as stored:
        for column in stored:
            stored[column][21] = stored[column][11]
    restate(path)
    row_bytes = 10 * 30 * (3 + 1 + 1 + 2) + 64
    for rows in (1, 3, 7):
        monkeypatch.setattr("synthprobe_data.shards.layout.BLOCK_BYTES", rows * row_bytes)
        monkeypatch.setattr("synthprobe_data.verification.rows.TASK_BYTES", rows * row_bytes)
        assert {(f.index, f.check) for f in verify(path).failures} == {(20, "twin"), (21, "twin")}


def test_the_pixels_of_both_twins_are_read(file: Path) -> None:
    report = verify(file, pixels=True)
    assert report.ok
    assert report.readings == {"read": 42, "not unambiguous": 0, "other ranks": 0}


def test_an_export_has_the_distances(file: Path, tmp_path: Path) -> None:
    assert export_png(file, tmp_path / "png") == 42
    assert export_webdataset(file, tmp_path / "tar") == 42
    with open_dataset(file) as data:
        sample = data["test"][3]
    for name in ("image", "rank", "distance"):
        picture = np.asarray(Image.open(tmp_path / "png" / "test" / name / "00000003.png"))
        assert (picture == sample[name]).all()
    lines = (tmp_path / "png" / "test" / "metadata.csv").read_text().splitlines()
    assert lines[0].startswith("split,index,image_file_name,rank_file_name,distance_file_name,pair")
    assert str(sample["pair"].tolist()) in lines[4]


def test_distances_beyond_a_byte_survive_an_export(tmp_path: Path) -> None:
    config = TwinsConfig(height=8, width=400, min_size=0.1, min_distance=270)
    path = tmp_path / "a.h5"
    make_file("twins", path, train=0, validation=0, test=2, config=config, cards=False)
    export_png(path, tmp_path / "png")
    picture = np.asarray(Image.open(tmp_path / "png" / "test" / "distance" / "00000000.png"))
    with open_dataset(path) as data:
        assert (picture == data["test"][0]["distance"]).all()
    assert picture.max() >= 270


def test_the_card_counts_the_distances(file: Path) -> None:
    with open_dataset(file) as data:
        pixels, farthest, ranks, _neutrality = data.dataset.card.figures(data)
        distance = data["test"]["distance"]
        rank = data["test"]["rank"]
    assert sum(pixels.counts["test"].values()) == int((distance > 0).sum())
    assert sum(farthest.counts["test"].values()) == 10
    assert list(ranks.counts["test"]) == ["1", "2"]
    assert len(set(ranks.counts["test"].values())) == 1
    assert ranks.counts["test"]["1"] == int((rank[distance > 0] == 1).sum())
    card = file.with_suffix(".md").read_text("utf-8")
    assert "at a distance of 6 or more" in card
    assert "is right in exactly one of the two" in card


def test_the_card_says_which_mode_and_how_many_bands(tmp_path: Path) -> None:
    words = {"rules": "**not certified**", "ambiguous": "**switched off on purpose**"}
    for mode, text in words.items():
        config = TwinsConfig(height=10, width=30, min_distance=6, bands=2, mode=mode)
        path = tmp_path / f"{mode}.h5"
        make_file("twins", path, train=2, validation=0, test=0, config=config)
        card = path.with_suffix(".md").read_text("utf-8")
        assert text in card
        assert "some pixel of each band, if its pair is exchanged, counts" in card


def test_the_command_takes_pairs_as_two_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        generate(["twins", "--help"])
    assert "40000 samples are 20000 pairs" in " ".join(capsys.readouterr().out.split())
    out = str(tmp_path / "a.h5")
    words = ["--train", "4", "--validation", "2", "--test", "2", "--bands", "2", "--difficulty"]
    assert generate(["twins", "--out", out, *words]) == 0
    assert shards(["info", out, "--json"]) == 0
    said = capsys.readouterr().out
    facts = json.loads(said[said.index("{") :])
    sizes = {name: part["samples"] for name, part in facts["splits"].items()}
    assert sizes == {"train": 4, "validation": 2, "test": 2}
    with open_dataset(out) as data:
        assert data.config == TwinsConfig(bands=2, difficulty=True)
        assert data["train"][0]["image"].shape == (24, 64, 3)
        assert data["train"].difficulty(0).depth == data["train"][0]["depth"]


def test_a_finite_dataset_has_no_validation_split(tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError, match="centered-square has no split 'validation'"):
        make_file("centered-square", tmp_path / "a.h5", validation=3)
    assert list(tmp_path.iterdir()) == []
