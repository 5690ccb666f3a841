"""Design spaces: what is drawn from them, F(e), and a study of tiny networks."""

from __future__ import annotations

import itertools
import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.experiments.designs.distribution import compare, distribution  # noqa: E402
from synthprobe_models.experiments.designs.spaces import (  # noqa: E402
    SPACES,
    draw_design,
    find_space,
)
from synthprobe_models.experiments.designs.study import Study, write_page  # noqa: E402
from synthprobe_models.networks.counting import build_bare, count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402

TWINS = PROBES["twins"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1))
@settings(max_examples=50)
def test_f_is_the_share_of_errors_below(errors, at) -> None:
    expected = sum(1 for error in errors if error < at) / len(errors)
    assert distribution(errors, [at]) == pytest.approx([expected])


@pytest.mark.parametrize("name", SPACES)
def test_designs_are_in_their_space_within_the_bounds_and_always_the_same(name) -> None:
    space, bounds = find_space(name), (4_000, 32_000)
    drawn = [draw_design(space, 0, index, TWINS, bounds) for index in range(5)]
    assert drawn == [draw_design(space, 0, index, TWINS, bounds) for index in range(5)]
    assert len(set(map(str, drawn))) > 1
    assert drawn != [draw_design(space, 1, index, TWINS, bounds) for index in range(5)]
    for design in drawn:
        network = build_bare(partial(TWINS.make, "anynet", options=design.options))
        assert bounds[0] <= count_parameters(network) <= bounds[1]
        if name == "shared":
            assert len(set(design.groups)) == len(set(design.ratios)) == 1
        if "-" in name:
            way, field = name.split("-")
            steps = itertools.pairwise(getattr(design, field))
            assert all(a <= b if way == "growing" else a >= b for a, b in steps)


def test_a_space_without_designs_of_a_size_is_said() -> None:
    with pytest.raises(SynthprobeError, match="no design of the space free was found with 1 to 2"):
        draw_design(find_space("free"), 0, 0, TWINS, (1, 2))
    with pytest.raises(SynthprobeError, match="no design space 'wide': take one of free, shared"):
        find_space("wide")


def test_spaces_are_told_apart_only_if_their_errors_are() -> None:
    low, high = [0.1, 0.11, 0.12, 0.13, 0.14, 0.15], [0.3, 0.31, 0.32, 0.33, 0.34, 0.35]
    found = compare(("a", "b"), (high, low))
    assert (found.better, found.worse) == ("b", "a")
    assert found.difference == pytest.approx(0.2)
    # Two of the 924 ways to deal out the labels are as extreme.
    assert found.p == pytest.approx(2 / 924, abs=1.5e-3)
    assert found.sentence.startswith("b is better than a: its mean error is lower by 20.00")
    same = compare(("a", "b"), (low, low))
    assert same.p == 1
    assert "cannot be told apart" in same.sentence


def test_a_study_is_made_kept_and_written_again(tmp_path, capsys) -> None:
    words = ["designs", "free", "shared", "--models", "2", "--samples", "32", "--threads", "1"]
    words += ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work")]
    assert main(words) == 0
    page = capsys.readouterr().out
    assert "- **shared**: all stages have the same groups" in page
    assert "`synthprobe-probe designs free shared --models 2" in page
    kept = sorted((tmp_path / "out" / "runs").glob("*/*.json"))
    assert [f"{path.parent.name}/{path.name}" for path in kept] == [
        f"{space}/000{index}.json" for space in ("free", "shared") for index in (0, 1)
    ]
    table = (tmp_path / "out" / "designs.csv").read_text().splitlines()
    assert len(table) == 5
    result = json.loads(kept[0].read_text())
    assert table[1].startswith(
        "free,0," + " ".join(map(str, result["settings"]["options"]["depths"]))
    )
    means = [1 - json.loads(path.read_text())["test"]["far_accuracy"] for path in kept[:2]]
    assert f"| free | 2 | {50 * sum(means):.2f}% |" in page
    before = [path.stat().st_mtime_ns for path in kept]
    assert main(words) == 0
    assert main([*words, "--pages"]) == 0
    assert [path.stat().st_mtime_ns for path in kept] == before
    capsys.readouterr()
    assert main([*words, "--pages", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["errors"]["free"] == pytest.approx(means)
    (comparison,) = facts["comparisons"]
    assert {comparison["better"], comparison["worse"]} == {"free", "shared"}
    assert main([*words, "--models", "3", "--pages"]) == 2
    assert "0002.json is not there yet" in capsys.readouterr().err
    diverged = {**json.loads(kept[1].read_text()), "diverged": True}
    kept[1].write_text(json.dumps(diverged))
    assert main([*words, "--pages"]) == 0
    far = json.loads(kept[0].read_text())["test"]["far_accuracy"]
    assert f"| free | 2 | {50 * (2 - far):.2f}% |" in capsys.readouterr().out
    assert main([*words, "--seed", "1"]) == 2
    assert "0000.json is the result of another study" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["free"], "name two design spaces or more"),
        (["free", "narrow"], "no design space 'narrow'"),
        (["free", "shared", "--models", "1"], "models is 1: it must be at least 2"),
        (["free", "shared", "--measure", "loss"], "no measure 'loss'"),
        (["free", "shared", "--least", "5", "--most", "4"], "parameters is 5..4"),
        (["free", "shared", "--pages"], "0000.json is not there yet: leave --pages out"),
    ],
)
def test_a_study_that_cannot_be_made_is_said_in_one_sentence(
    words, message, tmp_path, capsys
) -> None:
    assert main(["designs", *words, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_committed_page_is_that_of_its_results(tmp_path) -> None:
    committed = Path(__file__).parents[4] / "results" / "studies" / "designs"
    shutil.copytree(committed / "runs", tmp_path / "runs")
    models = {len(list(space.glob("*.json"))) for space in (tmp_path / "runs").iterdir()}
    spaces = ("growing-depths", "falling-depths")
    write_page(Study(spaces=spaces, models=models.pop()), tmp_path)
    assert not models
    for name in ("designs.md", "designs.csv"):
        assert (tmp_path / name).read_text("utf-8") == (committed / name).read_text("utf-8")
