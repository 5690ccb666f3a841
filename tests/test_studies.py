"""The tool for the studies of what the documents name: rows can be built, and pages tell them."""

from __future__ import annotations

import json
import math
import runpy
import statistics
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.networks.counting import build_bare  # noqa: E402
from synthprobe_models.optim import make_optimizer, schedule  # noqa: E402
from synthprobe_models.probes import find_probe  # noqa: E402
from synthprobe_models.training.parallel import finished_runs  # noqa: E402
from synthprobe_models.training.settings import TrainSettings  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402

TOOL = runpy.run_path(
    str(Path(__file__).parent.parent / "tools" / "make_studies.py"), run_name="tool"
)
STUDIES = TOOL["STUDIES"]
SHAPES = {"twins": (8, 64), "rde": (48, 48), "centered-square": (64, 64)}


@pytest.mark.parametrize("name", STUDIES)
def test_every_row_of_a_study_can_be_built_and_has_a_name_of_its_own(name: str) -> None:
    study = STUDIES[name]
    assert len({row.key for row in study.rows}) == len(study.rows)
    probe = find_probe(study.probe)
    for row in study.rows:
        chosen = {**probe.preset(study.preset), **study.common, **row.settings}
        settings = TrainSettings(probe=study.probe, **chosen)
        options = dict(settings.options)
        if "window" in row.key or "iwsa" in row.key:
            options["heads"] = 2
        extra: dict[str, Any] = {} if settings.frame is None else {"frame": settings.frame}
        network = build_bare(
            partial(
                probe.make,
                settings.name,
                shape=SHAPES[study.probe],
                width=settings.width,
                options=options,
                **extra,
            )
        )
        assert isinstance(network, torch.nn.Module)
        weight = [torch.nn.Parameter(torch.ones(2))]
        make_optimizer(settings.optimizer, weight, settings.rate, **settings.optimizer_options)
        schedule(settings.schedule, 10, **settings.schedule_options)


def test_a_study_is_made_and_its_page_has_every_figure(tmp_path) -> None:
    whole = STUDIES["optimisers"]
    keys = ("sgd-0.1", "newton-1", "notes-adam-0.003")
    study = replace(
        whole,
        sizes={"train": 16, "validation": 0, "test": 8},
        common={**whole.common, "epochs": 2},
        rows=[row for row in whole.rows if row.key in keys],
    )
    runs = tmp_path / "out" / "runs" / "optimisers"
    runs.mkdir(parents=True)
    wanted = TOOL["plans"](study, tmp_path / "work", tmp_path / "data")
    assert [plan.settings.optimizer for plan in wanted] == ["sgd", "notes-adam", "newton"]
    for plan, result in finished_runs(wanted, machine=Machine(progress=False), command="c"):
        kept = TOOL["with_log"](result, plan.out)
        assert [step for step, _ in kept["log"]] == [1, 2]
        (runs / f"{plan.out.name}.json").write_text(json.dumps(kept))
    TOOL["write_pages"](tmp_path / "out", "optimisers", study)
    page = (tmp_path / "out" / "optimisers.md").read_text("utf-8")
    for plan in wanted:
        kept = json.loads((runs / f"{plan.out.name}.json").read_text())
        assert f"{kept['test']['far_accuracy']:.4g}" in page
        assert f"{kept['log'][-1][1]:.4g}" in page
    assert (tmp_path / "out" / "optimisers.png").stat().st_size > 5_000

    (row,) = [row for row in whole.rows if row.key == "lbfgs-0.1"]
    (plan,) = TOOL["plans"](replace(study, rows=[row]), tmp_path / "work", tmp_path / "data")
    (runs / "lbfgs-0.1-0.json").write_text(json.dumps(TOOL["diverged"](plan)))
    TOOL["write_pages"](tmp_path / "out", "optimisers", replace(study, rows=[*study.rows, row]))
    longer = (tmp_path / "out" / "optimisers.md").read_text("utf-8")
    (line,) = set(longer.splitlines()) - set(page.splitlines())
    assert line.startswith("| lbfgs | lbfgs, 0.1 | - | 1 |")
    assert "| diverged |" in line


def test_one_layer_with_lim_sees_54_of_784_positions_and_four_see_all() -> None:
    """So one layer is not global, as the supplement of ScalableViT says it is."""
    seen = {
        name: [TOOL["positions_seen"](name, layers) for layers in (1, 2, 3, 4)]
        for name in ("window-attention", "window-attention-lem", "iwsa")
    }
    assert seen["window-attention"] == seen["window-attention-lem"] == [49] * 4
    assert seen["iwsa"][0] == 54
    assert seen["iwsa"][-1] == 784
    assert seen["iwsa"] == sorted(seen["iwsa"])


