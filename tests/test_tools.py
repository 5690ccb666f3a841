"""The tools of the maintainers: what they need of the packages is there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOLS = sorted((Path(__file__).parent.parent / "tools").glob("*.py"))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.stem)
def test_a_tool_finds_all_that_it_imports(tool: Path) -> None:
    assert callable(runpy.run_path(str(tool), run_name="tool")["main"])


def test_the_obvious_forms_of_the_layers_give_what_the_layers_give() -> None:
    torch = pytest.importorskip("torch")
    tool = runpy.run_path(str(TOOLS[0].parent / "bench_layers.py"), run_name="tool")
    x = torch.randn(2, 16, 14, 14, generator=torch.Generator().manual_seed(0))
    for name, obvious in tool["OBVIOUS"].items():
        module = tool["STRUCTURES"][name].make(16, (14, 14), tool["PROBE"])
        with torch.no_grad():
            torch.testing.assert_close(obvious(module)(x), module(x), rtol=1e-3, atol=1e-4)
