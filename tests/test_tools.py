"""The tools of the maintainers: what they need of the packages is there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from synthprobe_data import RdeConfig, iter_samples, make_sample
from synthprobe_data.text import counted

TOOLS = sorted((Path(__file__).parent.parent / "tools").glob("*.py"))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.stem)
def test_a_tool_finds_all_that_it_imports(tool: Path) -> None:
    assert callable(runpy.run_path(str(tool), run_name="tool")["main"])


def test_the_walk_counts_modules_and_the_hops_between_them() -> None:
    tool = runpy.run_path(str(TOOLS[0].parent / "walk.py"), run_name="tool")
    with tool["Walk"]() as alone:
        assert counted(2, "sample") == "2 samples"
    assert (alone.modules, alone.hops) == ({"synthprobe_data.text"}, 0)
    make_sample("color-code", index=0)  # compiled, if it was not
    with tool["Walk"]() as walk:
        make_sample("color-code", index=0)
    assert {"synthprobe_data.api", "synthprobe_data.color_code.generate"} <= walk.modules
    assert ("synthprobe_data.api", "synthprobe_data.registry", "find_dataset") in walk.calls
    assert walk.hops >= len(walk.calls)


def test_the_obvious_forms_of_the_layers_give_what_the_layers_give() -> None:
    torch = pytest.importorskip("torch")
    tool = runpy.run_path(str(TOOLS[0].parent / "bench_layers.py"), run_name="tool")
    x = torch.randn(2, 16, 14, 14, generator=torch.Generator().manual_seed(0))
    for name, obvious in tool["OBVIOUS"].items():
        module = tool["STRUCTURES"][name].make(16, (14, 14), tool["PROBE"])
        with torch.no_grad():
            torch.testing.assert_close(obvious(module)(x), module(x), rtol=1e-3, atol=1e-4)


def test_the_upper_rectangle_is_more_often_the_smaller_one_but_not_among_twins() -> None:
    tool = runpy.run_path(str(TOOLS[0].parent / "measure_size_prior.py"), run_name="tool")
    found = tool["measure"](300, RdeConfig())
    assert found.pairs > 3_000
    assert 0.62 < found.smaller / found.pairs < 0.68
    smaller = 0
    for sample in iter_samples("twins", split="test", stop=200):
        x0, y0, x1, y1 = sample["rectangles"].astype(int).T
        area = (x1 - x0) * (y1 - y0)
        first, second = sample["pair"].tolist()
        upper = first if sample["above"][first, second] else second
        smaller += 2 * (area[upper] < area[first + second - upper]) + (area[first] == area[second])
    assert smaller == 200  # exactly half, equal sizes counted as half
