"""The contracts on imports hold, and each of them can fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("synthprobe_data", "synthprobe_models")
BREACHES = {
    "a layer imports from one above it": (
        "layers",
        "synthprobe_data/shards/layout.py",
        "from synthprobe_data.cards import facts",
    ),
    "a dataset imports from another one": (
        "layers",
        "synthprobe_data/rde/config.py",
        "def late():\n    import synthprobe_data.color_code.config",
    ),
    "a module has no layer": ("layers", "synthprobe_data/homeless.py", ""),
    "a layer of the models imports from one above it": (
        "layers-of-models",
        "synthprobe_models/networks/unet.py",
        "def late():\n    from synthprobe_models.probes import find_probe",
    ),
    "a module of the models has no layer": (
        "layers-of-models",
        "synthprobe_models/homeless.py",
        "",
    ),
    "a folder within a folder imports in a cycle": (
        "no-cycles",
        "synthprobe_data/rde/kernels/grid.py",
        "def late():\n    from synthprobe_data.rde.scene import Scene",
    ),
    "two modules of a folder import each other": (
        "no-cycles",
        "synthprobe_models/cli/word_lists.py",
        "def late():\n    from synthprobe_models.cli import train",
    ),
    "the models import a module of the data side": (
        "public-names",
        "synthprobe_models/training/run.py",
        "from synthprobe_data.errors import SynthprobeError",
    ),
    "the models import a folder of the data side by its name": (
        "public-names",
        "synthprobe_models/training/run.py",
        "def late():\n    from synthprobe_data import shards",
    ),
    "the data side imports torch": (
        "data-alone",
        "synthprobe_data/random.py",
        "def late():\n    import torch",
    ),
    "the data side imports the models": (
        "data-alone",
        "synthprobe_data/api.py",
        "import synthprobe_models.registry",
    ),
    "the solver imports a name that the package re-exports": (
        "solver",
        "synthprobe_data/rde/solver/steps.py",
        "from synthprobe_data.rde import read_scene",
    ),
    "the solver imports a kernel of the generator": (
        "solver",
        "synthprobe_data/rde/solver/order.py",
        "from synthprobe_data.rde.kernels import ranks",
    ),
    "the generator imports the solver": (
        "generator",
        "synthprobe_data/rde/kernels/render.py",
        "from synthprobe_data.rde.solver import check_readable",
    ),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the two packages, code alone."""
    copy = tmp_path_factory.mktemp("house")
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            target = copy / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def lint(house: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    return subprocess.run(
        [sys.executable, "-c", program, "--cache-dir", str(house / "cache"), *words],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_contracts_hold(house: Path) -> None:
    done = lint(house)
    assert done.returncode == 0, done.stdout
    assert " 0 broken." in done.stdout


def test_every_contract_has_a_breach_here() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    assert {contract["id"] for contract in contracts} == {name for name, *_ in BREACHES.values()}


def test_no_module_beside_the_solver_is_left_out() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        found for found in settings["tool"]["importlinter"]["contracts"] if found["id"] == "solver"
    )
    home = ROOT / "synthprobe_data" / "rde"
    modules = {path.stem for path in home.glob("*.py")} | {
        path.parent.name for path in home.glob("*/__init__.py")
    }
    beside = modules - {"__init__", "color_file", "config", "demands", "solver"}
    assert {f"synthprobe_data.rde.{name}" for name in beside} <= set(contract["forbidden_modules"])


@pytest.mark.parametrize("breach", BREACHES)
def test_a_contract_fails(house: Path, breach: str) -> None:
    contract, file, code = BREACHES[breach]
    path = house / file
    before = path.read_text("utf-8") if path.exists() else None
    try:
        path.write_text(f"{before or ''}\n{code}\n", "utf-8")
        done = lint(house, "--contract", contract)
    finally:
        path.unlink()
        if before is not None:
            path.write_text(before, "utf-8")
    assert done.returncode == 1, done.stdout + done.stderr
    assert " 1 broken." in done.stdout or "homeless" in done.stdout
