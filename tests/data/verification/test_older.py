"""Files from before a setting existed: it has its default, and they are as good as ever."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from synthprobe_data import RdeConfig, open_dataset
from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.rde import RDE
from synthprobe_data.verification.verify import verify

CONFIG = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)


def test_a_dataset_whose_config_lacks_the_difficulty_is_read_and_verified(tmp_path: Path) -> None:
    folder = tmp_path / "rde"
    generate_folder(folder, RDE, CONFIG, shards=2, splits={"train": 4, "test": 3}, workers=1)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    del manifest["config"]["difficulty"]
    croissant = folder / "croissant.json"
    for shard in manifest["shards"]:
        path, before = folder / shard["file"], shard["sha256"]
        with h5py.File(path, "r+") as file:
            config = json.loads(file.attrs["config"])
            del config["difficulty"]
            file.attrs["config"] = np.bytes_(json.dumps(config, sort_keys=True))
        shard["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        croissant.write_text(croissant.read_text("utf-8").replace(before, shard["sha256"]), "utf-8")
        shard["bytes"] = path.stat().st_size
        assert open_dataset(path).config == CONFIG
        assert verify(path).ok
    (folder / MANIFEST).write_text(json.dumps(manifest))
    assert open_dataset(folder).config == CONFIG
    report = verify(folder)
    assert report.ok, report.failures


def test_another_config_in_the_manifest_is_still_found(tmp_path: Path) -> None:
    folder = tmp_path / "rde"
    generate_folder(folder, RDE, CONFIG, shards=1, splits={"train": 4}, workers=1)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    for wrong in ({"n_vis": 4}, {"difficulty": True}, {"difficulty": 0}, {"magic": 1}):
        changed = {**manifest, "config": {**manifest["config"], **wrong}}
        (folder / MANIFEST).write_text(json.dumps(changed))
        assert verify(folder).failed == {"manifest": 1}
    nonsense: Any
    for nonsense in ([], None, "config"):
        (folder / MANIFEST).write_text(json.dumps({**manifest, "config": nonsense}))
        assert verify(folder).failed == {"manifest": 1}
