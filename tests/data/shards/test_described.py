"""``open_dataset`` refuses what ``verify`` says the format does not allow, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset
from synthprobe_data.convert.merge_split import split
from synthprobe_data.verification.verify import verify
from tests.data.shards.test_hostile import HOSTILE

SMALL = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    make_file("rde", folder / "one.h5", train=5, test=2, config=SMALL, cards=False)
    split(folder / "one.h5", folder / "shards", 4)
    return folder


def exchange_shards(manifest: dict[str, Any]) -> None:
    shards = manifest["shards"]
    shards[0], shards[1] = shards[1], shards[0]


MANIFESTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "another dataset": lambda m: m.update(dataset="color-code"),
    "another version": lambda m: m.update(version="0.0.1"),
    "another seed": lambda m: m.update(seed=m["seed"] + 1),
    "another config": lambda m: m["config"].update(n_vis=4),
    "no shards": lambda m: m.update(shards=[]),
    "another size of a split": lambda m: m["splits"].update(train=6),
    "a split that is not there": lambda m: m["splits"].update(validation=0),
    "a split that is left out": lambda m: m["splits"].pop("test"),
    "another split of a shard": lambda m: m["shards"][0].update(split="test"),
    "another index of a shard": lambda m: m["shards"][0].update(index_start=1),
    "other rows of a shard": lambda m: m["shards"][0].update(rows=7),
    "another digest of a shard": lambda m: m["shards"][0].update(content_digest="0" * 64),
    "shards in another order": exchange_shards,
    "a shard that is left out": lambda m: m["shards"].pop(0),
    "a shard that is named twice": lambda m: m["shards"].append(m["shards"][0]),
    "a shard that does not exist": lambda m: m["shards"][0].update(file="none.h5"),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS.keys())
def test_a_manifest_that_is_not_of_its_shards_is_refused_by_both(
    tmp_path: Path, good: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    folder = Path(shutil.copytree(good / "shards", tmp_path / "shards"))
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), "utf-8")
    report = verify(folder, workers=1)
    assert {"manifest", "format"} & set(report.failed)
    with pytest.raises(SynthprobeError) as refusal:
        open_dataset(folder)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_file_is_refused_by_both_or_by_none(
    tmp_path: Path, good: Path, spoil: Callable[[h5py.File], None]
) -> None:
    path = tmp_path / "bad.h5"
    shutil.copy(good / "one.h5", path)
    with h5py.File(path, "r+") as file:
        spoil(file)
    report = verify(path, workers=1)
    assert not report.ok
    refusals = []
    try:
        open_dataset(path).close()
    except SynthprobeError as error:
        refusals.append(str(error))
    # Where neither refuses it, a row cannot be decoded, which is found when it is read.
    assert refusals == [f.sentence for f in report.failures if f.check == "format"]
