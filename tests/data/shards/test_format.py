"""FORMAT.md is the format: its tables are those of the code, and old files stay readable."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import h5py
import pytest

from synthprobe_data import DATASETS, make_file, open_dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards import layout, manifest
from synthprobe_data.shards.layout import COMMON_ATTRIBUTES, FORMAT_VERSION
from synthprobe_data.verification.verify import verify
from tools.make_format_tables import PAGE, page_with_tables

RELEASED = Path(__file__).parent / "released"
FILES = sorted(RELEASED.glob("*/*.h5"))
FOLDERS = sorted(RELEASED.glob("*/folder"))
SIZES = {"rde": (3, 2), "centered-square": (4, 3), "color-code": (3, 2)}


def test_the_tables_of_the_page_are_those_of_the_code() -> None:
    page = PAGE.read_text("utf-8")
    assert page == page_with_tables(page), "run tools/make_format_tables.py"


@pytest.mark.parametrize("name", SIZES)
def test_a_file_has_just_what_the_page_says(tmp_path: Path, name: str) -> None:
    train, test = SIZES[name]
    make_file(name, tmp_path / "a.h5", train=train, test=test, workers=1, cards=False)
    dataset = DATASETS[name]
    config = dataset.config()
    with h5py.File(tmp_path / "a.h5") as file:
        assert set(file.attrs) == {*COMMON_ATTRIBUTES, *dataset.file_attributes(config)}
        stored = {c.name: c for c in dataset.columns if c.is_stored(config)}
        assert set(file) == set(stored)
        for column, spec in stored.items():
            assert file[column].dtype == spec.dtype
            assert file[column].shape == (train + test, *spec.shape(config))


def test_the_python_of_the_page_computes_the_content_digest(tmp_path: Path) -> None:
    make_file("rde", tmp_path / "rde.h5", train=3, test=2, workers=1, cards=False)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(code.replace('"rde.h5"', repr(str(tmp_path / "rde.h5"))), {})


def test_a_file_of_every_released_format_is_kept() -> None:
    assert {int(path.parent.name) for path in FILES} == set(range(1, FORMAT_VERSION + 1))
    assert {int(path.parent.name) for path in FOLDERS} == set(range(1, FORMAT_VERSION + 1))


@pytest.mark.parametrize(
    "path", [*FILES, *FOLDERS], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_files_of_released_formats_are_read(path: Path) -> None:
    stated = json.loads((path.parent / "digests.json").read_text("utf-8"))[path.name]
    with open_dataset(path) as data:
        assert data.content_digest == stated
        samples = [sample for split in data.splits for sample in data[split]]
    rows = hashlib.sha256()
    for sample in samples:
        row = b"".join(sample[name].tobytes() for name in sorted(sample))
        rows.update(hashlib.sha256(row).digest())
    assert rows.hexdigest() == stated
    assert verify(path, workers=1).ok


def test_old_formats_are_read_after_the_next_one_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layout, manifest):
        monkeypatch.setattr(module, "FORMAT_VERSION", FORMAT_VERSION + 1)
    for path in (*FILES, *FOLDERS):
        open_dataset(path).close()


def test_a_folder_of_an_unknown_format_is_refused(tmp_path: Path) -> None:
    shutil.copytree(FOLDERS[0], tmp_path / "a")
    path = tmp_path / "a" / "manifest.json"
    stated = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**stated, "synthprobe_format": FORMAT_VERSION + 1}), "utf-8")
    with pytest.raises(SynthprobeError, match="it is not of format 1"):
        open_dataset(tmp_path / "a")


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    make_file("rde", tmp_path / "a.h5", train=2, test=1, workers=1, cards=False)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["synthprobe_format"] = FORMAT_VERSION + 1
    with pytest.raises(SynthprobeError, match=f"it is of format {FORMAT_VERSION + 1}, and this"):
        open_dataset(tmp_path / "a.h5")
