"""Structures that are known by construction, and the tool that holds answers to the truth."""

from __future__ import annotations

import dataclasses
import json
import runpy
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_models.experiments.known import (  # noqa: E402
    KNOWN,
    WIDE,
    Known,
    Wide,
    register_known,
)
from synthprobe_models.experiments.profile.contradictions import contradictions  # noqa: E402
from synthprobe_models.experiments.profile.facts import Cell, Profile  # noqa: E402
from synthprobe_models.experiments.profile.profiler import Profiler  # noqa: E402
from synthprobe_models.plugins import LOADED  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from synthprobe_models.probes.ability import IN_PART, NO, YES, Evidence, Outcome  # noqa: E402
from synthprobe_models.probes.probe import PresetData  # noqa: E402
from synthprobe_models.registry import STRUCTURES  # noqa: E402
from synthprobe_models.training.trainer import Machine, Trainer  # noqa: E402

TOOL = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "calibrate.py"), run_name="tool")
SHAPE = (9, 11)
SEEN = {
    "known-identity": 1,
    "known-coordinates": 1,
    "known-convolution-3": 9,
    "known-convolution-5": 25,
    "known-circular-5": 25,
    "known-row-and-column": 9 + 11 - 1,
}
"""How many positions one hears of; all others hear of all."""

for _one in KNOWN:  # which importing the module has put there, for all other tests, too
    STRUCTURES.pop(_one.name, None)
    LOADED.pop(_one.name, None)


@pytest.fixture(autouse=True)
def _known(unchanged_registry) -> None:
    register_known()


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: one.name)
def test_each_hears_of_as_many_positions_as_it_was_made_for(one: Known) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = one.build(8, SHAPE).double()
        x = torch.randn(1, 8, *SHAPE, dtype=torch.double, requires_grad=True)
    y = module(x)
    assert y.shape == x.shape
    (gradient,) = torch.autograd.grad(y[0, :, 4, 5].sum(), x)
    heard = int((gradient.abs().sum((0, 1)) > 1e-15).sum())
    assert heard == SEEN.get(one.name, 9 * 11)
    for dimension in one.dimensions:
        small = torch.randn(2, 8, *SHAPE[:dimension])
        assert one.build(8, SHAPE[:dimension])(small).shape == small.shape


def test_truths_are_of_probes_that_the_structure_fits() -> None:
    for one in KNOWN:
        assert one.truths.keys() <= set(fitting(one.name))
        assert {truth.answer for truth in one.truths.values()} <= {YES, IN_PART, NO}
    for probe in TOOL["PROBES_ASKED"]:  # none of them could be passed by always saying the same
        assert {YES, NO} <= {one.truths[probe].answer for one in KNOWN if probe in one.truths}


@pytest.mark.parametrize("shape", [(6, 7), (4, 40)])
def test_the_wide_convolution_is_one(shape: tuple[int, int]) -> None:
    module = Wide(3, shape).double()
    x = torch.randn(2, 3, *shape, dtype=torch.double)
    assert module.kernel.kernel_size == (WIDE, WIDE)
    torch.testing.assert_close(module(x), module.kernel(x))


@pytest.mark.parametrize(
    ("truth", "answer", "kind"),
    [
        (NO, YES, "wrong yes"),
        (IN_PART, YES, "wrong yes"),
        (YES, NO, "wrong no"),
        (IN_PART, NO, "wrong no"),
        (YES, YES, None),
        (NO, NO, None),
        (YES, "not learnt", None),
        (NO, "too few seeds", None),
        (YES, IN_PART, None),
    ],
)
def test_what_is_wrong(truth: str, answer: str, kind: str | None) -> None:
    assert TOOL["judged"](TOOL["Truth"](truth, "so"), answer) == kind


def test_answers_are_held_to_the_truth_and_nothing_is_trained_twice(
    tmp_path: Path, monkeypatch
) -> None:
    data = PresetData(config={"height": 8, "width": 8, "square": 3})
    probe = PROBES["centered-square"]
    tiny = dataclasses.replace(probe, data={**probe.data, "quick": data})
    monkeypatch.setitem(PROBES._loaded, "centered-square", tiny)
    profiler = Profiler(
        out=tmp_path, probes=("centered-square",), epochs=1, machine=Machine(progress=False)
    )
    known = [one for one in KNOWN if one.name in ("known-identity", "known-convolution-5")]
    TOOL["calibrate"](profiler, known, 1)
    text = (tmp_path / "calibration.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("| known-identity |"))
    # Blind to all others, it is told so by a single epoch.
    assert [cell.strip() for cell in line.split("|")[2:7]] == [
        "centered-square",
        "no",
        "1",
        "0",
        "0",
    ]
    assert "**0 wrong yes and " in text
    records = tmp_path / "runs" / "centered-square"
    seeds = {json.loads(path.read_text())["settings"]["seed"] for path in records.glob("*.json")}
    assert seeds == set(range(5))
    monkeypatch.setattr(Trainer, "run", None)
    again = Profiler(
        out=tmp_path, probes=("centered-square",), epochs=1, machine=Machine(progress=False)
    )
    TOOL["calibrate"](again, known, 1)
    assert (tmp_path / "calibration.md").read_text(encoding="utf-8") == text
    TOOL["page_again"](again)
    assert (tmp_path / "calibration.md").read_text(encoding="utf-8") == text


def test_a_page_explains_an_answer_that_the_check_without_training_denies() -> None:
    def said(answer: str, train: float, probe: str = "centered-square", **sight: bool) -> list[str]:
        facts = {"translation_covariant": True, "covariant_but_for_a_pattern": False}
        facts |= {"sees_all": True, "can_see_all": True, **sight}
        evidence = Evidence(train=[train], test=[0.1], guess=0.04)
        cell = Cell(outcome=Outcome(answer, ""), evidence=evidence)
        profile = Profile(
            name="one",
            title="one",
            source="",
            preset="quick",
            inspection={"sights": [facts]},
            wrong=None,
            cells={probe: cell},
        )
        return contradictions(profile)

    assert said(YES, 1.0) == []
    assert said(NO, 1.0, translation_covariant=False) == []
    (sentence,) = said(NO, 1.0)
    assert "how much training finds" in sentence
    (sentence,) = said(NO, 0.04)
    assert "does not paint" in sentence
    (sentence,) = said(YES, 1.0, translation_covariant=False)
    assert "paints everywhere" in sentence
    (sentence,) = said(NO, 0.5, "twins")
    assert "the way is there" in sentence
    assert said(NO, 0.5, "twins", sees_all=False, can_see_all=False) == []
    (sentence,) = said(YES, 1.0, "twins", sees_all=False, can_see_all=False)
    assert "as far as these strips" in sentence