RESULTS = Path(__file__).parent.parent / "results" / "studies"
COMMITTED = [name for name in STUDIES if (RESULTS / f"{name}.md").exists()]


def shares(study: str, row: str) -> list[list[float]]:
    """Of each seed: what is right at each distance, from the nearest on."""
    results = TOOL["read_results"](RESULTS / "runs" / study, STUDIES[study])[row]
    counts = [result["order"]["by_distance"].values() for result in results]
    return [[count["share"] for count in one if count["of"]] for one in counts]


@pytest.mark.parametrize("name", COMMITTED)
def test_a_committed_page_is_that_of_its_results(name: str) -> None:
    study = STUDIES[name]
    results = TOOL["read_results"](RESULTS / "runs" / name, study)
    page = (RESULTS / f"{name}.md").read_text("utf-8")
    assert study.findings
    assert study.findings in page
    for row in study.rows:
        found = results[row.key]
        assert len(found) == study.seeds
        (line,) = [line for line in page.splitlines() if f"| {row.group} | {row.title} |" in line]
        if "diverged" in found[0]:
            assert "| diverged |" in line
            continue
        for metric in study.metrics:
            assert TOOL["_cell"]([one["test"].get(metric) for one in found]) in line


def test_what_the_page_of_encoders_says() -> None:
    far = {name: [one[3:] for one in shares("encoders", name)] for name in ("vit", "anynet")}
    every = [
        result["test"]
        for name in ("resnet-18", "resnet-34", "efficientnet")
        for result in TOOL["read_results"](RESULTS / "runs" / "encoders", STUDIES["encoders"])[name]
    ]
    assert sorted(round(test["far_accuracy"], 3) for test in every)[:2] == [0.979, 0.981]
    near = [test["near_accuracy"] for test in every]
    assert 0.88 < min(near) < max(near) < 0.945
    assert [round(one[0], 3) for one in shares("encoders", "anynet")] == 3 * [0.997]
    assert [round(one[-1], 3) for one in far["anynet"]] == 3 * [0.501]
    assert min(min(one) for one in shares("encoders", "vit")) > 0.97
    for name in ("resnet-50", "wide-resnet-50", "googlenet", "mobilenet-v2-encoder"):
        assert statistics.fmean(one[0] for one in shares("encoders", name)) < 0.85
    unet = shares("encoders", "unet")
    assert round(min(unet[0]), 3) >= 0.999
    assert max(abs(share - 0.5) for share in unet[1][2:]) < 0.002


def outcomes_of(study: str) -> dict[str, list[dict[str, float]]]:
    found = TOOL["read_results"](RESULTS / "runs" / study, STUDIES[study])
    return {row: [result["test"] for result in results] for row, results in found.items()}


def test_what_the_page_of_two_tasks_says() -> None:
    found = {row: one[0] for row, one in outcomes_of("two-tasks").items()}
    runs = TOOL["read_results"](RESULTS / "runs" / "two-tasks", STUDIES["two-tasks"])
    assert runs["unet"][0]["parameters"] == 22_153
    of_report = [row for row in found if row != "unet"]
    assert len(of_report) == 5
    assert min(runs[row][0]["parameters"] for row in of_report) > 1_000_000
    assert round(found["deeplab-shared"]["mean_iou"], 3) == 0.923
    for row in ("deeplab-branched", "attention-self", "attention-cross"):
        assert found[row]["mean_iou"] > 0.964
    assert round(found["unet"]["ord"], 2) == 0.10
    assert round(min(found[row]["ord"] for row in of_report), 2) == 0.34
    assert round(found["unet"]["rmse"], 3) == 0.065
    assert 0.089 <= min(found[row]["rmse"] for row in of_report) < 0.09


def test_what_the_page_of_windows_says() -> None:
    for row in STUDIES["windows"].rows:
        name, layers = row.key.rsplit("-", 1)
        for near, _, middle, *far in shares("windows", row.key):
            assert near > 0.9
            assert len(far) == 3
            assert round(far[0], 3) <= 0.501
            assert [round(share, 3) for share in far[1:]] == [0.5, 0.5]
            if name == "iwsa" and layers in "34":
                assert 0.665 < middle < 0.755
            elif layers != "1" and name != "iwsa":
                assert 0.499 < middle < 0.5045


