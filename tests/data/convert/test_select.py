"""Selected samples: the same samples, and where they are from."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    SynthprobeError,
    make_file,
    make_sample,
    open_dataset,
)
from synthprobe_data.cards.write import write_cards
from synthprobe_data.cli.shards import main
from synthprobe_data.convert.export import export_webdataset
from synthprobe_data.convert.merge_split import merge, split
from synthprobe_data.convert.select import select
from synthprobe_data.generation.file import generate_file
from synthprobe_data.inspect.info import describe, summary
from synthprobe_data.rde import RDE
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.digest import content_digest
from synthprobe_data.verification.verify import verify

CONFIG = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3, trials=20)
SIZES: dict[str, Any] = {"train": 31, "test": 14}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "rde.h5"
    make_file("rde", path, **SIZES, config=CONFIG, seed=3, cards=False)
    return path


@pytest.mark.parametrize("folder", [False, True])
def test_a_condition_takes_just_the_samples_that_meet_it(
    source: Path, tmp_path: Path, folder: bool
) -> None:
    path = source
    if folder:
        path = tmp_path / "rde"
        split(source, path, 5)
    data = open_dataset(path)
    out = tmp_path / "hard.h5"
    digest = select(path, out, where="depth >= 3")
    with open_dataset(out) as hard:
        assert hard.content_digest == digest
        for name in SIZES:
            expected = [i for i in range(SIZES[name]) if data[name].difficulty(i).depth >= 3]
            assert 0 < len(expected) < SIZES[name]
            assert hard[name]["index"].tolist() == expected
            for position, index in enumerate(expected):
                assert hard[name].index_of(position) == index
                sample = make_sample("rde", index=index, split=name, seed=3, config=CONFIG)
                stored = hard[name][position]
                assert set(stored) == {*sample, "index"}
                assert all((stored[column] == sample[column]).all() for column in sample)
        selection = hard.selection
        assert selection is not None
        assert selection.selected_from == data.content_digest
        assert selection.selection == "where depth >= 3"
        rows = {c: np.concatenate([hard[n][c] for n in SIZES]) for c in hard["test"][0]}
        assert content_digest(rows) == digest
    report = verify(out)
    assert report.ok, report.failures


def test_each_row_says_which_sample_it_is(source: Path, tmp_path: Path) -> None:
    select(source, tmp_path / "a.h5", where="index % 3 == 1")
    reader = BlockReader(tmp_path / "a.h5")
    places = [reader.locate(row) for row in range(len(reader))]
    assert places == [(name, i) for name, size in SIZES.items() for i in range(1, size, 3)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("1,5,10-12", [1, 5, 10, 11, 12]),
        ("5, 1 - 2, 1", [1, 2, 5]),
        ([5, 1], [1, 5]),
        (slice(0, 4), [0, 1, 2, 3]),
        (np.arange(14) > 11, [12, 13]),
        ([-1], [13]),
    ],
)
def test_rows_are_those_of_a_split(
    source: Path, tmp_path: Path, rows: Any, expected: list[int]
) -> None:
    select(source, tmp_path / "a.h5", rows=rows, split="test")
    with open_dataset(source) as data, open_dataset(tmp_path / "a.h5") as few:
        assert few.splits == {"test": len(expected)}
        assert few["test"]["index"].tolist() == expected
        assert (few["test"]["image"] == data["test"][expected]["image"]).all()
        assert few.selection is not None
        assert few.selection.selection.startswith("rows ")
        assert few.selection.selection.endswith(" of test")


def test_rows_and_a_condition_go_together(source: Path, tmp_path: Path) -> None:
    select(source, tmp_path / "a.h5", rows="0-9", where="depth == 2")
    with open_dataset(source) as data, open_dataset(tmp_path / "a.h5") as few:
        depth = data["train"]["depth"]
        assert few["train"]["index"].tolist() == np.flatnonzero(depth[:10] == 2).tolist()
        assert list(few.splits) == ["train"]
        assert few.selection is not None
        assert few.selection.selection == "rows 0-9 of train, where depth == 2"


def test_a_selection_of_a_selection_is_of_the_whole(source: Path, tmp_path: Path) -> None:
    select(source, tmp_path / "a.h5", where="depth >= 2", split="train")
    select(tmp_path / "a.h5", tmp_path / "b.h5", rows="1-2")
    with (
        open_dataset(source) as data,
        open_dataset(tmp_path / "a.h5") as a,
        open_dataset(tmp_path / "b.h5") as b,
    ):
        assert b["train"]["index"].tolist() == a["train"]["index"][1:3].tolist()
        assert b.selection is not None
        assert b.selection.selected_from == data.content_digest
        expected = "all of train, where depth >= 2; of these rows 1-2 of train"
        assert b.selection.selection == expected
    assert verify(tmp_path / "b.h5").ok


CONFIGS = {
    "centered-square": (CenteredSquareConfig(height=20, width=20, square=5), "center[0] % 2 == 1"),
    "color-code": (ColorCodeConfig(positions=12, colors=3), "sum(revealed) > 6"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_all_datasets_can_be_selected_from(name: str, tmp_path: Path) -> None:
    config, condition = CONFIGS[name]
    make_file(name, tmp_path / "a.h5", train=20, test=20, config=config, cards=False)
    select(tmp_path / "a.h5", tmp_path / "b.h5", where=condition)
    with open_dataset(tmp_path / "a.h5") as whole, open_dataset(tmp_path / "b.h5") as few:
        assert 0 < len(few) < len(whole)
        for part in few.splits:
            index = few[part]["index"]
            for column, values in whole[part][index].items():
                assert (few[part][column] == values).all()
    assert verify(tmp_path / "b.h5").ok
    write_cards(tmp_path / "b.h5")


def test_the_stored_difficulty_can_be_asked_for(tmp_path: Path) -> None:
    config = RdeConfig(**{**CONFIG.to_dict(), "difficulty": True})
    make_file("rde", tmp_path / "a.h5", train=30, test=0, config=config, cards=False)
    select(tmp_path / "a.h5", tmp_path / "b.h5", where="max(pieces) >= 2 or cue_distance > 15")
    with open_dataset(tmp_path / "a.h5") as whole, open_dataset(tmp_path / "b.h5") as few:
        train = whole["train"]
        met = (train["pieces"].max(axis=1) >= 2) | (train["cue_distance"] > 15)
        assert few["train"]["index"].tolist() == np.flatnonzero(met).tolist()
    assert verify(tmp_path / "b.h5").ok


def test_other_files_are_as_before(source: Path) -> None:
    with h5py.File(source) as file:
        assert "index" not in file
        assert not {"selected_from", "selection"} & set(file.attrs)
    assert describe(source)["selection"] is None


def test_info_card_and_exports_say_where_they_are_from(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "hard.h5"
    select(source, out, where="index >= 20 and depth >= 2")
    digest = open_dataset(source).content_digest
    said = summary(describe(out))
    assert "selected  where index >= 20 and depth >= 2" in said
    assert f"from {digest}" in said
    assert "from index" not in said
    write_cards(out)
    card = (tmp_path / "hard.md").read_text()
    assert "where index >= 20 and depth >= 2" in card
    assert digest in card
    assert "makes the same samples" not in card
    assert "which sample of its split it is" in card
    assert digest in json.loads((tmp_path / "hard.croissant.json").read_text())["description"]
    export_webdataset(out, tmp_path / "tar")
    assert verify(out).ok
    code = card.split("To compute it again, with h5py alone:")[1].split("```python")[1]
    work = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(code.split("```")[0], {})
    finally:
        os.chdir(work)


def test_hugging_face_reads_it(source: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    select(source, tmp_path / "a.h5", where="depth >= 3", split="test")
    found = datasets.load_dataset(
        "hdf5",
        data_files={"test": str(tmp_path / "a.h5")},
        split="test",
        cache_dir=str(tmp_path / "cache"),
    )
    assert list(found["index"]) == open_dataset(tmp_path / "a.h5")["test"]["index"].tolist()


def test_the_command_selects(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "hard.h5"
    words = ["select", str(source), "--where", "depth >= 3", "--out", str(out)]
    assert main(words) == 0
    data = open_dataset(out)
    said = capsys.readouterr().out
    assert said == f"{out}: {len(data)} samples; content digest {data.content_digest}\n"
    cards = {"hard.md", "hard.croissant.json", "hard.png"}
    assert set(os.listdir(tmp_path)) == {"hard.h5", *cards}
    assert main(words) == 2
    assert main([*words, "--force"]) == 0
    assert main(["verify", str(out)]) == 0
    assert main(["explain", str(out), "0", "--out", str(tmp_path / "a.png")]) == 0
    assert main(["preview", str(out), "--out", str(tmp_path / "b.png")]) == 0
    assert main(["browse", str(out), "--out", str(tmp_path / "c.html")]) == 0
    capsys.readouterr()
    assert main(["select", str(source), "--rows", "3,5", "--out", str(tmp_path / "d.h5")]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'd.h5'}: 2 samples")


BAD = {
    "nothing to select by": ([], "there is nothing to select by"),
    "no such sample": (["--where", "depth > 99"], "no sample of"),
    "a wrong condition": (["--where", "depth >"], "is no condition"),
    "an unknown column": (["--where", "colour > 1"], "there is no column 'colour'"),
    "wrong rows": (["--rows", "1;2"], "rows has '1;2'"),
    "rows that are backward": (["--rows", "5-2"], "rows has '5-2'"),
    "no rows": (["--rows", ""], "rows has ''"),
    "rows beyond the end": (["--rows", "0-31"], "rows has 31: train has 31 samples"),
    "very many rows": (["--rows", "0-999999999999999999"], "rows has 999999999999999999"),
    "no such split": (["--where", "depth > 1", "--split", "dev"], "has no split 'dev'"),
}


@pytest.mark.parametrize(("options", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence(
    source: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    sentence: str,
) -> None:
    assert main(["select", str(source), "--out", str(tmp_path / "a.h5"), *options]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def test_a_selection_never_replaces_what_it_is_from(source: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.h5"
    link.symlink_to(source)
    before = source.read_bytes()
    for out in (source, link):
        with pytest.raises(SynthprobeError, match="selected from: write to another file"):
            select(source, out, rows="1", force=True)
    assert source.read_bytes() == before


def test_damaged_rows_are_not_selected_from(source: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(source, tmp_path / "rde.h5"))
    with h5py.File(path, "r+") as file:
        file["image"][30] = 255 - file["image"][30]
    with pytest.raises(SynthprobeError, match="is damaged"):
        select(path, tmp_path / "a.h5", rows="0-3")  # others, but the digest is of all
    assert os.listdir(tmp_path) == ["rde.h5"]


def test_a_selection_stays_in_one_file(source: Path, tmp_path: Path) -> None:
    select(source, tmp_path / "a.h5", rows="0-3")
    for edit in (
        lambda: merge([tmp_path / "a.h5"], tmp_path / "b.h5"),
        lambda: merge([source, tmp_path / "a.h5"], tmp_path / "b.h5"),
        lambda: split(tmp_path / "a.h5", tmp_path / "b", 2),
    ):
        with pytest.raises(SynthprobeError, match=r"a\.h5 has selected samples, which stay in one"):
            edit()
    assert os.listdir(tmp_path) == ["a.h5"]


def test_a_selection_is_not_taken_for_a_finished_run(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    select(source, out, where="index >= 0")  # all of them
    before = out.read_bytes()
    with pytest.raises(SynthprobeError, match="left as it is"):
        generate_file(out, RDE, CONFIG, seed=3, splits=SIZES, resume=True)
    assert out.read_bytes() == before


FORGED = {
    "an index that does not ascend": ("index", [3, 2, 5], "its index does not ascend"),
    "an index twice": ("index", [0, 2, 2], "its index does not ascend"),
    "a negative index": ("index", [-1, 2, 3], "does not begin as its index_start says"),
    "another first index": ("index", [1, 2, 3], "does not begin as its index_start says"),
    "no digest": ("selected_from", "abc", "its selected_from is not a SHA-256"),
    "an escape": ("selection", "\x1b[31mred", "its selection is not a line of plain text"),
    "lines": ("selection", "a\nb", "its selection is not a line of plain text"),
    "an end of code": ("selection", "``` <b>", "its selection is not a line of plain text"),
    "no selection": ("selection", None, "it has no attribute selection"),
    "no digest at all": ("selected_from", None, "it has no attribute selected_from"),
}


@pytest.mark.parametrize(("name", "value", "sentence"), FORGED.values(), ids=FORGED.keys())
def test_a_forged_selection_is_refused(
    source: Path, tmp_path: Path, name: str, value: Any, sentence: str
) -> None:
    select(source, tmp_path / "a.h5", rows="0,2,5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        if name == "index":
            file["index"][:] = value if value[0] != 3 else [0, 5, 2]
        elif value is None:
            del file.attrs[name]
        else:
            file.attrs[name] = np.bytes_(value)
    with pytest.raises(SynthprobeError, match=sentence):
        open_dataset(tmp_path / "a.h5")
    report = verify(tmp_path / "a.h5")
    assert not report.ok


def test_an_index_without_a_source_is_refused(source: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(source, tmp_path))
    with h5py.File(path, "r+") as file:
        file["index"] = np.arange(45)
    with pytest.raises(SynthprobeError, match="its datasets are not"):
        open_dataset(path)
