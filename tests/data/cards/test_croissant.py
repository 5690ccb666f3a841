"""The Croissant file: valid without a warning, and true."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tomllib
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from synthprobe_data import DATASETS, RdeConfig, make_file
from synthprobe_data.cards.croissant import CONFORMS_TO, CONTEXT
from synthprobe_data.cards.words import HOME
from synthprobe_data.cards.write import write_cards
from synthprobe_data.dataset import stored_columns
from synthprobe_data.verification.verify import verify

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


@pytest.mark.parametrize("name", DATASETS)
def test_the_committed_description_of_each_dataset_is_valid_and_of_today(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = Path(__file__).parents[3] / "data_cards" / f"{name}.croissant.json"
    check_valid(path, caplog)
    found = json.loads(path.read_text("utf-8"))
    dataset, config = DATASETS[name], DATASETS[name].config()
    assert found["@context"] == CONTEXT
    assert found["conformsTo"] == list(CONFORMS_TO)
    assert found["rai:dataUseCases"] == list(dataset.card.good_for)
    (_, samples) = found["recordSet"]
    stated = {field["name"]: field.get("arrayShape", "") for field in samples["field"]}
    assert stated == {
        column.name: ",".join(map(str, shape))
        for column, shape in stored_columns(dataset.columns, config)
    }


def test_the_address_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["urls"]["Homepage"] == HOME


def test_a_warning_would_be_caught(
    rde_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    found = json.loads(croissant_of(rde_file).read_text("utf-8"))
    for missing in ("license", "@context", "isArray"):
        broken = {**found}
        if missing == "license":
            del broken["license"]
        elif missing == "@context":
            broken["@context"] = {**found["@context"]}
            del broken["@context"]["samplingRate"]
        else:
            broken = json.loads(json.dumps(found))
            del broken["recordSet"][1]["field"][0]["isArray"]
        (tmp_path / "croissant.json").write_text(json.dumps(broken), "utf-8")
        with pytest.raises((AssertionError, mlcroissant.ValidationError)):
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
    assert found["conformsTo"] == [
        "http://mlcommons.org/croissant/1.1",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    assert found["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert found["isLiveDataset"] is False
    entries = found["distribution"]
    if path.is_dir():
        assert entries.pop()["includes"] == "*.h5"
    listed = {entry["contentUrl"]: entry for entry in entries}
    assert sorted(listed) == [file.name for file in files]
    for file in files:
        entry = listed[file.name]
        assert entry["@type"] == "cr:FileObject"
        assert entry["encodingFormat"] == "application/x-hdf5"
        assert entry["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert entry["contentSize"] == f"{file.stat().st_size} B"


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_its_records_are_the_splits(described: tuple[Path, Path]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(str(croissant_of(described[0])))
    splits = list(dataset.records("splits"))
    assert {_text(r["splits/name"]): int(r["splits/samples"]) for r in splits} == SPLITS


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_its_arrays_are_those_of_the_files(described: tuple[Path, Path]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    path, _ = described
    dataset = mlcroissant.Dataset(str(croissant_of(path)))
    (samples,) = [r for r in dataset.metadata.record_sets if r.uuid == "samples"]
    stated = {f.name: (np.dtype(f.data_type), f.array_shape_tuple or ()) for f in samples.fields}
    with h5py.File(min(path.glob("*.h5")) if path.is_dir() else path) as file:
        assert stated == {name: (data.dtype, data.shape[1:]) for name, data in file.items()}
    assert all(field.description for field in samples.fields)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_it_says_how_the_data_was_made_and_what_it_is_for(described: tuple[Path, Path]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    path, card = described
    found = json.loads(croissant_of(path).read_text("utf-8"))
    assert found["rai:hasSyntheticData"] is True
    read = mlcroissant.Dataset(str(croissant_of(path))).metadata
    words = card.read_text("utf-8")
    assert read.data_use_cases
    assert all(f"- {item}\n" in words for item in read.data_use_cases)
    limits = [item.removeprefix("It is not for this: ") for item in read.data_limitations]
    assert all(f"- {item}\n" in words for item in limits)
    for value in ('"n_vis": 3', "seed 0", "synthprobe-gen rde"):
        assert value in read.data_collection
    assert read.data_release_maintenance_plan in words
    (nothing,) = read.personal_sensitive_information
    assert nothing.removeprefix("None. ") in words
    for property_ in ("data_biases", "data_social_impact", "data_annotation_protocol"):
        assert getattr(read, property_)


def test_what_nobody_compared_is_said_to_be_what_the_files_state(
    rde_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "rde.h5"
    shutil.copy(rde_file, path)
    write_cards(path)
    found = json.loads(croissant_of(path).read_text("utf-8"))
    assert "what the file states; nobody made the samples again" in found["rai:dataCollection"]
    write_cards(path, regenerated=True, force=True)
    found = json.loads(croissant_of(path).read_text("utf-8"))
    assert "nobody" not in found["rai:dataCollection"]


def test_verify_takes_a_description_of_croissant_1_0(rde_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "rde.h5"
    shutil.copy(rde_file, path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    old: dict[str, Any] = {
        "@context": {"@vocab": "https://schema.org/", "conformsTo": "dct:conformsTo"},
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": [{"@type": "cr:FileObject", "name": path.name, "sha256": sha256}],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "datasets", "data": []}],
    }
    croissant_of(path).write_text(json.dumps(old), "utf-8")
    report = verify(path)
    assert report.ok
    assert report.done["sha256"] == 1
    old["distribution"][0]["sha256"] = sha256[::-1]
    croissant_of(path).write_text(json.dumps(old), "utf-8")
    assert [failure.check for failure in verify(path).failures] == ["sha256"]


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