def test_what_the_page_of_optimisers_says() -> None:
    study = STUDIES["optimisers"]
    found = {
        row: runs[0]
        for row, runs in TOOL["read_results"](RESULTS / "runs" / "optimisers", study).items()
    }
    near = {row: one["test"]["near_accuracy"] for row, one in found.items() if "test" in one}
    loss = {row: one["log"][-1][1] for row, one in found.items() if "log" in one}
    for name in ("adagrad", "rmsprop", "notes-adam", "paper"):
        assert min(near[row.key] for row in study.rows if row.group == name) > 0.98
    for name in ("sgd", "notes-momentum", "notes-nesterov"):
        *others, largest = (near[row.key] for row in study.rows if row.group == name)
        assert max(others) < 0.58 < 0.9 < largest
    of_paper = [loss[row.key] for row in study.rows if row.group == "paper"]
    assert max(of_paper) < 1e-13
    assert max(of_paper) < min(value for row, value in loss.items() if "paper" not in row)
    for rate in ("0.001", "0.003", "0.01"):
        assert found[f"notes-adam-{rate}"]["test"] == found[f"notes-adamw-{rate}"]["test"]
    assert 0.705 < near["newton-1"] < 0.715
    assert loss["newton-1"] > math.log(2)
    others = [one["seconds"] for row, one in found.items() if row in near and row[0] not in "nl"]
    assert found["newton-1"]["seconds"] > 7.5 * statistics.fmean(others)
    assert round(near["lbfgs-0.01"], 2) == 0.97
    assert [row for row in found if "diverged" in found[row]] == ["lbfgs-0.03", "lbfgs-0.1"]


def test_what_the_page_of_the_report_says() -> None:
    found = {row: one[0] for row, one in outcomes_of("report").items()}
    weights = [found[f"weight-w---0-{w}"] for w in ("25", "5", "75")]
    assert [round(one["mean_iou"], 3) for one in weights] == [0.913, 0.885, 0.851]
    assert [round(one["ord"], 3) for one in weights] == [0.435, 0.433, 0.427]
    alike = ("encoder", "pyramid", "skip", "convolutions")
    assert {round(found[row]["ord"], 2) for row in found if row.startswith(alike)} <= {
        *(0.41, 0.42, 0.43, 0.44),
    }
    shared = {row: one for row, one in found.items() if "mean_iou" in one}
    assert round(shared["depth-exp--clamped"]["ord"], 2) == 0.39
    assert min(shared, key=lambda row: shared[row]["ord"]) == "depth-exp--clamped"
    assert max(shared, key=lambda row: shared[row]["mean_iou"]) == "depth-exp--clamped"
    lost = {"silog-of-the-batch", "optimiser-sgd", "bins-twice-the-channels", "dropout-0-1"}
    assert {row for row, one in found.items() if one["rmse"] > 0.16} == lost
    assert min(found[row]["rmse"] for row in lost) > 0.7
    of_heads = ("heads-1-head", "latents-decoder", "heads-8-heads")
    assert [round(found[row]["ord"], 2) for row in of_heads] == [0.38, 0.49, 0.36]


def test_what_the_page_of_encodings_says() -> None:
    study = STUDIES["encodings"]
    runs = TOOL["read_results"](RESULTS / "runs" / "encodings", study)
    iou = {row: one[0]["test"]["iou"] for row, one in runs.items()}
    ahead = {row: one[0]["train"]["iou"] - iou[row] for row, one in runs.items()}
    loss = {row: one[0]["log"][-1][1] for row, one in runs.items()}
    fourier, cosine = "lambda-pe", "lambda-cosine-decor"
    assert iou[fourier] == iou[f"{fourier}-c1024"] == iou[cosine] == 1
    assert round(loss[fourier], 4) == 0.0012
    assert round(loss[f"{fourier}-c1024"], 5) == 8e-5
    two = {row: round(value, 2) for row, value in iou.items() if "p1-p2" in row}
    assert two == {
        f"{fourier}-p1-p2": 0.0,
        f"{cosine}-p1-p2": 0.79,
        f"{fourier}-p1-p2-c1024": 0.94,
        f"{cosine}-p1-p2-c1024": 0.88,
    }
    assert round(iou[f"{cosine}-c1024"], 2) == 0.84
    assert round(iou[f"{fourier}-p1-p2"], 3) == 0.002
    learnt = [ahead[row] for row in two if two[row] > 0.1]
    assert 0.035 < min(learnt) < max(learnt) < 0.06
    assert max(abs(ahead[row]) for row in ahead if row not in two) < 0.01
