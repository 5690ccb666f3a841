"""A small file, and the same with a split whose name is an attack."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from synthprobe_data import RdeConfig, make_file

CONFIG = RdeConfig(height=48, width=60, n_rectangles=5, n_vis=3, n_gap=2, n_par=3)
ATTACK = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>$x^"


@pytest.fixture(scope="session")
def rde_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("views") / "rde.h5"
    make_file("rde", path, train=12, test=30, config=CONFIG, workers=1, cards=False)
    return path


@pytest.fixture
def hostile_file(rde_file: Path, tmp_path: Path) -> Path:
    path = Path(shutil.copy(rde_file, tmp_path / "hostile.h5"))
    with h5py.File(path, "r+") as file:
        for name, value in (("splits", [0, 42]), ("index_start", 0)):
            text = json.dumps({ATTACK: value}).encode()
            file.attrs[name] = np.array(text, h5py.string_dtype("utf-8", len(text)))
    return path
