"""The solver shares no code with what generated the answer."""

from __future__ import annotations

import ast
from pathlib import Path

import synthprobe_data
from synthprobe_data.rde import solver

ROOT = Path(synthprobe_data.__file__).parent
FORBIDDEN = {"cues", "ranks", "certificate", "scene", "place", "generate", "reference", "grid"}


def imported(path: Path) -> set[str]:
    """The modules of the package that a file names in its imports, wherever they stand in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.startswith("synthprobe_data.")}


def file_of(module: str) -> Path | None:
    """The file of a module; of a package, which only collects names, ``None``."""
    path = ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None


def test_solve_does_not_import_what_generates_the_answer() -> None:
    waiting = imported(Path(solver.__file__))
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        path = file_of(module)
        if module in seen or path is None:
            continue
        seen.add(module)
        waiting |= imported(path)
    assert "synthprobe_data.rde.solver.steps" in seen
    assert "synthprobe_data.rde.config" in seen
    assert not {f"synthprobe_data.rde.{name}" for name in FORBIDDEN} & seen
