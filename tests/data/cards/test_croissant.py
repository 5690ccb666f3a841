"""The Croissant file: valid without a warning, and true."""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from pathlib import Path

import pytest

from synthprobe_data import RdeConfig, make_file
from synthprobe_data.cards.write import write_cards

SPLITS = {"train": 26, "test": 12}


def croissant_of(path: Path) -> Path:
    return path / "croissant.json" if path.is_dir() else path.with_suffix(".croissant.json")


def check_valid(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What ``mlcroissant validate`` does, with every warning caught."""
    mlcroissant = pytest.importorskip("mlcroissant")
    from absl import logging as absl_logging

    logger = absl_logging.get_absl_logger()
    logger.addHandler(caplog.handler)
    try:
        with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
            warnings.simplefilter("error")
            # Of how mlcroissant calls the library that it reads JSON-LD with.
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="rdflib")
            dataset = mlcroissant.Dataset(str(path))
    finally:
        logger.removeHandler(caplog.handler)
    assert not caplog.records
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings


def test_it_is_valid_without_a_warning(
    described: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    check_valid(croissant_of(described[0]), caplog)


def test_a_warning_would_be_caught(
    rde_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = json.loads(croissant_of(rde_file).read_text("utf-8"))
    for missing in ("license", "@context"):
        broken = {**found}
        if missing == "license":
            del broken["license"]
        else:
            broken["@context"] = {**found["@context"]}
            del broken["@context"]["samplingRate"]
        (tmp_path / "croissant.json").write_text(json.dumps(broken), "utf-8")
        with pytest.raises(AssertionError):
            check_valid(tmp_path / "croissant.json", caplog)
        caplog.clear()


def test_a_file_name_with_spaces_is_valid(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = RdeConfig(height=40, width=32, n_rectangles=3, n_vis=3, n_gap=2, n_par=3)
    make_file(
        "rde", tmp_path / "my data.h5", train=2, test=0, config=config, workers=1, cards=False
    )
    write_cards(tmp_path / "my data.h5")
    check_valid(tmp_path / "my data.croissant.json", caplog)


def test_it_lists_each_file_with_its_hash_and_size(described: tuple[Path, Path]) -> None:
    path, _ = described
    files = sorted(path.glob("*.h5")) if path.is_dir() else [path]
    found = json.loads(croissant_of(path).read_text("utf-8"))
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert found["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert found["isLiveDataset"] is False
    listed = {entry["contentUrl"]: entry for entry in found["distribution"]}
    assert sorted(listed) == [file.name for file in files]
    for file in files:
        entry = listed[file.name]
        assert entry["@type"] == "cr:FileObject"
        assert entry["encodingFormat"] == "application/x-hdf5"
        assert entry["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert entry["contentSize"] == f"{file.stat().st_size} B"


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_its_records_are_the_splits_and_the_datasets(described: tuple[Path, Path]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(str(croissant_of(described[0])))
    splits = list(dataset.records("splits"))
    assert {_text(r["splits/name"]): int(r["splits/samples"]) for r in splits} == SPLITS
    shapes = {
        _text(r["datasets/name"]): _text(r["datasets/shape"]) for r in dataset.records("datasets")
    }
    assert shapes["image"] == "40 x 32 x 3"
    assert len(shapes) == 8


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
