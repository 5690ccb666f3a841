"""Every dataset goes the same way: generate, look, check, take apart, put together, export."""

from __future__ import annotations

import io
import json
import os
import pickle
import tarfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from PIL import Image

from synthprobe_data import (
    DATASETS,
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    SynthprobeError,
    TwinsConfig,
    iter_samples,
    make_file,
    open_dataset,
)
from synthprobe_data.cli.gen import main as generate
from synthprobe_data.cli.shards import main as shards
from synthprobe_data.config import Config
from synthprobe_data.convert.export import export_png, export_webdataset
from synthprobe_data.convert.merge_split import merge, split
from synthprobe_data.generation.file import generate_file
from synthprobe_data.generation.folder import generate_folder, make_shard
from synthprobe_data.inspect.contact_sheet import contact_sheet
from synthprobe_data.shards.digest import content_digest
from synthprobe_data.shards.plan import plan_shards
from synthprobe_data.verification.verify import verify

CONFIGS: dict[str, Config] = {
    "rde": RdeConfig(height=24, width=28, n_rectangles=3, n_vis=2, n_gap=2, n_par=2),
    "centered-square": CenteredSquareConfig(height=20, width=23, square=7),
    "color-code": ColorCodeConfig(positions=20, colors=4, bits=2),
    "twins": TwinsConfig(height=12, width=28, min_distance=6, bands=2),
}
SPLITS: dict[str, Any] = {"train": 21, "test": 12}
SIZES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(CONFIGS, SPLITS),
    "twins": {"train": 20, "validation": 0, "test": 12},  # in pairs
}
OTHERS = [name for name in DATASETS if name != "rde"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    for name, config in CONFIGS.items():
        make_file(name, folder / f"{name}.h5", **SIZES[name], seed=3, config=config, workers=1)
    return {name: folder / f"{name}.h5" for name in CONFIGS}


@pytest.mark.parametrize("name", DATASETS)
def test_a_file_has_the_samples_of_the_python_functions(name: str, files: dict[str, Path]) -> None:
    with open_dataset(files[name]) as data:
        assert data.splits == {part: size for part, size in SIZES[name].items() if size}
        for part, size in data.splits.items():
            samples = iter_samples(name, split=part, seed=3, config=CONFIGS[name], stop=size)
            for row, sample in zip(data[part], samples, strict=True):
                assert all((row[column] == sample[column]).all() for column in sample)


@pytest.mark.parametrize("name", [name for name, one in DATASETS.items() if one.drawn])
def test_validation_samples_are_added_and_no_other_sample_changes(
    name: str, files: dict[str, Path], tmp_path: Path
) -> None:
    size: dict[str, Any] = {"seed": 3, "config": CONFIGS[name], "workers": 1, "cards": False}
    make_file(name, tmp_path / "a.h5", **{**SIZES[name], "validation": 4}, **size)
    alone: dict[str, Any] = {split: 0 for split in SIZES[name]} | {"validation": 4}
    make_file(name, tmp_path / "b.h5", **alone, **size)
    column = DATASETS[name].columns[0].name
    with (
        open_dataset(files[name]) as before,
        open_dataset(tmp_path / "a.h5") as data,
        open_dataset(tmp_path / "b.h5") as other,
    ):
        assert list(data.splits) == ["train", "validation", "test"]
        assert other.splits == {"validation": 4}
        for split in ("train", "test"):
            assert (data[split][:][column] == before[split][:][column]).all()
        assert (data["validation"][:][column] == other["validation"][:][column]).all()
        drawn = iter_samples(name, split="validation", seed=3, config=CONFIGS[name], stop=4)
        for row, sample in zip(data["validation"], drawn, strict=True):
            assert all((row[key] == sample[key]).all() for key in sample)
    assert verify(tmp_path / "a.h5").ok


@pytest.mark.parametrize("name", DATASETS)
def test_any_number_of_workers_gives_the_same_rows(
    name: str, files: dict[str, Path], tmp_path: Path
) -> None:
    run = generate_file(
        tmp_path / "a.h5",
        DATASETS[name],
        CONFIGS[name],
        seed=3,
        splits=SIZES[name],
        workers=2,
        block_rows=4,
    )
    with open_dataset(files[name]) as data:
        assert run.content_digest == data.content_digest
    assert run.workers == 2


@pytest.mark.parametrize("name", DATASETS)
def test_what_is_made_passes_every_check(name: str, files: dict[str, Path]) -> None:
    report = verify(files[name])
    assert report.ok, report.failures
    assert report.rows_checked == sum(SIZES[name].values())
    # Twins are small: equal ones may be drawn.
    assert report.done.get("duplicate", 0) == (0 if name == "twins" else 33)


@pytest.mark.parametrize("name", DATASETS)
def test_taken_apart_and_put_together_it_is_the_same(
    name: str, files: dict[str, Path], tmp_path: Path
) -> None:
    digest = split(files[name], tmp_path / "folder", 5)
    assert verify(tmp_path / "folder").ok
    assert merge([tmp_path / "folder"], tmp_path / "again.h5") == digest
    with open_dataset(files[name]) as data:
        assert data.content_digest == digest


@pytest.mark.parametrize("name", DATASETS)
def test_a_folder_of_shards_has_the_same_rows(
    name: str, files: dict[str, Path], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"seed": 3, "splits": SIZES[name], "shards": 4, "workers": 1}
    run = generate_folder(tmp_path / "a", DATASETS[name], CONFIGS[name], **options)
    with open_dataset(files[name]) as data:
        assert run.content_digest == data.content_digest


@pytest.mark.parametrize("name", DATASETS)
def test_a_killed_run_goes_on(name: str, tmp_path: Path) -> None:
    """As a worker does it, where the dataset has come through a pipe."""
    dataset = pickle.loads(pickle.dumps(DATASETS[name]))
    plan = plan_shards({"train": 9}, 2)[1]
    made = make_shard(tmp_path, dataset, CONFIGS[name], 0, plan, False)
    kept = make_shard(tmp_path, dataset, CONFIGS[name], 0, plan, True)
    assert made.new
    assert not kept.new
    assert kept.entry == made.entry
    other = make_shard(tmp_path, dataset, DATASETS[name].config(), 0, plan, True)
    assert other.new


@pytest.mark.parametrize("name", DATASETS)
def test_what_came_through_a_pipe_reads_on(name: str, files: dict[str, Path]) -> None:
    with open_dataset(files[name]) as opened:
        data = pickle.loads(pickle.dumps(opened))
        for column, array in opened["test"][3].items():
            assert (data["test"][3][column] == array).all()
    if name in ("rde", "twins"):
        assert len(data["test"].scene(3).rectangles) == data["test"][3]["n_rectangles"]
    else:
        with pytest.raises(SynthprobeError, match="are not scenes"):
            data["test"].scene(3)


@pytest.mark.parametrize("name", DATASETS)
def test_some_samples_are_drawn(name: str, files: dict[str, Path]) -> None:
    sheet, drawn = contact_sheet(files[name], samples=3, split="test", start=10)
    assert drawn == 2
    one, _ = contact_sheet(files[name], samples=1, split="test", start=10)
    assert sheet.size[0] * sheet.size[1] > one.size[0] * one.size[1]
    assert len(sheet.getcolors(2**24) or []) > 2


def test_the_pixel_and_the_square_are_where_the_sheet_shows_them(files: dict[str, Path]) -> None:
    sheet, _ = contact_sheet(files["centered-square"], samples=1, split="test", start=5)
    with open_dataset(files["centered-square"]) as data:
        sample = data["test"][5]
    times = round(192 / 23)
    pixels = np.asarray(sheet)[12 + 24 :, 12:]
    target = pixels[: 20 * times : times, 23 * times + 12 : 2 * 23 * times + 12 : times, 0]
    assert (target == sample["target"]).all()
    row, column = (sample["center"] * times).tolist()
    assert (pixels[row : row + times, column : column + times] == 255).all()


def test_the_colours_and_codes_are_where_the_sheet_shows_them(files: dict[str, Path]) -> None:
    sheet, _ = contact_sheet(files["color-code"], samples=1)
    with open_dataset(files["color-code"]) as data:
        sample = data["train"][0]
    # Twenty cells of 32 pixels behind the labels; strips of 25, 21 and 21 lines, 4 between them.
    cells = np.asarray(sheet)[12 + 24 :, 12 + 64 + 16 : 12 + 64 + 20 * 32 : 32]
    assert (cells[12] == sample["color"]).all()
    for bit in range(2):
        shown, right = cells[25 + 4 + 10 * bit + 5, :, 0], cells[25 + 4 + 25 + 10 * bit + 5, :, 0]
        assert (right == 255 * sample["code"][:, bit]).all()
        assert (shown == np.where(sample["revealed"], right, 150)).all()


def test_centered_square_is_exported_as_pictures(files: dict[str, Path], tmp_path: Path) -> None:
    path = files["centered-square"]
    assert export_png(path, tmp_path / "png") == 33
    with open_dataset(path) as data:
        for name in ("image", "target"):
            picture = np.asarray(Image.open(tmp_path / "png" / "test" / name / "00000007.png"))
            assert (picture == data["test"][7][name]).all()
        lines = (tmp_path / "png" / "test" / "metadata.csv").read_text().splitlines()
        assert lines[0] == "split,index,image_file_name,target_file_name,center"
        center = data["test"][7]["center"].tolist()
        assert lines[8].endswith(f',"{center}"')


def test_color_code_is_exported_as_text(files: dict[str, Path], tmp_path: Path) -> None:
    path = files["color-code"]
    with pytest.raises(SynthprobeError, match="not pictures: export them as webdataset"):
        export_png(path, tmp_path / "png")
    assert os.listdir(tmp_path) == []
    assert export_webdataset(path, tmp_path / "tar") == 33
    with tarfile.open(tmp_path / "tar" / "test-000000.tar") as archive:
        assert len(archive.getnames()) == 12
        member = archive.extractfile("test-00000007.json")
        assert member is not None
        facts = json.load(io.TextIOWrapper(member))
    with open_dataset(path) as data:
        sample = data["test"][7]
    assert facts == {
        "split": "test",
        "index": 7,
        **{name: sample[name].tolist() for name in ("color", "code", "revealed", "group")},
    }


def damage(path: Path, name: str, row: int) -> None:
    with h5py.File(path, "r+") as file:
        values = file[name][row]
        values.reshape(-1)[0] ^= 2
        file[name][row] = values
        digest = content_digest({column: file[column][()] for column in file})
        file.attrs["content_digest"] = np.bytes_(digest)


@pytest.mark.parametrize(
    ("name", "column", "checks"),
    [
        ("centered-square", "image", {"image"}),
        ("centered-square", "target", {"target"}),
        ("centered-square", "center", {"center"}),
        ("color-code", "code", {"code"}),
        ("color-code", "revealed", {"revealed"}),
        ("color-code", "color", {"color"}),
    ],
)
def test_a_damaged_row_is_named_with_what_is_wrong(
    name: str, column: str, checks: set[str], files: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "a.h5").write_bytes(files[name].read_bytes())
    damage(tmp_path / "a.h5", column, 23)
    report = verify(tmp_path / "a.h5")
    assert {failure.check for failure in report.failures} == checks
    assert {(f.split, f.index, f.row) for f in report.failures} == {("test", 2, 23)}


@pytest.mark.parametrize("name", ["centered-square", "color-code"])
def test_a_sample_that_is_in_both_splits_is_found(
    name: str, files: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "a.h5").write_bytes(files[name].read_bytes())
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        for column in file:
            file[column][25] = file[column][4]
        digest = content_digest({column: file[column][()] for column in file})
        file.attrs["content_digest"] = np.bytes_(digest)
    failures = {f.check: str(f) for f in verify(tmp_path / "a.h5").failures}
    told = "split" if name == "centered-square" else "regenerated"
    assert set(failures) == {"duplicate", told}
    assert "row 25 (test 4)" in failures["duplicate"]
    assert "row 4 of a.h5 (train 4)" in failures["duplicate"]


def test_the_file_of_centered_square_is_the_same_for_every_seed(tmp_path: Path) -> None:
    config = CONFIGS["centered-square"]
    for seed in (0, 7):
        path = tmp_path / f"{seed}.h5"
        make_file("centered-square", path, seed=seed, config=config, workers=1, cards=False)
    assert (tmp_path / "0.h5").read_bytes() == (tmp_path / "7.h5").read_bytes()
    with open_dataset(tmp_path / "7.h5") as data:
        assert data.splits == {"train": 7 * 8, "test": 14 * 17 - 7 * 8}


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("centered-square", ["--square", "20"], "square is 20: it must be odd"),
        ("centered-square", ["--height", "9"], "does not fit into a height of 9"),
        ("centered-square", ["--train", "485"], "train is 485: there are 484 train samples"),
        ("centered-square", ["--test", "-1"], "test is -1"),
        ("centered-square", ["--seed", "-1"], "seed is -1"),
        ("centered-square", ["--paper"], "unrecognized arguments: --paper"),
        ("color-code", ["--masked", "1"], "masked is 1.0: it may be at most 0.99"),
        ("color-code", ["--masked", "half"], "invalid float value"),
        ("color-code", ["--colors", "300"], "colors is 300"),
        ("color-code", ["--min-distance", "90"], "10 colours have room for 49 at most"),
        ("color-code", ["--positions", "1", "--colors", "1"], "too many to be all different"),
        ("color-code", ["--train", "0", "--test", "0"], "nothing to generate"),
        ("twins", ["--train", "5"], "train is 5: samples come in pairs of twins"),
        ("twins", ["--shards", "9", "--train", "16", "--validation", "0", "--test", "0"], "shards"),
        ("twins", ["--min-distance", "64"], "min_distance is 64: it must be less than"),
        ("twins", ["--bands", "2", "--band-gap", "3"], "bands would touch each other"),
        ("twins", ["--blur", "3"], "no sample can be certified"),
    ],
)
def test_wrong_options_get_one_sentence(
    name: str,
    options: list[str],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        code: object = generate([name, "--out", str(tmp_path / "a.h5"), *options])
    except SystemExit as stop:  # what argparse finds by itself
        code = stop.code
    said = capsys.readouterr().err
    assert code == 2
    assert len(said.splitlines()) == 1
    assert sentence in said
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", OTHERS)
def test_the_commands_work(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, sheet = str(tmp_path / "a.h5"), str(tmp_path / "sheet.png")
    few = ["--train", "5", "--test", "4"]
    if name == "twins":
        few = ["--train", "6", "--validation", "0", "--test", "4"]
    assert generate([name, "--out", file, *few]) == 0
    assert generate([name, "--out", file, *few, "--resume"]) == 0
    assert generate([name, "--out", file, *few]) == 2
    for words in (["info", file], ["verify", file], ["preview", file, "--out", sheet]):
        assert shards(words) == 0
    said = capsys.readouterr().out
    assert f"{DATASETS[name].title} ({name}), version 1.0.0" in said
    assert f"is as it should be; {10 if name == 'twins' else 9} samples" in said


@pytest.mark.parametrize(("options", "mode"), [([], "well-posed"), (["--paper"], "paper")])
def test_the_flag_chooses_the_mode(tmp_path: Path, options: list[str], mode: str) -> None:
    few = ["--train", "3", "--test", "0", "--positions", "30"]
    assert generate(["color-code", "--out", str(tmp_path / "a.h5"), *few, *options]) == 0
    with open_dataset(tmp_path / "a.h5") as data:
        assert data.config == ColorCodeConfig(positions=30, mode=mode)


@pytest.mark.parametrize("name", DATASETS)
def test_help_names_the_sizes_and_the_settings(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        generate([name, "--help"])
    assert stop.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    config = DATASETS[name].config()
    for size in DATASETS[name].sizes(config).values():
        assert f"{size}" in said
    for setting in config.to_dict():
        if setting != "mode":
            assert f"--{setting.replace('_', '-')} " in said
    for flag in DATASETS[name].flags:
        assert f"{flag.flag} " in said
