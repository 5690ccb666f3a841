"""The figures of the paper from our data: what each is to show is so."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from PIL import Image

torch = pytest.importorskip("torch")

from synthprobe_models.evaluation.rde.order import SCENE, OrderMetrics  # noqa: E402

ROOT = Path(__file__).parents[2]
HERE = ROOT / "results" / "paper-figures"


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(ROOT / "tools" / "make_paper_figures.py"), run_name="tool")


@pytest.fixture(scope="module")
def predicted(tool):
    return tool["predicted"](HERE)


@pytest.fixture(scope="module")
def divided(tool, predicted):
    return tool["divided"](*predicted)


@pytest.fixture(scope="module")
def hidden(tool, predicted):
    return tool["hidden"](*predicted)


def test_figure_1_shows_what_was_not_trained_here(tool, tmp_path, capsys) -> None:
    tool["main"](["1", "--out", str(tmp_path)])
    assert capsys.readouterr().out.strip() == str(tmp_path / "figure-1.png")
    assert Image.open(tmp_path / "figure-1.png").size == Image.open(HERE / "figure-1.png").size


def test_figure_3_the_baseline_gives_a_divided_rectangle_two_ranks(divided) -> None:
    assert any(apart["unet"] > 0.5 > apart["lambda-pe"] for _, apart in divided)


def test_figure_4_the_baseline_fails_where_t_junctions_are_hidden(hidden) -> None:
    assert any(lead["unet"] < 0 < lead["lambda-pe"] for _, lead in hidden)


def test_the_figures_say_how_often_over_all_test_samples(predicted, divided, hidden) -> None:
    """Counted by the metrics that all networks are evaluated with."""
    found, tensors = predicted
    for name, maps in found.items():
        order = OrderMetrics(step=1)
        scene = {column: tensors[column] for column in SCENE}
        ranks = torch.from_numpy(maps)[:, None]
        order.update(ranks, ranks, **scene)
        scores = order.compute()
        apart = [case[name] for _, case in divided]
        assert (sum(a < 0.5 for a in apart), len(apart)) == (
            scores.consistent.right,
            scores.consistent.of,
        )
        lead = [case[name] for _, case in hidden]
        share = scores.by["cue"]["convexity only"]
        assert (sum(a > 0 for a in lead), len(lead)) == (share.right, share.of)


def test_all_of_it_is_small() -> None:
    files = list(HERE.iterdir())
    assert {path.name for path in files} == {
        "figure-1.png",
        "figure-3.png",
        "figure-4.png",
        "lambda-pe.pt",
        "unet.pt",
    }
    assert sum(path.stat().st_size for path in files) < 300_000
