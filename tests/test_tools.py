"""The tools of the maintainers: what they need of the packages is there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOLS = sorted((Path(__file__).parent.parent / "tools").glob("*.py"))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.stem)
def test_a_tool_finds_all_that_it_imports(tool: Path) -> None:
    assert callable(runpy.run_path(str(tool), run_name="tool")["main"])
