"""Who may import whom: one way between folders, and only public names between packages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

import synthprobe_data
import synthprobe_models

ROOT = Path(__file__).parents[1]
MODELS = sorted((ROOT / "synthprobe_models").rglob("*.py"))


def imports_of(path: Path) -> Iterator[tuple[str, str]]:
    """The module and the name of each import of a file; only these, not those for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_models_import_only_public_names_of_the_data(path: Path) -> None:
    for module, name in imports_of(path):
        if module.partition(".")[0] == "synthprobe_data":
            assert module == "synthprobe_data"
            assert name in {*synthprobe_data.__all__, "__version__"}


def test_every_public_name_is_there_and_documented() -> None:
    pytest.importorskip("torch")
    page = (ROOT / "docs" / "public_names.md").read_text(encoding="utf-8")
    names = [*synthprobe_data.__all__, *synthprobe_models.__all__]
    assert sorted(re.findall(r"^\| `(\w+)` \| \S", page, re.MULTILINE)) == sorted(names)
    for package in (synthprobe_data, synthprobe_models):
        assert all(getattr(package, name) is not None for name in package.__all__)


def test_no_folder_of_the_models_imports_in_a_circle() -> None:
    graph = networkx.DiGraph()
    for path in MODELS:
        folder = path.relative_to(ROOT / "synthprobe_models").with_suffix("").parts[0]
        for module, name in imports_of(path):
            parts = (*module.split("."), name)
            if parts[0] == "synthprobe_models" and parts[1] != folder:
                graph.add_edge(folder, parts[1])
    circles = [part for part in networkx.strongly_connected_components(graph) if len(part) > 1]
    assert circles == []
    assert ("training", "evaluation") in graph.edges  # it is not empty


def test_no_code_of_the_models_asks_which_probe_or_table_it_has() -> None:
    for path in MODELS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
                asked = ast.unparse(node.left).rpartition(".")[2]
                assert asked not in {"probe", "dataset", "number"} or not isinstance(
                    node.comparators[0], ast.Constant
                ), path
